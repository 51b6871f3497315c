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

func TestHeapLimit(t *testing.T) {
	for _, tt := range []struct{ own, addresses, want uint64 }{
		{0, 0, 1 << 30}, {0, 1 << 40, 1 << 30}, {0, 4 << 30, 384 << 20}, {0, 1<<64 - 1, 1 << 30}, {2 << 30, 4 << 30, 2 << 30}, {0, 256 << 20, 128 << 20},
	} {
		if got := heapLimit(tt.own, tt.addresses); got != tt.want {
			t.Errorf("limits of %d and %d: got %d, want %d", tt.own, tt.addresses, got, tt.want)
		}
	}
}
