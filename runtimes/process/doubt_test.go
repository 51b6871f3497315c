package process

import (
	"context"
	"testing"
	"testing/synctest"
)

// A process is doubted as soon as a call is late, not only once it is asked whether it answers.
func TestDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d doubt
		settleOther := d.sending(t.Context())
		defer settleOther()
		late, cancel := context.WithCancel(t.Context())
		settle := d.sending(late)
		if err := d.wait(t.Context()); err != nil {
			t.Fatalf("nothing is late: %v", err)
		}
		cancel()
		done := make(chan error, 1)
		go func() { done <- d.wait(t.Context()) }()
		synctest.Wait()
		select {
		case err := <-done:
			t.Fatalf("a call went to a process in doubt (%v)", err)
		default:
		}
		given, giveUp := context.WithCancel(t.Context())
		giveUp()
		if err := d.wait(given); err != context.Canceled {
			t.Errorf("a wait that was given up: %v", err)
		}
		settle()
		settle()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
