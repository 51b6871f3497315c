// Package testhost helps tests to load plugin folders into a host, with the real loader
// and the real runtimes, and to run the cases that plugins bring along.
//
//	h := testhost.New(t, t.TempDir(), "../plugins/word-count")
//	testhost.RunCases(t, "../plugins/word-count")
//
// Both fail the test where a plugin does not load cleanly. Cases that need settings or
// responses of hosts are for "toolhost test". Where plugins are programs, TestMain must
// begin with child.Main.
package testhost

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/plugintest"
	"github.com/toolhost/toolhost/loader"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/node"
	"github.com/toolhost/toolhost/runtimes/process"
)

// New gives a host whose agent's folder is folder, with the plugins of dirs loaded. A
// plugin that does not load, or not without a warning, fails the test.
func New(t testing.TB, folder string, dirs ...string) *host.Host {
	t.Helper()
	h := host.New(&host.Options{Folder: folder})
	l := loader.New(h, map[string]runtimes.Runtime{"node": node.New(nil), "process": process.New(nil)}, &loader.Options{Dirs: dirs})
	t.Cleanup(func() {
		// The test's own context has ended by now.
		if err := l.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := h.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if err := l.LoadAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, s := range l.Status() {
		for _, e := range slices.Concat(s.Errors, s.Warnings) {
			t.Errorf("plugin %s: %s (%s)", s.Name, e, e.Hint)
		}
		for _, c := range s.Skipped {
			t.Errorf("plugin %s: %s", s.Name, c)
		}
	}
	if t.Failed() {
		t.FailNow()
	}
	return h
}

// RunCases loads a plugin folder and runs the cases in its folder tests, of which there
// must be one for each tool at least.
func RunCases(t *testing.T, dir string) {
	t.Helper()
	cases, err := plugintest.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	h := New(t, t.TempDir(), dir)
	untested := map[string]bool{}
	for _, tool := range h.Tools() {
		untested[tool.Name] = true
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			delete(untested, c.Tool)
			outcome, err := c.Run(t.Context(), h, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range outcome.Problems {
				t.Error(p)
			}
		})
	}
	for _, name := range slices.Sorted(maps.Keys(untested)) {
		t.Errorf("tool %s has no case in %s", name, filepath.Join(dir, plugintest.Folder))
	}
}
