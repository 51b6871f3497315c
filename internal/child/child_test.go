package child_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/child"
	"github.com/toolhost/toolhost/permissions/sandbox"
)

// everyWay runs a test with a pid namespace, where the kernel allows one, and with the
// supervisor, confined and not.
func everyWay(t *testing.T, test func(t *testing.T, start func(script string) *child.Process)) {
	for _, mode := range []sandbox.Mode{sandbox.Require, sandbox.Off} {
		for _, supervise := range []bool{false, true} {
			t.Run(fmt.Sprintf("sandbox=%s,supervise=%v", mode, supervise), func(t *testing.T) {
				test(t, func(script string) *child.Process {
					t.Helper()
					return start(t, &child.Options{Argv: []string{"/bin/sh", "-c", script}, Supervise: supervise, Mode: mode})
				})
			})
		}
	}
}

func start(t *testing.T, o *child.Options) *child.Process {
	t.Helper()
	if o.Env == nil {
		o.Env = []string{"PATH=/usr/bin:/bin"}
	}
	if o.Rules == nil {
		o.Rules = &sandbox.Rules{System: true}
	}
	p, err := child.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop(0) })
	return p
}

func wait(t *testing.T, p *child.Process) error {
	t.Helper()
	select {
	case <-p.Done():
		return p.Err()
	case <-time.After(20 * time.Second):
		t.Fatal("the child has not ended")
		return nil
	}
}

func TestStreams(t *testing.T) {
	everyWay(t, func(t *testing.T, start func(string) *child.Process) {
		p := start("cat; echo one >&2; echo two >&2; echo end")
		if _, err := p.Stdin().WriteString("zażółć\n"); err != nil {
			t.Fatal(err)
		}
		_ = p.Stdin().Close()
		out, err := io.ReadAll(p.Stdout())
		if err != nil || string(out) != "zażółć\nend\n" {
			t.Errorf("got %q, %v", out, err)
		}
		if err := wait(t, p); err != nil {
			t.Errorf("got %v", err)
		}
		if tail := p.Tail(); tail != "one\ntwo" {
			t.Errorf("got the tail %q", tail)
		}
	})
}

func TestExit(t *testing.T) {
	for _, c := range []struct {
		script string
		status int
		signal syscall.Signal
		text   string
	}{
		{"exit 0", 0, 0, ""},
		{"echo why >&2; exit 3", 3, 0, "exit status 3"},
		{"exit 255", 255, 0, "exit status 255"},
	} {
		everyWay(t, func(t *testing.T, start func(string) *child.Process) {
			err := wait(t, start(c.script))
			if c.text == "" {
				if err != nil {
					t.Errorf("got %v", err)
				}
				return
			}
			var exit *child.ExitError
			if !errors.As(err, &exit) || exit.Status != c.status || exit.Signal != c.signal || exit.Error() != c.text {
				t.Fatalf("%s: got %#v", c.script, err)
			}
			if c.status == 3 && exit.Tail != "why" {
				t.Errorf("got the tail %q", exit.Tail)
			}
		})
	}
}

func TestExitBySignal(t *testing.T) {
	everyWay(t, func(t *testing.T, start func(string) *child.Process) {
		p := start("echo ready; exec sleep 86400")
		if _, err := bufio.NewReader(p.Stdout()).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if p.Err() != nil {
			t.Errorf("a child that runs has ended by %v", p.Err())
		}
		p.Stop(0)
		var exit *child.ExitError
		if err := wait(t, p); !errors.As(err, &exit) || exit.Signal != syscall.SIGKILL || exit.Error() != "signal: killed" {
			t.Errorf("got %#v", err)
		}
	})
}

func TestExitByOwnSignal(t *testing.T) {
	for _, supervise := range []bool{false, true} {
		p := start(t, &child.Options{Argv: []string{"/bin/sh", "-c", "kill -9 $$; echo alive"}, Supervise: supervise, Mode: sandbox.Require})
		out, err := io.ReadAll(p.Stdout())
		if err != nil || len(out) > 0 {
			t.Errorf("supervise=%v: got %q, %v", supervise, out, err)
		}
		var exit *child.ExitError
		if err := wait(t, p); !errors.As(err, &exit) || exit.Error() != "signal: killed" {
			t.Errorf("supervise=%v: got %#v", supervise, err)
		}
	}
}

func TestStartFails(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		argv []string
		want error
	}{
		{t.Context(), nil, nil}, {t.Context(), []string{"/nope"}, os.ErrNotExist}, {ended, []string{"/bin/true"}, context.Canceled},
		{t.Context(), []string{"/etc/passwd"}, nil},
	} {
		p, err := child.Start(c.ctx, &child.Options{Argv: c.argv})
		if err == nil {
			// A supervisor says it by its exit.
			if err = wait(t, p); err == nil || !strings.Contains(p.Tail(), "permission denied") {
				t.Errorf("%q was started: %v", c.argv, err)
			}
			p.Stop(0)
			continue
		}
		if c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%q: got %v", c.argv, err)
		}
	}
}

// Everything that a child has started ends with it, whatever it did to get away.
func TestNobodyIsLeft(t *testing.T) {
	for name, script := range map[string]string{
		"child":        "sleep 86400.%d & echo ready; exit 0",
		"setsid":       "setsid sleep 86400.%d & echo ready; exit 0",
		"holds pipes":  "setsid sleep 86400.%d & echo ready; read line",
		"orphan":       "(setsid sh -c 'sleep 86400.%d; true' & ) ; echo ready; read line",
		"ignores TERM": "trap '' TERM INT HUP; setsid sleep 86400.%d & echo ready; while :; do sleep 1; done",
		"stopped":      "sleep 86400.%d & echo ready; kill -STOP $!; read line",
	} {
		t.Run(name, func(t *testing.T) {
			everyWay(t, func(t *testing.T, start func(string) *child.Process) {
				mark := time.Now().UnixNano()
				p := start(fmt.Sprintf(script, mark))
				if line, err := bufio.NewReader(p.Stdout()).ReadString('\n'); err != nil || line != "ready\n" {
					t.Fatalf("got %q, %v", line, err)
				}
				began := time.Now()
				p.Stop(100 * time.Millisecond)
				if took := time.Since(began); took > 3*time.Second {
					t.Errorf("stopping took %s", took)
				}
				if left := running(t, fmt.Sprintf("86400.%d", mark)); len(left) > 0 {
					t.Errorf("left: %q", left)
				}
			})
		})
	}
}

// running gives the command lines of processes that hold a mark.
func running(t *testing.T, mark string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		line, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err == nil && bytes.Contains(line, []byte(mark)) && !bytes.Contains(line, []byte("host\x00")) {
			list = append(list, string(bytes.ReplaceAll(line, []byte{0}, []byte(" "))))
		}
	}
	return list
}

// A child that is stopped by a signal is ended like any other.
func TestStopStopped(t *testing.T) {
	everyWay(t, func(t *testing.T, start func(string) *child.Process) {
		p := start("echo ready; read line")
		if _, err := bufio.NewReader(p.Stdout()).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(p.PID(), syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		p.Stop(50 * time.Millisecond)
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("stopping took %s", took)
		}
		select {
		case <-p.Done():
		default:
			t.Error("the child has not ended")
		}
	})
}

// A child that can end in peace does.
func TestStopByTerm(t *testing.T) {
	everyWay(t, func(t *testing.T, start func(string) *child.Process) {
		// One for which the machine had no time is killed: the next gets twice the time.
		for grace := 700 * time.Millisecond; ; grace *= 2 {
			p := start("trap 'echo bye >&2; exit 7' TERM; echo ready; while :; do sleep 0.05; done")
			if _, err := bufio.NewReader(p.Stdout()).ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			p.Stop(grace)
			var exit *child.ExitError
			err := wait(t, p)
			if errors.As(err, &exit) && exit.Signal == syscall.SIGKILL && grace < 10*time.Second {
				continue
			}
			if !errors.As(err, &exit) || exit.Status != 7 || !strings.HasSuffix(exit.Tail, "bye") {
				t.Errorf("got %v, %q", err, p.Tail())
			}
			return
		}
	})
}

func TestStopTwice(t *testing.T) {
	p := start(t, &child.Options{Argv: []string{"/bin/sleep", "86400"}})
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() { p.Stop(10 * time.Millisecond) })
	}
	wg.Wait()
	if _, err := p.Stdin().WriteString("x"); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the pipe is open: %v", err)
	}
}

// What a child says on stderr never holds it up, is cut in the log, and its end is kept.
func TestStderrFlood(t *testing.T) {
	var log bytes.Buffer
	p := start(t, &child.Options{
		Argv: []string{"/bin/sh", "-c", `head -c 30000000 /dev/zero | tr '\0' x >&2; echo >&2; yes "line of noise" | head -n 20000 >&2; printf 'the last\377' >&2`},
		Log:  slog.New(slog.NewTextHandler(&log, nil)),
	})
	if err := wait(t, p); err != nil {
		t.Fatal(err)
	}
	if tail := p.Tail(); len(tail) > 16<<10 || !strings.HasSuffix(tail, "line of noise\nthe last\ufffd") {
		t.Errorf("the tail has %d bytes and ends in %q", len(tail), tail[max(0, len(tail)-40):])
	}
	if n := strings.Count(log.String(), "msg=stderr "); n > 2000 || log.Len() > 1<<20 {
		t.Errorf("%d lines, %d bytes were logged", n, log.Len())
	}
	if !strings.Contains(log.String(), "left out") {
		t.Error("the log does not say that lines were left out")
	}
}

func TestStderrLines(t *testing.T) {
	var lines []string
	p := start(t, &child.Options{Argv: []string{"/bin/sh", "-c", `echo a >&2; echo >&2; printf b >&2`}, Stderr: func(line string) { lines = append(lines, line) }})
	if err := wait(t, p); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%q", lines); got != `["a" "" "b"]` {
		t.Errorf("got %s", got)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("TOOLHOST_SECRET", "k")
	everyWay(t, func(t *testing.T, start func(string) *child.Process) {
		p := start("env; pwd")
		out, err := io.ReadAll(p.Stdout())
		if err != nil || strings.Contains(string(out), "SECRET") || !strings.HasSuffix(string(out), "\n/\n") {
			t.Errorf("got %q, %v", out, err)
		}
	})
}

func TestLastLines(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""}, {"a\nb\nc\n", "b\nc"}, {"\x1b[31mred\x07", "[31mred"}, {strings.Repeat("x", 30), "…" + strings.Repeat("x", 20)},
	} {
		if got := child.LastLines(c.text, 2, 20); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}

// host is a host that starts children and then waits to be killed.
func host(supervised bool, scripts []string) error {
	for _, script := range scripts {
		p, err := child.Start(context.Background(), &child.Options{
			Argv: []string{"/bin/sh", "-c", script}, Env: []string{"PATH=/usr/bin:/bin"}, Supervise: supervised, Rules: &sandbox.Rules{System: true}, Mode: sandbox.Off,
		})
		if err != nil {
			return err
		}
		if line, err := bufio.NewReader(p.Stdout()).ReadString('\n'); err != nil || line != "ready\n" {
			return fmt.Errorf("the child said %q: %w", line, err)
		}
	}
	fmt.Println("running")
	select {}
}

// A host that is killed leaves nobody.
func TestHostKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"namespace", "supervised"} {
		t.Run(how, func(t *testing.T) {
			mark := fmt.Sprintf("86400.%d", time.Now().UnixNano())
			cmd := exec.Command(self, "host", how,
				"trap '' TERM HUP INT; setsid sleep "+mark+" & echo ready; while :; do sleep 1; done # "+mark,
				"(setsid sh -c 'trap \"\" TERM; sleep "+mark+"; true' & ); echo ready; exec sleep "+mark)
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			cmd.Stderr = os.Stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil || line != "running\n" {
				t.Fatalf("got %q, %v", line, err)
			}
			// One that is about to become sleep has no command line for a moment.
			deadline := time.Now().Add(20 * time.Second)
			for n := len(running(t, mark)); n < 3; n = len(running(t, mark)) {
				if time.Now().After(deadline) {
					t.Fatalf("only %d processes run", n)
				}
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			deadline = time.Now().Add(5 * time.Second)
			for left := running(t, mark); len(left) > 0; left = running(t, mark) {
				if time.Now().After(deadline) {
					t.Fatalf("left: %q", left)
				}
			}
		})
	}
}

// One hundred starts and kills at once leave no process and no descriptor.
func TestHammer(t *testing.T) {
	descriptors := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	p := start(t, &child.Options{Argv: []string{"/bin/true"}})
	p.Stop(time.Second)
	before := descriptors()
	mark := fmt.Sprintf("86400.%d", time.Now().UnixNano())
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			p, err := child.Start(t.Context(), &child.Options{
				Argv: []string{"/bin/sh", "-c", "setsid sleep " + mark + " & exec sleep " + mark}, Env: []string{"PATH=/usr/bin:/bin"}, Supervise: i%10 == 0, Rules: &sandbox.Rules{System: true, Temp: true},
			})
			if err != nil {
				t.Error(err)
				return
			}
			p.Stop(time.Duration(i%3) * time.Millisecond)
		})
	}
	wg.Wait()
	if left := running(t, mark); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	if after := descriptors(); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}
