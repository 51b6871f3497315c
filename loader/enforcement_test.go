package loader

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/permissions/sandbox"
	"github.com/toolhost/toolhost/runtimes"
)

// TestStrictRefusesWhatNobodyEnforces loads plugins on machines that can enforce less or more.
func TestStrictRefusesWhatNobodyEnforces(t *testing.T) {
	const (
		handler = `{"name":"a","permissions":{"execution":{"memory":"64MB"},"fs":{"read":{"folder":true}}},"tools":[{"id":"x","title":"X","description":"Counts the words of a text.","schema":"s.json","handler":"h.js"}]}`
		program = `{"name":"a","runtime":"process","command":["./h.js"],"permissions":{"fs":{"read":{"folder":true}},"fetch":{"static":["example.com"]}},"tools":[{"id":"x","title":"X","description":"Counts the words of a text.","schema":"s.json"}]}`
	)
	full := &sandbox.Support{OS: "linux", Landlock: 6, Seccomp: true, Namespaces: true, Network: true, Mounts: true}
	for _, c := range []struct {
		name, manifest string
		at             Place
		mode           sandbox.Mode
		support        *sandbox.Support
		want           []string // pointers of the errors
	}{
		{"handler in process", handler, InProcess, sandbox.Require, full, []string{"/permissions/execution/memory"}},
		{"handler in a confined worker", handler, InWorker, sandbox.Require, full, nil},
		{"handler in a loose worker", handler, InWorker, sandbox.BestEffort, &sandbox.Support{OS: "linux"}, []string{"/permissions/execution/memory"}},
		{"confined program", program, InChild, sandbox.Require, full, nil},
		{"program without a filter", program, InChild, sandbox.BestEffort, &sandbox.Support{OS: "linux", Landlock: 6}, []string{"/permissions/fetch/static", "/permissions/fs/read/folder", "/runtime"}},
		{"program without Landlock", program, InChild, sandbox.Require, &sandbox.Support{OS: "linux", Seccomp: true}, []string{"/permissions/fetch/static", "/permissions/fs/read/folder", "/runtime"}},
		{"program with the sandbox off", program, InChild, sandbox.Off, full, []string{"/permissions/fetch/static", "/permissions/fs/read/folder", "/runtime"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.write("a/s.json", `{"type":"object","additionalProperties":false}`)
			w.write("a/h.js", "")
			w.write("a/"+ManifestFile, c.manifest)
			rts := map[string]runtimes.Runtime{"node": w.rt, "process": openOnly{w.rt}}
			for _, strict := range []bool{false, true} {
				l := New(w.host, rts, &Options{Strict: strict, Enforced: func(m *Manifest, dir string) []Enforcement {
					if filepath.Base(dir) != "a" {
						t.Errorf("asked about %q", dir)
					}
					return Enforce(m, c.at, c.mode, c.support)
				}})
				err := l.Load(context.Background(), filepath.Join(w.dir, "a"))
				st := l.Status()[0]
				if !strict {
					if err != nil || len(st.Warnings) > 0 {
						t.Errorf("without strict: %v, warnings %v", err, st.Warnings)
					}
				} else {
					var got []string
					for _, e := range st.Errors {
						if e.Rule != ruleAdvisory || e.Line == 0 || e.Hint == "" || !strings.HasPrefix(e.Msg, "nobody holds the plugin to ") {
							t.Errorf("%+v", *e)
						}
						got = append(got, e.Pointer)
					}
					slices.Sort(got)
					if got = slices.Compact(got); !slices.Equal(got, c.want) || (err != nil) != (c.want != nil) {
						t.Errorf("strict: %v at %q, want %q", err, got, c.want)
					}
					if c.want != nil && len(w.rt.alive()) > 0 {
						t.Error("code of a refused plugin was opened")
					}
				}
				if err := l.Close(context.Background()); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// openOnly opens plugins whose tools have no handler files.
type openOnly struct{ rt *fakeRuntime }

func (o openOnly) Open(ctx context.Context, spec runtimes.Spec) (runtimes.Instance, error) {
	for i := range spec.Tools {
		spec.Tools[i].Handler = "h.js"
	}
	return o.rt.Open(ctx, spec)
}

// TestHostsOfPrograms says who holds a program to its hosts, by the protocol that it speaks.
func TestHostsOfPrograms(t *testing.T) {
	full := &sandbox.Support{OS: "linux", Landlock: 6, Seccomp: true, Namespaces: true, Network: true}
	without := &sandbox.Support{OS: "linux", Landlock: 6, Seccomp: true}
	hosts := permissions.HostPolicy{Static: []string{"example.com"}}
	for _, c := range []struct {
		protocol, rule string
		mode           sandbox.Mode
		support        *sandbox.Support
		want           Enforcer
		how            string
	}{
		{"stdio", "fetch", sandbox.Require, full, ByKernel, "which holds the host's proxy and nothing else"},
		{"mcp", "net", sandbox.Require, full, ByKernel, "which holds the host's proxy and nothing else"},
		{"stdio", "fetch", sandbox.Require, without, ByHost, "the plugin is refused"},
		{"stdio", "fetch", sandbox.BestEffort, without, ByKernel, "no network at all"},
		{"go-plugin", "fetch", sandbox.Require, full, ByHost, "the host makes the requests that it is asked for"},
		{"go-plugin", "fetch", sandbox.Require, without, ByHost, "the host makes the requests that it is asked for"},
		{"go-plugin", "net", sandbox.Require, full, ByKernel, "can only ask the host for requests"},
		{"go-plugin", "fetch", sandbox.Off, full, Advisory, "the sandbox is off"},
	} {
		m := &Manifest{Runtime: "process", Protocol: c.protocol, Policy: &permissions.Policy{Fetch: hosts, Net: hosts}}
		found := false
		for _, e := range Enforce(m, InChild, c.mode, c.support) {
			if e.Rule == c.rule {
				found = true
				if e.Enforced != c.want || !strings.Contains(e.How, c.how) {
					t.Errorf("%s, %s, mode %v: %v, %q; want %v, %q", c.protocol, c.rule, c.mode, e.Enforced, e.How, c.want, c.how)
				}
			}
		}
		if !found {
			t.Errorf("%s: nothing is said of %s", c.protocol, c.rule)
		}
	}
}
