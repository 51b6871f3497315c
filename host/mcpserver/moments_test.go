package mcpserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
)

// limited fails when so many bytes have been written.
type limited struct {
	io.Writer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, errors.New("no space")
	}
	return l.Writer.Write(p)
}

// momentLines are calls of all kinds, some cancelled.
func momentLines() []string {
	lines := []string{initialize, `{"jsonrpc":"2.0","method":"notifications/initialized"}`}
	calls := []string{`"echo"`, `"talk","arguments":{"steps":3,"ms":1}`, `"slow","arguments":{"ms":3}`, `"panic"`, `"slow","arguments":{"ms":100000}`}
	metas := []string{``, `,"_meta":{"progressToken":1}`, `,"_meta":{` + sdkMeta + `}`}
	for i := range len(calls) * len(metas) {
		lines = append(lines, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%s%s}}`, i, calls[i%len(calls)], metas[i%len(metas)]))
		if i%4 == 0 {
			lines = append(lines, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i))
		}
	}
	return lines
}

// A session may end at any moment and in any way: each call is answered once at most, what ends
// is an end, and nothing is left behind.
func TestEndAtAnyMoment(t *testing.T) {
	lines := momentLines()
	for _, way := range []string{"end of input", "broken input", "stop", "broken output", "client that does not read"} {
		t.Run(way, func(t *testing.T) {
			for n := range len(lines) + 1 {
				synctest.Test(t, func(t *testing.T) { endAfter(t, way, lines[:n]) })
			}
		})
	}
}

func endAfter(t *testing.T, way string, lines []string) {
	s := New(newHost(t, kit()...), nil)
	defer s.Close()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var writer io.Writer = out
	if way == "broken output" {
		writer = &limited{out, 100 * len(lines)}
	}
	served := make(chan error, 1)
	go func() {
		served <- s.ServeStdio(ctx, in, writer)
		_, _ = in.Close(), out.Close()
	}()
	came := make(chan map[any]int, 1)
	go func() {
		answers := map[any]int{}
		r := bufio.NewReader(fromServer)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				came <- answers
				return
			}
			if m := sound(t, line); m["method"] == nil {
				answers[m["id"]]++
			}
			if way == "client that does not read" && len(answers) > len(lines)/4 {
				<-ctx.Done()
			}
		}
	}()
	_, _ = io.WriteString(toServer, strings.Join(lines, "\n")) // it fails where the session has ended
	switch way {
	case "end of input":
		toServer.Close()
	case "broken input":
		toServer.CloseWithError(errors.New("broken"))
	case "broken output": // once somebody wants to write
		_, _ = io.WriteString(toServer, strings.Repeat("\nx", 100*len(lines)))
		toServer.Close()
	default:
		stop()
	}
	<-served
	answers := <-came
	for id, n := range answers {
		if id != nil && n != 1 {
			t.Errorf("%d lines: %v is answered %d times", len(lines), id, n)
		}
	}
	for i := range len(lines) - 1 {
		sent, cancelled := strings.Contains(lines[i], methodCall), strings.Contains(lines[i+1], methodCancelled)
		if way == "end of input" && sent && !cancelled && !strings.Contains(lines[i], "100000") && answers[sound(t, lines[i]+"\n")["id"]] == 0 {
			t.Errorf("%d lines: not answered: %s", len(lines), lines[i])
		}
	}
}
