package permissions

import (
	"errors"
	"testing"
)

// A handler may put any place into the arguments of a call that it makes: they name what it may
// touch itself, and no more.
func TestResolveFor(t *testing.T) {
	top := lay(t, map[string]string{"named.txt": "n", "other.txt": "o", "in/a.txt": "a", "in/drafts/b.txt": "b", "to.txt": "-> other.txt"})
	parameter, folder := Access{Parameter: true}, Access{Folder: true}
	both := FSPolicy{Read: parameter, Write: parameter}
	for name, tt := range map[string]struct {
		caller, callee FSPolicy
		by             []string // what the agent's arguments name
		argument, file string
		read, write    bool
	}{
		"named by the agent":        {both, both, []string{"named.txt"}, "named.txt", "named.txt", true, true},
		"named by the handler":      {both, both, []string{"named.txt"}, "other.txt", "other.txt", false, false},
		"to be made":                {both, both, []string{"named.txt"}, "new.txt", "new.txt", false, false},
		"the folder":                {both, both, []string{"named.txt"}, ".", "other.txt", false, false},
		"in a named folder":         {both, both, []string{"in"}, "in/a.txt", "in/a.txt", true, true},
		"around what was named":     {both, both, []string{"in/a.txt"}, "in", "in/drafts/b.txt", false, false},
		"by a link":                 {both, both, []string{"named.txt"}, "to.txt", "other.txt", false, false},
		"by a link to named":        {both, both, []string{"other.txt"}, "to.txt", "other.txt", false, false},
		"all for reading":           {FSPolicy{Read: folder}, FSPolicy{Read: parameter}, nil, "other.txt", "other.txt", true, false},
		"all for reading, to write": {FSPolicy{Read: folder}, both, nil, "other.txt", "other.txt", false, false},
		"all of both":               {FSPolicy{Read: folder, Write: folder}, both, nil, "other.txt", "other.txt", true, true},
		"nothing":                   {FSPolicy{}, both, []string{"named.txt"}, "named.txt", "named.txt", false, false},
		"globs":                     {FSPolicy{Read: Access{Paths: []string{"*"}}}, FSPolicy{Read: parameter}, nil, "in", "in/a.txt", false, false},
		"denied":                    {FSPolicy{Read: Access{Folder: true, Deny: []string{"in/drafts"}}}, FSPolicy{Read: parameter}, nil, "in", "in/drafts/b.txt", false, false},
		"listed":                    {FSPolicy{Read: folder, List: &Access{}}, FSPolicy{Read: parameter}, nil, "in", "in/a.txt", false, false},
		"globs of the callee":       {FSPolicy{}, FSPolicy{Read: Access{Paths: []string{"*.txt"}, Parameter: true}}, nil, "other.txt", "other.txt", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			var by []Argument
			for _, n := range tt.by {
				by = append(by, Argument{Value: n, Marked: true})
			}
			caller := grant(t, &Policy{FS: tt.caller}, top, by...)
			callee := &Policy{FS: tt.callee}
			g, err := callee.ResolveFor(caller, top, []Argument{{Value: tt.argument}})
			if err != nil {
				t.Fatal(err)
			}
			defer g.Revoke()
			if err := g.FS().Access(tt.file, true, false); err == nil != tt.read {
				t.Errorf("reading: %v", err)
			}
			if err := g.FS().MayWriteFile(tt.file); err == nil != tt.write {
				t.Errorf("writing: %v", err)
			}
		})
	}

	policy := &Policy{FS: FSPolicy{Read: Access{Parameter: true, Deny: []string{"in/drafts"}}}}
	caller := grant(t, policy, top, Argument{Value: "in"})
	var wrong *ArgumentError
	if _, err := policy.ResolveFor(caller, top, []Argument{{Pointer: "/path", Value: "other.txt", Marked: true}}); !errors.As(err, &wrong) {
		t.Errorf("got %v", err)
	}
	own, err := policy.ResolveFor(caller, top, []Argument{{Value: "in", Marked: true}}) // with its own deny rules
	if err != nil {
		t.Fatal(err)
	}
	defer own.Revoke()
	for file, want := range map[string]string{"in/a.txt": "ok", "in/drafts/b.txt": "denied"} {
		if _, err := readText(own.FS(), file); outcome(err) != want {
			t.Errorf("%s: %v", file, err)
		}
	}
	caller.Revoke()
	if _, err := policy.ResolveFor(caller, top, []Argument{{Value: "in", Marked: true}}); !errors.As(err, &wrong) {
		t.Errorf("after its end: %v", err)
	}
}
