package worker_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
)

// lastEnd keeps the last end of a call.
type lastEnd struct{ event host.Event }

func (l *lastEnd) Observe(e host.Event) {
	if e.Kind == host.CallEnded {
		l.event = e
	}
}

// TestTouched looks that an observer learns what a handler touched in its worker.
func TestTouched(t *testing.T) {
	f := open(t, setup{
		policy:   permissions.Policy{FS: permissions.FSPolicy{Read: permissions.Access{Paths: []string{"a.txt"}}, Write: permissions.Access{Paths: []string{"b.txt"}}}, Store: true},
		services: runtimes.Services{Store: &mapStore{}},
		files: map[string]string{"touch.js": handlerOf(`const fs = require('fs'); fs.readFileSync('a.txt'); fs.writeFileSync('b.txt', ''); await ctx.store.set('k', 1);
			return fs.readFileSync('closed.txt')`)},
	})
	if err := os.WriteFile(filepath.Join(f.folder, "a.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	last := &lastEnd{}
	defer f.Observe(last)()
	if _, err := f.Call(t.Context(), &host.Call{Tool: "touch", Args: json.RawMessage(`{}`)}); err != nil {
		t.Fatal(err)
	}
	got := last.event.Touched
	if got == nil || !reflect.DeepEqual(got.Read, []string{"a.txt"}) || !reflect.DeepEqual(got.Written, []string{"b.txt"}) || len(got.Denied) != 1 || got.Denied[0].Target != "closed.txt" {
		t.Errorf("touched %+v", got)
	}
	if used := map[string]bool{}; got != nil {
		for _, u := range got.Used {
			used[u] = true
		}
		if !used["fs.read"] || !used["fs.write"] || !used["store"] {
			t.Errorf("used %v", got.Used)
		}
	}
	if last.event.Failure != host.FailureDenied {
		t.Errorf("the failure is %q", last.event.Failure)
	}
}
