package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/toolhost/toolhost/host"
)

// TestWire plays the scripts of testdata/wire, in fake time. A script is the file
// "script" of the archive, one step a line:
//
//	option NAME [VALUE]   before the first other step: not-ready, in-flight N, max-text N
//	> TEXT                send the line TEXT
//	>q "TEXT"             send a line that is written as a Go string
//	>long N               send a line of N letters
//	< JSON                the next line that came is this
//	<* JSON               among the lines that came is this, wherever
//	silence               nothing (else) has come
//	wait DURATION         let time pass
//	+ NAME, - NAME        add a tool to the host, take it away
//	disable NAME, enable NAME
//	log LEVEL TEXT        the server has a log message for its clients
//	ready                 the first load is done
//	eof                   close the input
//	stop                  end the server's context
//	end DURATION          the session has ended without error, after that long
//
// In JSON, "*" stands for any value; an object with a member "..." may have others.
func TestWire(t *testing.T) {
	files, err := filepath.Glob("testdata/wire/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if len(archive.Files) != 1 || archive.Files[0].Name != "script" {
				t.Fatal("the archive must hold one file, script")
			}
			synctest.Test(t, func(t *testing.T) {
				(&script{t: t, options: &Options{Version: "1.0.0"}}).play(string(archive.Files[0].Data))
			})
		})
	}
}

type script struct {
	t       *testing.T
	line    int
	options *Options
	ready   chan struct{}
	host    *host.Host
	client  *client
	came    []string
	at      time.Time // when the last step that changed something was done
}

func (s *script) play(text string) {
	s.host = host.New(nil)
	register(s.t, s.host, "kit", kit()...)
	for i, line := range strings.Split(text, "\n") {
		s.line = i + 1
		verb, rest, _ := strings.Cut(line, " ")
		if verb == "" || strings.HasPrefix(verb, "#") {
			continue
		}
		s.step(verb, rest)
	}
	if err := s.host.Close(context.Background()); err != nil {
		s.t.Error(err)
	}
}

func (s *script) step(verb, rest string) {
	s.t.Helper()
	if verb == "option" {
		name, value, _ := strings.Cut(rest, " ")
		switch name {
		case "not-ready":
			s.ready = make(chan struct{})
			s.options.Ready = s.ready
		case "in-flight":
			s.options.MaxInFlight = s.number(value)
		case "max-text":
			s.options.MaxText = s.number(value)
		default:
			s.fail("unknown option %q", name)
		}
		return
	}
	if s.client == nil {
		s.client = newClient(s.t, s.host, s.options)
		s.at = time.Now()
	}
	switch verb {
	case ">":
		s.client.send(rest)
	case ">q":
		text, err := strconv.Unquote(rest)
		if err != nil {
			s.fail("%v", err)
		}
		s.client.send(text)
	case ">long":
		s.client.send(strings.Repeat("x", s.number(rest)))
	case "<", "<*":
		s.expect(rest, verb == "<*")
	case "silence":
		s.receive()
		if len(s.came) > 0 {
			s.fail("silence expected; came:\n%s", strings.Join(s.came, ""))
		}
	case "wait":
		d, err := time.ParseDuration(rest)
		if err != nil {
			s.fail("%v", err)
		}
		time.Sleep(d)
	case "+":
		register(s.t, s.host, "owner-of-"+rest, toolNamed(rest, func(context.Context, *host.Call) (*host.Result, error) {
			return host.TextResult(rest), nil
		}))
	case "-":
		s.host.Remove("owner-of-" + rest)
	case "disable", "enable":
		s.host.SetEnabled(rest, verb == "enable")
	case "log":
		level, text, _ := strings.Cut(rest, " ")
		s.client.server.LogMessage(level, "test", text)
	case "ready":
		close(s.ready)
	case "eof":
		synctest.Wait()
		s.client.in.Close()
		s.at = time.Now()
	case "stop":
		synctest.Wait()
		s.client.cancel()
		s.at = time.Now()
	case "end":
		if err := s.client.ended(); err != nil {
			s.fail("the session ended with: %v", err)
		}
		if took := time.Since(s.at).String(); took != rest {
			s.fail("the session ended after %s, not %s", took, rest)
		}
	default:
		s.fail("unknown step %q", verb)
	}
}

func (s *script) fail(format string, args ...any) {
	s.t.Helper()
	s.t.Fatalf("script:%d: %s", s.line, fmt.Sprintf(format, args...))
}

func (s *script) number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		s.fail("%v", err)
	}
	return n
}

func (s *script) receive() {
	for _, line := range s.client.take() {
		sound(s.t, line)
		s.came = append(s.came, line)
	}
}

func (s *script) expect(want string, anywhere bool) {
	s.t.Helper()
	var w any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		s.fail("%v: %s", err, want)
	}
	s.receive()
	for i, line := range s.came {
		var came any
		if err := json.Unmarshal([]byte(line), &came); err != nil {
			s.fail("%v", err)
		}
		if alike(w, came) {
			s.came = slices.Delete(s.came, i, i+1)
			return
		}
		if !anywhere {
			break
		}
	}
	s.fail("expected %s\ncame:\n%.2000s", want, strings.Join(s.came, ""))
}

func alike(want, came any) bool {
	switch w := want.(type) {
	case string:
		return w == "*" || w == came
	case []any:
		c, ok := came.([]any)
		return ok && slices.EqualFunc(w, c, alike)
	case map[string]any:
		c, ok := came.(map[string]any)
		if !ok {
			return false
		}
		_, open := w["..."]
		for name, value := range w {
			if name == "..." {
				continue
			}
			if other, there := c[name]; !there || !alike(value, other) {
				return false
			}
		}
		for name := range c {
			if _, there := w[name]; !there && !open {
				return false
			}
		}
		return true
	default:
		return reflect.DeepEqual(want, came)
	}
}
