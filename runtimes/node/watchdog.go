package node

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"time"
)

// watchInterval is how often the heap is looked at while scripts run.
const watchInterval = 20 * time.Millisecond

// watchdog ends scripts that fill the memory. Go counts memory for the whole process
// only, so it takes the script that has been running longest without a pause. It cannot
// prevent one huge allocation.
type watchdog struct {
	limit uint64 // bytes of objects that are not garbage
	hard  uint64 // bytes of objects above which garbage is not collected first

	mu       sync.Mutex
	engines  map[*engine]bool
	parked   map[*engine]bool      // they rest, and hold what their modules hold
	ending   map[*engine]time.Time // since when they are known to be ended and still run
	watching bool
}

// stopGrace is how long an engine that was ended may hold memory before another is ended, too.
const stopGrace = 250 * time.Millisecond

// errMemory is why a script ends that filled the memory.
var errMemory = errors.New("the handler used too much memory")

const (
	defaultHeap = 1 << 30
	leastHeap   = 128 << 20
)

// HeapLimit is how many bytes the heap of this process may hold before a script is ended,
// where [Options].MaxHeap does not say so: 1 GiB, or an eighth of what the process may map
// where that is less, since one step of a script may double a text before the watchdog
// looks again. A program that sets it as Go's memory limit too keeps garbage below it.
func HeapLimit() int64 { return int64(heapLimit(0, addressSpace())) }

// hardLimit is near the limit where what the process may map is short: the next step of
// the script may end the process while garbage is collected.
func hardLimit(limit, addresses uint64) uint64 {
	if addresses == 0 || addresses/16 > limit { // RLIM_INFINITY is a large number
		return 2 * limit
	}
	return limit + limit/4
}

func heapLimit(own, addresses uint64) uint64 {
	switch {
	case own > 0:
		return own
	case addresses == 0:
		return defaultHeap
	}
	const runtimeMaps = 1 << 30 // what Go maps for itself, above all for its tables of pages
	return min(max(addresses-min(addresses, runtimeMaps), 8*leastHeap)/8, defaultHeap)
}

func (w *watchdog) add(e *engine) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.engines == nil {
		w.engines = map[*engine]bool{}
	}
	w.engines[e] = true
	delete(w.parked, e)
	if !w.watching {
		w.watching = true
		go w.watch()
	}
}

func (w *watchdog) remove(e *engine) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.engines, e)
	delete(w.parked, e)
	delete(w.ending, e)
}

// park takes an engine off the watch that rests. Where memory is short it is ended.
func (w *watchdog) park(e *engine) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.engines, e)
	if w.parked == nil {
		w.parked = map[*engine]bool{}
	}
	w.parked[e] = true
}

// watch looks until no engine is left.
func (w *watchdog) watch() {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	heap := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	for range tick.C {
		if w.done() {
			return
		}
		w.checkAll()
		now := heap()
		if now <= w.limit {
			continue
		}
		if now <= w.hard {
			runtime.GC() // what is garbage already does not count
			now = heap()
		}
		if now <= w.hard && w.stopping(time.Now()) {
			continue
		}
		if now > w.limit {
			why := fmt.Errorf("%w: the heap is above this host's limit of %d MiB; work on less at once", errMemory, w.limit>>20)
			if e := w.longest(); e != nil {
				e.interrupt(why)
				continue
			}
			for _, e := range w.resting() { // what their modules hold is all that is left
				e.interrupt(why)
			}
		}
	}
}

// checkAll has each engine that works looked at.
func (w *watchdog) checkAll() {
	w.mu.Lock()
	var checks []func(time.Time)
	for e := range w.engines {
		if e.check != nil {
			checks = append(checks, e.check)
		}
	}
	w.mu.Unlock()
	for _, check := range checks {
		check(time.Now())
	}
}

// resting gives the engines that calls share and that do nothing now.
func (w *watchdog) resting() []*engine {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := slices.Collect(maps.Keys(w.parked))
	for e := range w.engines {
		if e.shared && !e.ended.Load() {
			list = append(list, e)
		}
	}
	return list
}

func (w *watchdog) done() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.engines) == 0 {
		w.watching = false
		return true
	}
	return false
}

// stopping reports whether an engine that was ended a moment ago still runs: what it holds
// may be all that is too much, and ends with it. Above the hard limit nobody waits for it.
func (w *watchdog) stopping(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	found := false
	for e := range w.engines {
		if !e.ended.Load() || e.loop.busySince.Load() == 0 {
			continue
		}
		since, known := w.ending[e]
		if !known {
			if w.ending == nil {
				w.ending = map[*engine]time.Time{}
			}
			since, w.ending[e] = now, now
		}
		found = found || now.Sub(since) < stopGrace
	}
	return found
}

// longest gives the engine that has run longest without a pause; nil where all pause. One
// that was ended already is passed over: ending it again frees nothing, and shields the
// one that fills the memory now.
func (w *watchdog) longest() *engine {
	w.mu.Lock()
	defer w.mu.Unlock()
	var found *engine
	var since int64
	for e := range w.engines {
		if at := e.loop.busySince.Load(); at != 0 && !e.ended.Load() && (found == nil || at < since) {
			found, since = e, at
		}
	}
	return found
}
