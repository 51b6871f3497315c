package process

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/internal/child"
	"github.com/toolhost/toolhost/permissions/sandbox"
)

// A server that ends closes its input before it is known how it ends. A call that could not be
// written then says how it ended, as the others do, and what it has answered still arrives.
func TestInputClosedBeforeTheEnd(t *testing.T) {
	for _, supervise := range []bool{false, true} {
		told := filepath.Join(t.TempDir(), "told")
		if err := syscall.Mkfifo(told, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := child.Start(t.Context(), &child.Options{
			// A supervisor has the same pipe until it knows that the program runs.
			Argv: []string{"/bin/sh", "-c", `read one; read two; exec <&-; while [ -e "/proc/$PPID/fd/0" ]; do :; done; echo closed; read x <"$TOLD"
				echo '{"jsonrpc":"2.0","id":1,"result":{}}'; echo out of cheese >&2; exit 3`},
			Env: []string{"PATH=/usr/bin:/bin", "TOLD=" + told}, Mode: sandbox.Off, Supervise: supervise,
		})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Stop(0)
		in := &instance{runtime: New(nil), base: t.Context()}
		m := &mcp{in: in, lines: newLines(p, in), log: slog.New(slog.DiscardHandler), logged: &limiter{}, noise: &limiter{}, waiting: map[int64]*mcpRequest{}, late: map[int64]bool{}}
		closed := make(chan struct{})
		go m.read(func(line []byte) {
			if strings.HasPrefix(string(line), "closed") {
				close(closed)
				return
			}
			m.take(line)
		})
		answers := map[int64]chan error{1: make(chan error, 1), 2: make(chan error, 1)}
		for range answers {
			go func() {
				_, id, err := m.ask(t.Context(), nil, "ping", []byte("{}"))
				answers[id] <- err
			}()
		}
		<-closed
		third := &mcpRequest{ctx: t.Context(), answer: make(chan message, 1)}
		m.send(third.ctx, m.request(3, false, "ping", []byte("{}")))
		if m.usable() || !m.ending() {
			t.Errorf("usable %v, ending %v", m.usable(), m.ending())
		}
		if _, _, err := m.ask(context.Background(), nil, "ping", []byte("{}")); !errors.Is(err, errUnsent) {
			t.Errorf("a request after the input was closed: %v", err)
		}
		w, err := os.OpenFile(told, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_ = w.Close()
		if err := <-answers[1]; err != nil {
			t.Errorf("the call that was answered: %v", err)
		}
		const want = "its process ended without an answer (exit status 3); the last it wrote to stderr:\nout of cheese"
		if err := <-answers[2]; err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("the call that was not: %v", err)
		}
		p.Stop(0)
		if err := m.failure(); !strings.HasSuffix(err.Error(), want) {
			t.Errorf("after the kill: %v", err)
		}
	}
}
