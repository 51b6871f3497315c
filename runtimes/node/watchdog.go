package node

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync"
	"time"
)

// watchInterval is how often the heap is looked at while scripts run.
const watchInterval = 20 * time.Millisecond

// watchdog ends scripts that fill the memory. Go counts memory for the whole process
// only, so it takes the script that has been running longest without a pause. It cannot
// prevent one huge allocation.
type watchdog struct {
	limit uint64 // bytes of live and not yet freed objects

	mu       sync.Mutex
	engines  map[*engine]bool
	watching bool
}

// errMemory is why a script ends that filled the memory.
var errMemory = errors.New("the handler used too much memory")

func (w *watchdog) add(e *engine) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.engines == nil {
		w.engines = map[*engine]bool{}
	}
	w.engines[e] = true
	if !w.watching {
		w.watching = true
		go w.watch()
	}
}

func (w *watchdog) remove(e *engine) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.engines, e)
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
		if heap() <= w.limit {
			continue
		}
		runtime.GC() // what is garbage already does not count
		if heap() > w.limit {
			if e := w.longest(); e != nil {
				e.interrupt(fmt.Errorf("%w: the heap is above this host's limit of %d MiB; work on less at once", errMemory, w.limit>>20))
			}
		}
	}
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

// longest gives the engine that has run longest without a pause; nil where all pause.
func (w *watchdog) longest() *engine {
	w.mu.Lock()
	defer w.mu.Unlock()
	var found *engine
	var since int64
	for e := range w.engines {
		if at := e.loop.busySince.Load(); at != 0 && (found == nil || at < since) {
			found, since = e, at
		}
	}
	return found
}
