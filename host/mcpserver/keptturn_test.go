package mcpserver

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/host"
)

func TestKeptTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		passed := make(chan *lineReader, 1)
		k := &keptTurn{pass: func(r *lineReader) { passed <- r }}
		r := &lineReader{}
		isPassed := func() bool {
			synctest.Wait()
			select {
			case got := <-passed:
				return got == r
			default:
				return false
			}
		}

		// Quick calls keep it, however many there are.
		for range 100 {
			k.keep(r)
			time.Sleep(quickCall / 10)
			if k.take() != r || isPassed() {
				t.Fatal("it was passed on")
			}
		}
		// The timer is set anew only while there are calls.
		time.Sleep(3 * quickCall)
		if synctest.Wait(); k.set {
			t.Error("the timer is set, and nobody calls")
		}
		// From one that lasts it is taken, once, whenever the timer was set.
		for _, before := range []time.Duration{0, quickCall / 2} {
			k.keep(r)
			time.Sleep(before)
			k.take()
			k.keep(r)
			began := time.Now()
			if got := <-passed; got != r {
				t.Errorf("passed on: %p", got)
			}
			if took := time.Since(began); took < quickCall-before || took > 2*quickCall {
				t.Errorf("passed on after %v", took)
			}
			time.Sleep(5 * quickCall)
			if k.take() != nil || isPassed() {
				t.Error("it is there twice")
			}
		}
	})
}

// Lines are read while a call takes its time, also one that came after many quick ones: it may
// wait for what they bring.
func TestReadingDuringCalls(t *testing.T) {
	for _, tool := range []string{"slow", "deaf"} {
		synctest.Test(t, func(t *testing.T) {
			deaf := toolNamed("deaf", func(context.Context, *host.Call) (*host.Result, error) {
				time.Sleep(time.Minute)
				return nil, nil
			})
			c := newClient(t, newHost(t, append(kit(), deaf)...), nil)
			c.send(initialize + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			quick := func(id int) {
				c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo"}}`, id))
			}
			for i := range 2 * maxGathered {
				quick(i)
				c.take()
			}
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"long","method":"tools/call","params":{"name":%q,"arguments":{"ms":50000}}}`, tool))
			began := time.Now()
			quick(100)
			if got := c.take(); len(got) != 1 || sound(t, got[0])["id"] != 100.0 {
				t.Errorf("%s: got %q", tool, got)
			}
			c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"long"}}`)
			quick(101)
			if got := c.take(); len(got) != 1 || sound(t, got[0])["id"] != 101.0 {
				t.Errorf("%s: got %q", tool, got)
			}
			if took := time.Since(began); took > 2*quickCall {
				t.Errorf("%s: lines were read after %v", tool, took)
			}
		})
	}
}
