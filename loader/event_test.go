package loader

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// observed collects what a loader tells.
type observed struct {
	mu   sync.Mutex
	list []Event
	more chan struct{} // closed at the next event; nil where nobody waits
}

func (o *observed) observe(e Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.list = append(o.list, e)
	if o.more != nil {
		close(o.more)
		o.more = nil
	}
}

// await waits until one of a kind was told of a plugin.
func (o *observed) await(t *testing.T, kind EventKind, name string) {
	t.Helper()
	late := time.After(20 * time.Second)
	for {
		o.mu.Lock()
		if o.more == nil {
			o.more = make(chan struct{})
		}
		list, more := slices.Clone(o.list), o.more
		o.mu.Unlock()
		if slices.ContainsFunc(list, func(e Event) bool { return e.Kind == kind && e.Status.Name == name }) {
			return
		}
		select {
		case <-more:
		case <-late:
			t.Fatalf("nobody was told that %s was %s:\n%s", name, kind, strings.Join(o.texts(), "\n"))
		}
	}
}

func (o *observed) events() []Event {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.list)
}

// texts gives a line an event.
func (o *observed) texts() []string {
	var list []string
	for _, e := range o.events() {
		list = append(list, fmt.Sprintf("%s %s %s revision=%d tools=%s errors=%d", e.Kind, e.Status.Name, e.Status.State, e.Status.Revision, strings.Join(e.Status.Tools, ","), len(e.Status.Errors)))
	}
	return list
}

func TestObserve(t *testing.T) {
	told := &observed{}
	w := newWorld(t, func(_ *world, o *Options) { o.Observe = told.observe })
	w.plugin("ant", "ant", "dig", "shared")
	w.plugin("bee", "bee", "fly", "shared")
	w.write("broken/"+ManifestFile, `{"name": "broken"`)
	w.loadAll()
	w.write("ant/h0.js", "deeper")
	w.load("ant")
	w.write("ant/s.json", `{"type":"nothing"}`)
	w.load("ant")
	w.load("ant") // for the same reason: nothing new to tell
	w.watch()
	w.write(".s.json", `{"type":"object","additionalProperties":false}`) // as it was
	w.rename(".s.json", "ant/s.json")                                    // at once: half of it would be another failure
	told.await(t, PluginRepaired, "ant")
	w.rename("bee", ".bee")
	told.await(t, PluginRemoved, "bee")
	w.rest()
	told.await(t, PluginLoaded, "marker-0")
	want := []string{
		"loaded ant loaded revision=1 tools=dig,shared errors=0",
		"loaded bee loaded revision=1 tools=fly errors=0",
		"failed broken failed revision=0 tools= errors=1",
		"reloaded ant loaded revision=2 tools=dig,shared errors=0",
		"failed ant loaded revision=2 tools=dig,shared errors=2",
		"repaired ant loaded revision=2 tools=dig,shared errors=0",
		"removed bee loaded revision=1 tools=fly errors=0",
		"loaded marker-0 loaded revision=1 tools=marker_0 errors=0",
	}
	if got := told.texts(); !slices.Equal(got, want) {
		t.Errorf("events:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	events := told.events()
	if s := events[1].Status.Skipped; len(s) != 1 || s[0].Tool != "shared" {
		t.Errorf("skipped = %v", s)
	}
	if e := events[2].Status.Errors[0]; e.File != ManifestFile || e.Line != 1 || e.Column == 0 {
		t.Errorf("error = %+v", e)
	}
	for i, e := range events {
		if e.Time.IsZero() || i > 0 && e.Time.Before(events[i-1].Time) {
			t.Errorf("event %d is of %v", i, e.Time)
		}
	}
}
