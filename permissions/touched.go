package permissions

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
)

// maxTouched is how many paths, hosts and names of each kind a grant remembers of one call.
const maxTouched = 200

// Touched is what one call did through its grant. What a process of its own did behind the
// kernel's rules is not in it.
type Touched struct {
	// Read and Written are paths below the agent's folder ("notes/a.md"), or below the
	// plugin's own with "plugin:", in the order in which they were first touched.
	Read, Written []string
	Fetched       []string // hosts, with the port where it is not the usual one
	Connected     []string // hosts and ports
	Env           []string // names of environment variables
	// Used are the permissions that let it, in the words of [Policy.Granted].
	Used   []string
	Denied []Denial
	// More is how many were left out, since there were more than 200 of their kind.
	More int
}

// Denial is one access that was refused.
type Denial struct {
	Op, Target string // as in [DeniedError]
	Rule       string // the line of the manifest that would allow it; "" where none would
	Reason     string
}

// recorder notes what a call touches. Its lists only grow, so that what was given of them stays
// as it is; they are short enough to be searched.
type recorder struct {
	on      bool // somebody wants to know
	mu      sync.Mutex
	touched *Touched // nil before the first: most calls touch nothing
}

// Record has the grant note what is touched from now on. It must be called before the grant
// is used.
func (g *Grant) Record() {
	if g != nil {
		g.noted.on = true
	}
}

// recording reports whether the grant notes what is touched.
func (g *Grant) recording() bool { return g != nil && g.noted.on }

// Touched gives what was noted up to now, to be read only; nil where nothing is.
func (g *Grant) Touched() *Touched {
	if !g.recording() {
		return nil
	}
	r := &g.noted
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.touched == nil {
		return &Touched{}
	}
	return &Touched{
		Read: slices.Clip(r.touched.Read), Written: slices.Clip(r.touched.Written),
		Fetched: slices.Clip(r.touched.Fetched), Connected: slices.Clip(r.touched.Connected),
		Env: slices.Clip(r.touched.Env), Used: slices.Clip(r.touched.Used), Denied: slices.Clip(r.touched.Denied), More: r.touched.More,
	}
}

// Refuse notes a denial that was decided elsewhere than at one of the grant's doors; it
// passes over every other error, and over what came after the end of the call.
func (g *Grant) Refuse(err error) {
	if !g.recording() || err == nil {
		return
	}
	var denied *DeniedError
	if !errors.As(err, &denied) || denied.Reason == ended {
		return
	}
	one := Denial{shorten(denied.Op), shorten(denied.Target), shorten(denied.Rule), shorten(denied.Reason)}
	r := &g.noted
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin()
	addNew(r.touched, &r.touched.Denied, one, func(d Denial) bool { return d.Op == one.Op && d.Target == one.Target })
}

// Merge notes what the same call touched through a grant in another process.
func (g *Grant) Merge(t *Touched) {
	if !g.recording() || t == nil {
		return
	}
	for _, name := range t.Read {
		g.note(readFiles, name)
	}
	for _, name := range t.Written {
		g.note(writtenFiles, name)
	}
	for _, name := range t.Env {
		g.note(variables, name)
	}
	for _, permission := range t.Used {
		g.Use(permission)
	}
	for _, d := range t.Denied {
		g.Refuse(&DeniedError{Op: d.Op, Target: d.Target, Rule: d.Rule, Reason: d.Reason})
	}
	g.noted.mu.Lock()
	defer g.noted.mu.Unlock()
	g.noted.begin()
	g.noted.touched.More += max(0, min(t.More, maxTouched))
}

// Use notes that a permission was used that is none of the grant's doors, such as "store".
func (g *Grant) Use(permission string) { g.note(used, permission) }

type grantKey struct{}

// NewContext gives a context that carries a grant which notes what is touched, for what a
// call uses besides the grant's doors.
func NewContext(ctx context.Context, g *Grant) context.Context {
	return context.WithValue(ctx, grantKey{}, g)
}

// FromContext gives the grant that a context carries; nil where it carries none.
func FromContext(ctx context.Context) *Grant {
	g, _ := ctx.Value(grantKey{}).(*Grant)
	return g
}

// note adds a name to a list of what was touched.
func (g *Grant) note(list func(*Touched) *[]string, name string) {
	if !g.recording() {
		return
	}
	name = strings.ToValidUTF8(shorten(name), "\ufffd")
	r := &g.noted
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin()
	addNew(r.touched, list(r.touched), name, func(known string) bool { return known == name })
}

// begin has something to note into. The lock is held.
func (r *recorder) begin() {
	if r.touched == nil {
		r.touched = &Touched{}
	}
}

// addNew adds one to a list of t that does not have it yet.
func addNew[T any](t *Touched, list *[]T, one T, same func(T) bool) {
	switch {
	case slices.ContainsFunc(*list, same):
	case len(*list) >= maxTouched:
		t.More++
	default:
		*list = append(*list, one)
	}
}

func readFiles(t *Touched) *[]string    { return &t.Read }
func writtenFiles(t *Touched) *[]string { return &t.Written }
func used(t *Touched) *[]string         { return &t.Used }
func fetched(t *Touched) *[]string      { return &t.Fetched }
func connected(t *Touched) *[]string    { return &t.Connected }
func variables(t *Touched) *[]string    { return &t.Env }

// noteAccess notes that what is at a place was opened for an access.
func (g *Grant) noteAccess(a access, in location) {
	if !g.recording() {
		return
	}
	path := in.folderPath
	if !in.folder {
		path = pluginPrefix + in.pluginPath
	}
	word := "fs." + a.word()
	switch a {
	case read:
		g.note(readFiles, path)
	case write:
		g.note(writtenFiles, path)
	case list:
		if g.policy.FS.List == nil {
			word = "fs.read"
		}
	default:
		return
	}
	if in.folder {
		g.Use(word)
	}
}

// Granted gives the permissions that a policy declares, one by one: "fs.read", "fs.write",
// "fs.list", "fetch HOST", "net HOST", "fetch setting KEY", "net setting KEY", "env NAME", and
// "settings", "store", "hostTrigger" and "ai.complete". Own files of the plugin need none.
func (p *Policy) Granted() []string {
	if p == nil {
		return nil
	}
	var list []string
	add := func(declared bool, name string) {
		if declared {
			list = append(list, name)
		}
	}
	anyOf := func(a Access) bool { return a.Parameter || a.Folder || len(a.Paths) > 0 }
	add(anyOf(p.FS.Read), "fs.read")
	add(anyOf(p.FS.Write), "fs.write")
	add(p.FS.List != nil && anyOf(*p.FS.List), "fs.list")
	for _, door := range []struct {
		op    string
		hosts HostPolicy
	}{{"fetch", p.Fetch}, {"net", p.Net}} {
		for _, host := range door.hosts.Static {
			add(true, door.op+" "+host)
		}
		for _, key := range door.hosts.Settings {
			add(true, door.op+" setting "+key)
		}
	}
	for _, name := range p.Env {
		add(true, "env "+name)
	}
	add(p.Settings, "settings")
	add(p.Store, "store")
	add(p.HostTrigger, "hostTrigger")
	add(p.AIComplete, "ai.complete")
	return list
}
