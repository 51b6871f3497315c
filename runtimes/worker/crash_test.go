//go:build !race

package worker_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/runtimestest"
	"github.com/toolhost/toolhost/runtimes/worker"
)

// The worker that is killed while calls run in it fails these, says so, and is replaced.
func TestKilledWorker(t *testing.T) {
	f := open(t, setup{files: map[string]string{
		"wait.js": handlerOf("ctx.progress('waiting'); await new Promise((done) => setTimeout(done, 60000))"), "ok.js": handlerOf("return 'ok'"),
	}})
	for range 2 {
		started := make(chan bool, 3)
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				r, err := f.Call(t.Context(), &host.Call{Tool: "wait", Progress: func(string) { started <- true }})
				if err != nil || !r.IsError || r.Content[0].Text() != "the plugin's worker crashed (signal: killed)" {
					t.Errorf("got %+v, %v", r, err)
				}
			})
		}
		for range 3 {
			<-started
		}
		list := workers(t)
		if len(list) != 1 {
			t.Fatalf("%d workers run", len(list))
		}
		if err := syscall.Kill(list[0], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		f.answers(t, "ok", "{}", "ok")
	}
}

// One stuck call costs those beside it their worker, and they are told.
func TestStuckCall(t *testing.T) {
	f := open(t, setup{timeouts: map[string]time.Duration{"stuck": time.Second}, files: map[string]string{
		"stuck.js": handlerOf("return Array.from([].values().map ? Array(2**31).values() : [])"),
		"wait.js":  handlerOf("ctx.progress('waiting'); await new Promise((done) => setTimeout(done, 60000))"), "ok.js": handlerOf("return 'ok'"),
	}})
	f.answers(t, "ok", "{}", "ok")
	if text, isError := f.call(t, "stuck", "{}"); !isError {
		t.Errorf("got %q", text)
	}
	f.answers(t, "ok", "{}", "ok")
}

// From the third crash within a minute a worker is not started at once, and who calls is told.
func TestCrashLoop(t *testing.T) {
	var f *fixture
	for {
		f = open(t, setup{timeout: 20 * time.Second, files: map[string]string{
			"crash.js": handlerOf("ctx.progress('here'); await new Promise((done) => setTimeout(done, 60000))"), "ok.js": handlerOf("return 'ok'"),
		}})
		crash := func() string {
			r, err := f.Call(t.Context(), &host.Call{Tool: "crash", Progress: func(string) {
				for _, pid := range workers(t) {
					if err := syscall.Kill(pid, syscall.SIGABRT); err != nil && !errors.Is(err, syscall.ESRCH) {
						t.Error(err)
					}
				}
			}})
			if err != nil || !r.IsError || !strings.Contains(r.Content[0].Text(), "the plugin's worker crashed (") {
				t.Fatalf("got %+v, %v", r, err)
			}
			return r.Content[0].Text()
		}
		var third time.Time // before it
		for i := range 3 {
			third = time.Now()
			if text := crash(); strings.Contains(text, "started again in") {
				t.Fatalf("the pause came after %d crashes: %q", i, text)
			}
		}
		text := crash()
		if strings.Contains(text, "started again in 1s") {
			break
		}
		if time.Since(third) < time.Second { // else the machine had no time for the test, and the pause was over
			t.Fatalf("got %q", text)
		}
	}
	for deadline := time.Now().Add(15 * time.Second); ; {
		if text, isError := f.call(t, "ok", "{}"); !isError && text == "ok" {
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("got %q", text)
		}
	}
}

// What a module does when it is loaded ends nothing but its own process.
func TestHostileModule(t *testing.T) {
	for name, code := range map[string]string{
		"spins":      "for (;;) {}\nexport default () => 1",
		"waits":      "await new Promise(() => {})\nexport default () => 1",
		"recursion":  "let a = []; for (let i = 0; i < 3e6; i++) a = [a];\nString(a);\nexport default () => 1",
		"memory":     "const all = []; for (;;) all.push(new Array(1e6).fill(all.length))\nexport default () => 1",
		"throws":     "throw new Error('no')\nexport default () => 1",
		"no handler": "export const x = 1",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "tool.js"), []byte(code), 0o644); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			_, err := worker.New(&worker.Options{LoadLimit: time.Second}).Open(t.Context(), runtimes.Spec{
				Plugin: "hostile", Dir: dir, Tools: []runtimes.Tool{{ID: "tool", Handler: "tool.js"}},
			})
			var load *runtimes.LoadError
			if !errors.As(err, &load) {
				t.Errorf("got %v after %s, want a *LoadError", err, time.Since(began))
			}
			t.Logf("%v", err)
		})
	}
	if left := workers(t); len(left) > 0 {
		t.Errorf("%d workers are left", len(left))
	}
}

// A thousand calls leave nothing behind.
func TestThousandCalls(t *testing.T) {
	dir, err := os.MkdirTemp("", "wt")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	t.Setenv("TMPDIR", dir) // a short path: sockets are made there
	t.Run("calls", func(t *testing.T) {
		f := open(t, setup{files: map[string]string{"add.js": handlerOf("return String(params.n + 1)")}})
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for j := range 125 {
					n := i*125 + j
					f.answers(t, "add", fmt.Sprintf(`{"n":%d}`, n), strconv.Itoa(n+1))
				}
			})
		}
		wg.Wait()
		if n := len(workers(t)); n != 1 {
			t.Errorf("%d workers run", n)
		}
	})
	if n := len(workers(t)); n != 0 {
		t.Errorf("%d workers are left", n)
	}
	if left := runtimestest.Remaining(t, filepath.Join(dir, "toolhost-*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// A worker that is not needed ends, and the next call starts another.
func TestIdleStop(t *testing.T) {
	f := open(t, setup{runtime: worker.New(&worker.Options{IdleStop: 50 * time.Millisecond}), files: map[string]string{"ok.js": handlerOf("return 'ok'")}})
	for range 2 {
		f.answers(t, "ok", "{}", "ok")
		for deadline := time.Now().Add(10 * time.Second); len(workers(t)) > 0; {
			if time.Now().After(deadline) {
				t.Fatal("the worker goes on")
			}
		}
	}
}

// A script that outruns the watchdog ends its worker, and who called is told why.
func TestOutOfMemory(t *testing.T) {
	f := open(t, setup{memory: 1, files: map[string]string{ // which counts as 256 MB
		"memory.js": handlerOf("const all = []; for (let i = 0; i < 8; i++) all.push(new Uint8Array(200e6)); return all.length"), "ok.js": handlerOf("return 'ok'"),
	}})
	if text, isError := f.call(t, "memory", "{}"); !isError || text != "the plugin's worker crashed (out of memory)" {
		t.Errorf("got isError %v, %q", isError, text)
	}
	f.answers(t, "ok", "{}", "ok")
}
