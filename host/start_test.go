package host

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

type startEnd struct {
	result *Result
	err    error
}

// started gives what comes of a call that is started, and has it known whether that came before
// Start returned.
func started(t *testing.T, h *Host, call *Call) (end startEnd, before bool) {
	t.Helper()
	ends := make(chan startEnd, 2)
	h.Start(t.Context(), call, func(result *Result, err error) { ends <- startEnd{result, err} })
	before = len(ends) > 0
	synctest.Wait()
	end = <-ends
	if len(ends) > 0 {
		t.Errorf("%s has ended twice", call.Tool)
	}
	return end, before
}

func TestStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(nil)
		var closed atomic.Int32
		slow := tool("slow", func(ctx context.Context, _ *Call) (*Result, error) {
			time.Sleep(time.Minute) // whatever becomes of ctx
			return TextResult("late"), nil
		})
		slow.Timeout = time.Second
		replace(t, h, "p", Plugin, slow, answer("echo", "hello"),
			tool("panics", func(context.Context, *Call) (*Result, error) { panic("on purpose") }),
			tool("swapped", func(context.Context, *Call) (*Result, error) {
				if closed.Add(1) == 1 {
					return nil, ErrHandlerClosed
				}
				return TextResult("new version"), nil
			}),
		)
		for _, c := range []struct {
			tool, text string
			failed     bool
		}{
			{"echo", "hello", false}, {"panics", "internal error", true}, {"swapped", "new version", false},
		} {
			end, before := started(t, h, &Call{Tool: c.tool})
			if end.err != nil || end.result.IsError != c.failed || !strings.Contains(end.result.Content[0].Text(), c.text) || !before {
				t.Errorf("%s: %+v, before Start returned: %t", c.tool, end, before)
			}
		}
		var unknown *UnknownToolError
		if end, before := started(t, h, &Call{Tool: "ech"}); !errors.As(end.err, &unknown) || !before {
			t.Errorf("%+v", end)
		}

		began := time.Now()
		ended := make(chan time.Duration, 1)
		h.Start(t.Context(), &Call{Tool: "slow"}, func(result *Result, err error) {
			if err != nil || result.Failure != FailureTimeout {
				t.Errorf("%+v, %v", result, err)
			}
			ended <- time.Since(began)
		})
		if after, returned := <-ended, time.Since(began); after != time.Second || returned != time.Minute {
			t.Errorf("the call ended after %v, and Start after %v", after, returned)
		}

		why := errors.New("why")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(why)
		h.Start(ctx, &Call{Tool: "slow"}, func(result *Result, err error) {
			if result != nil || !errors.Is(err, why) {
				t.Errorf("%+v, %v", result, err)
			}
			ended <- 0
		})
		<-ended

		if err := h.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if end, before := started(t, h, &Call{Tool: "echo"}); !errors.Is(end.err, ErrClosed) || !before {
			t.Errorf("%+v", end)
		}
	})
}

// A handler that ends its goroutine ends the call, too.
func TestGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(nil)
		replace(t, h, "p", Plugin, tool("exits", func(context.Context, *Call) (*Result, error) {
			runtime.Goexit()
			return nil, nil
		}))
		if got := text(t, h, &Call{Tool: "exits"}); got != "OK" {
			t.Errorf("got %q", got)
		}
	})
}

// What waits for whoever hears of the end of a call is no call that runs.
func TestCloseWhileTheEndIsHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(nil)
		replace(t, h, "p", Plugin, answer("echo", "hello"))
		heard := make(chan struct{})
		go h.Start(t.Context(), &Call{Tool: "echo"}, func(*Result, error) { <-heard })
		synctest.Wait()
		began := time.Now()
		if err := h.Close(t.Context()); err != nil || time.Since(began) > 0 {
			t.Errorf("closed after %v: %v", time.Since(began), err)
		}
		close(heard)
	})
}

type observerFunc func(Event)

func (f observerFunc) Observe(e Event) { f(e) }

// An observer that panics is no reason for the process or the call to end, nor for others not to
// hear; one that ends the goroutine ends the call.
func TestBrokenObserver(t *testing.T) {
	for _, kind := range []EventKind{CallStarted, CallProgress, CallEnded} {
		for name, broken := range map[string]func(){"panics": func() { panic("on purpose") }, "exits": runtime.Goexit} {
			synctest.Test(t, func(t *testing.T) {
				h := New(nil)
				var started, ended atomic.Int32
				h.Observe(observerFunc(func(e Event) {
					if e.Kind == kind {
						broken()
					}
				}))
				h.Observe(observerFunc(func(e Event) {
					switch e.Kind {
					case CallStarted:
						started.Add(1)
					case CallEnded:
						ended.Add(1)
					}
				}))
				waits := tool("waits", func(ctx context.Context, c *Call) (*Result, error) {
					<-ctx.Done()
					return nil, ctx.Err()
				})
				waits.Timeout = time.Second
				replace(t, h, "p", Plugin, waits, tool("talks", func(_ context.Context, c *Call) (*Result, error) {
					c.Progress("on the way")
					return TextResult("done"), nil
				}))
				for tool, want := range map[string]string{"talks": "done", "waits": "timed out"} {
					var r *Result
					ends := make(chan struct{})
					go h.Start(t.Context(), &Call{Tool: tool}, func(result *Result, err error) {
						r = result
						close(ends)
					})
					if <-ends; r == nil || len(r.Content) == 0 {
						t.Fatalf("%s at %v: %+v", name, kind, r)
					}
					if got := r.Content[0].Text(); name == "panics" && !strings.Contains(got, want) {
						t.Errorf("%s at %v: %s: got %q", name, kind, tool, got)
					}
				}
				if name == "panics" && (started.Load() != 2 || ended.Load() != 2) {
					t.Errorf("%s at %v: another observer heard of %d calls and of the end of %d", name, kind, started.Load(), ended.Load())
				}
				// Nothing of it is left behind.
				if err := h.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// A caller's Progress that panics may cost its call, and nothing else.
func TestBrokenProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(nil)
		var late func(string)
		talks := tool("talks", func(_ context.Context, c *Call) (*Result, error) {
			late = c.Progress
			c.Progress("one")
			c.Progress("two") // waits for its turn
			time.Sleep(time.Second)
			c.Progress("three")
			c.Progress("four") // waits until the end
			return TextResult("done"), nil
		})
		replace(t, h, "p", Plugin, talks)
		for _, bad := range []string{"one", "two", "three", "four"} {
			over, heard := false, 0
			r, err := h.Call(t.Context(), &Call{Tool: "talks", Progress: func(message string) {
				if over {
					heard++
				}
				if message == bad {
					panic("on purpose")
				}
			}})
			over = true
			if want := map[string]string{"two": "done"}[bad]; err != nil || want != "" && r.Content[0].Text() != want || want == "" && r.Failure != FailureCrash {
				t.Errorf("%s: %+v, %v", bad, r, err)
			}
			late("late")
			if time.Sleep(time.Second); heard > 0 {
				t.Errorf("%s: progress was heard of after the end", bad)
			}
		}
		if err := h.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
