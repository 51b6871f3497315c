package node

import (
	"testing"
	"time"
)

func TestWatchdogPassesOverWhatHasEnded(t *testing.T) {
	stuck, filling, paused := testEngine(), testEngine(), testEngine()
	w := &watchdog{engines: map[*engine]bool{stuck: true, filling: true, paused: true}}
	now := time.Now().UnixNano()
	stuck.loop.busySince.Store(now - 2)
	filling.loop.busySince.Store(now - 1)
	paused.loop.busySince.Store(0)
	if w.longest() != stuck {
		t.Error("the longest runner is not found")
	}
	stuck.ended.Store(true)
	if w.longest() != filling {
		t.Error("an engine that cannot be stopped shields the others")
	}
}

func TestWatchdogWaitsForWhatItEnded(t *testing.T) {
	ended, beside := testEngine(), testEngine()
	w := &watchdog{engines: map[*engine]bool{ended: true, beside: true}}
	now := time.Now()
	for _, e := range []*engine{ended, beside} {
		e.loop.busySince.Store(now.UnixNano())
	}
	if w.stopping(now) {
		t.Error("nothing was ended yet")
	}
	ended.ended.Store(true)
	if !w.stopping(now) || !w.stopping(now.Add(stopGrace/2)) {
		t.Error("another engine would be ended at once")
	}
	if w.stopping(now.Add(stopGrace)) {
		t.Error("an engine that cannot be stopped shields the others")
	}
	w.remove(ended)
	if len(w.ending) != 0 {
		t.Error("an engine that is gone is kept")
	}
}

func TestHeapLimit(t *testing.T) {
	for _, tt := range []struct{ own, addresses, want uint64 }{
		{0, 0, 1 << 30}, {0, 1 << 40, 1 << 30}, {0, 4 << 30, 384 << 20}, {0, 1<<64 - 1, 1 << 30}, {2 << 30, 4 << 30, 2 << 30}, {0, 256 << 20, 128 << 20},
	} {
		if got := heapLimit(tt.own, tt.addresses); got != tt.want {
			t.Errorf("limits of %d and %d: got %d, want %d", tt.own, tt.addresses, got, tt.want)
		}
	}
}
