package process

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A call that would have to wait for longer than it has after crashes is told so at once, and
// from the fifth crash on every call is.
func TestRefusalComesAtOnce(t *testing.T) {
	for _, c := range []struct {
		crashes int
		has     time.Duration // the call
		want    string
	}{
		{3, 999 * time.Millisecond, "its process crashed 3 times in a row and is started again in 1s at the earliest"},
		{4, 1999 * time.Millisecond, "its process crashed 4 times in a row and is started again in 2s at the earliest"},
		{5, time.Hour, "its process crashed 5 times in a row and is started again in 1m0s at the earliest"},
	} {
		synctest.Test(t, func(t *testing.T) {
			k := &keeper{}
			k.breaker.start(time.Now())
			for range c.crashes {
				k.breaker.crashed(time.Now())
			}
			ctx, cancel := context.WithTimeout(t.Context(), c.has)
			defer cancel()
			began := time.Now()
			err := k.start(ctx, nil)
			var f *Failure
			if !errors.As(err, &f) || f.What != c.want || time.Since(began) != 0 {
				t.Errorf("%d crashes: after %s: %v", c.crashes, time.Since(began), err)
			}
		})
	}
}
