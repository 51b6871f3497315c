package child_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/internal/child"
)

func TestLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &child.Limiter{Burst: 3, PerSecond: 2}
		passed := func(n int) (count, dropped int) {
			for range n {
				ok, d := l.Take()
				dropped += d
				if ok {
					count++
				}
			}
			return count, dropped
		}
		for _, step := range []struct {
			wait                      time.Duration
			try, wantPass, wantBefore int
		}{
			{0, 10, 3, 0},
			{500 * time.Millisecond, 2, 1, 7}, // one a half second, which tells of those before it
			{time.Hour, 10, 3, 1},             // no more than a burst is saved up
		} {
			time.Sleep(step.wait) // fake time
			if n, before := passed(step.try); n != step.wantPass || before != step.wantBefore {
				t.Errorf("after %s %d of %d have passed, %d were held back before; want %d and %d", step.wait, n, step.try, before, step.wantPass, step.wantBefore)
			}
		}
		if n := l.Rest(); n != 7 {
			t.Errorf("%d were held back at the end, want 7", n)
		}
		if n := l.Rest(); n != 0 {
			t.Errorf("%d were held back since, want none", n)
		}
		l = &child.Limiter{}
		if n, _ := passed(1000); n != 200 {
			t.Errorf("of the zero value %d have passed, want 200", n)
		}
	})
}
