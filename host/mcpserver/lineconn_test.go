package mcpserver

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// Lines that come at once do not wait for each other: neither the answer of a quick call for that
// of a slow one, nor for the rest of a line.
func TestBurst(t *testing.T) {
	quick := func(id int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo"}}`, id)
	}
	const slow = `{"jsonrpc":"2.0","id":"slow","method":"tools/call","params":{"name":"slow","arguments":{"ms":50000}}}`
	for _, n := range []int{1, 2, maxGathered - 1, maxGathered, maxGathered + 1, 3 * maxGathered} {
		for _, last := range []string{"", slow, slow + "\n", `{"jsonrpc":"2.0","id":"ping","method":"ping"}` + "\n" + slow + "\n" + quick(-1)[:20], "no message\n"} {
			synctest.Test(t, func(t *testing.T) {
				c := newClient(t, newHost(t, kit()...), nil)
				c.send(initialize + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
				for i := range maxGathered {
					c.send(quick(1000 + i))
				}
				c.take()
				var lines strings.Builder
				for i := range n {
					lines.WriteString(quick(i) + "\n")
				}
				if _, err := io.WriteString(c.in, lines.String()+last); err != nil {
					t.Fatal(err)
				}
				answers := map[any]int{}
				for _, line := range c.take() {
					if m := sound(t, line); m["result"] != nil {
						answers[m["id"]]++
					}
				}
				for i := range n {
					if answers[float64(i)] != 1 {
						t.Fatalf("%d quick calls, then %q: call %d has %d answers", n, last, i, answers[float64(i)])
					}
				}
			})
		}
	}
}

// written notes what is written at once.
type written struct {
	mu    sync.Mutex
	parts []string
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.parts = append(w.parts, string(p))
	return len(p), nil
}

// What is to be written while lines are read that have come already is written together.
func TestGather(t *testing.T) {
	long := strings.Repeat("x", maxGather)
	const there, toCome = true, false
	tests := []struct {
		name string
		play func(c *lineConn, read func(there bool) bool, put func(string))
		want []string
	}{
		{"until a line has to come", func(c *lineConn, read func(bool) bool, put func(string)) {
			for _, line := range []string{"a", "b", "c"} {
				read(there)
				put(line)
			}
			read(toCome)
		}, []string{"abc"}},
		{"for a line that has to come", func(c *lineConn, read func(bool) bool, put func(string)) {
			read(toCome)
			put("a")
			put("b")
		}, []string{"a", "b"}},
		{"no more lines than that", func(c *lineConn, read func(bool) bool, put func(string)) {
			for i := range maxGathered + 2 {
				read(there)
				put(string(rune('a' + i)))
			}
		}, []string{"abcdefgh", "i"}},
		{"not after a call that took long", func(c *lineConn, read func(bool) bool, put func(string)) {
			read(there)
			put("a")
			c.note(quickCall)
			read(there)
			put("b")
			for range maxGathered {
				c.note(0)
			}
			read(there)
			put("c")
			read(toCome)
		}, []string{"a", "b", "c"}},
		{"no more bytes than that", func(c *lineConn, read func(bool) bool, put func(string)) {
			read(there)
			put("a")
			put(long)
			put("b")
			read(toCome)
		}, []string{"a" + long, "b"}},
		{"not when reading ends", func(c *lineConn, read func(bool) bool, put func(string)) {
			read(there)
			put("a")
			c.mu.Lock()
			c.ending = true
			c.mu.Unlock()
			if read(there) {
				t.Error("there is no room at the end")
			}
			put("b")
		}, []string{"a", "b"}},
		{"not when nothing is read", func(c *lineConn, read func(bool) bool, put func(string)) {
			read(there)
			put("a")
			c.mu.Lock()
			c.held = maxPending + 1
			c.mu.Unlock()
			close(c.closed)
			read(there)
		}, []string{"a"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				out := &written{}
				c := newLineConn(context.Background(), nil, strings.NewReader(""), out)
				c.quick = maxGathered
				test.play(c, func(there bool) bool {
					defer synctest.Wait()
					return c.awaitRoom(there)
				}, func(line string) {
					if err := c.put([]byte(line)); err != nil {
						t.Error(err)
					}
					synctest.Wait()
				})
				if fmt.Sprint(out.parts) != fmt.Sprint(test.want) {
					t.Errorf("%q was written, not %q", out.parts, test.want)
				}
				c.hangUp()
			})
		})
	}
}

// A message that the SDK does not take yet holds up nothing that is to be written.
func TestGatherBeforeSDK(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &written{}
		c := newLineConn(context.Background(), nil, nil, out)
		defer c.hangUp()
		c.quick = maxGathered
		r := newLineReader(strings.NewReader(strings.Repeat(`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n", 3)))
		if _, err := r.r.Peek(1); err != nil { // all has come
			t.Fatal(err)
		}
		c.awaitRoom(true)
		if err := c.put([]byte("answer")); err != nil {
			t.Fatal(err)
		}
		go c.next(r)
		synctest.Wait()
		if len(out.parts) != 1 {
			t.Errorf("%q was written", out.parts)
		}
		_ = c.Close()
	})
}
