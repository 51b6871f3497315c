package runtimes

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPlaces(2)
		take := func() func() {
			release, err := p.Take(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return release
		}
		first, second := take(), take()

		// The queue honours deadlines, and holds nothing for who has gone.
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := p.Take(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		if _, err := p.Take(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with a context that has ended: got %v", err)
		}

		// It is served in order.
		var order []int
		for i := range 3 {
			go func() {
				release := take()
				order = append(order, i)
				release()
			}()
			synctest.Wait()
		}
		first()
		synctest.Wait()
		if len(order) != 3 || order[0] != 0 || order[1] != 1 || order[2] != 2 {
			t.Errorf("served in the order %v", order)
		}

		// The process that rests longest makes room, and nobody else.
		third := take()
		var ended []string
		busy := p.Rest(func() { ended = append(ended, "busy again") })
		p.Rest(func() { ended = append(ended, "longest"); second() })
		forget := p.Rest(func() { ended = append(ended, "last") })
		busy()
		fourth := take()
		synctest.Wait()
		if len(ended) != 1 || ended[0] != "longest" {
			t.Errorf("ended: %q", ended)
		}
		forget()

		// Who comes to rest while others wait makes room at once.
		go func() { _, _ = p.Take(t.Context()) }()
		synctest.Wait()
		p.Rest(third)
		synctest.Wait()
		fourth()
		take()
	})
}

func TestNoPlaces(t *testing.T) {
	var p *Places
	release, err := p.Take(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	release()
	p.Rest(func() { t.Error("ended") })()
}
