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

// recorder notes what a call touches.
type recorder struct {
	mu      sync.Mutex
	touched *Touched        // nil before the first: most calls touch nothing
	known   map[string]bool // what was noted, by kind; nil before the first
}

// Record has the grant note what is touched from now on. It must be called before the grant
// is used.
func (g *Grant) Record() {
	if g != nil && g.noted == nil {
		g.noted = &recorder{}
	}
}

// Touched gives what was noted up to now; nil where nothing is.
func (g *Grant) Touched() *Touched {
	if g == nil || g.noted == nil {
		return nil
	}
	r := g.noted
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.touched == nil {
		return &Touched{}
	}
	return &Touched{
		Read: slices.Clone(r.touched.Read), Written: slices.Clone(r.touched.Written),
		Fetched: slices.Clone(r.touched.Fetched), Connected: slices.Clone(r.touched.Connected),
		Env: slices.Clone(r.touched.Env), Used: slices.Clone(r.touched.Used), Denied: slices.Clone(r.touched.Denied), More: r.touched.More,
	}
}

// Refuse notes a denial that was decided elsewhere than at one of the grant's doors; it
// passes over every other error, and over what came after the end of the call.
func (g *Grant) Refuse(err error) {
	if g == nil || g.noted == nil || err == nil {
		return
	}
	var denied *DeniedError
	if !errors.As(err, &denied) || denied.Reason == ended {
		return
	}
	r := g.noted
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin()
	if r.isNew("denied "+denied.Op+" ", denied.Target, len(r.touched.Denied)) {
		r.touched.Denied = append(r.touched.Denied, Denial{shorten(denied.Op), shorten(denied.Target), shorten(denied.Rule), shorten(denied.Reason)})
	}
}

// Merge notes what the same call touched through a grant in another process.
func (g *Grant) Merge(t *Touched) {
	if g == nil || g.noted == nil || t == nil {
		return
	}
	for _, name := range t.Read {
		g.note("read ", readFiles, name)
	}
	for _, name := range t.Written {
		g.note("written ", writtenFiles, name)
	}
	for _, name := range t.Env {
		g.note("env ", variables, name)
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
func (g *Grant) Use(permission string) { g.note("used ", used, permission) }

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
func (g *Grant) note(kind string, list func(*Touched) *[]string, name string) {
	if g == nil || g.noted == nil {
		return
	}
	r := g.noted
	r.mu.Lock()
	defer r.mu.Unlock()
	r.begin()
	into := list(r.touched)
	if r.isNew(kind, name, len(*into)) {
		*into = append(*into, strings.ToValidUTF8(shorten(name), "\ufffd"))
	}
}

// begin has something to note into. The lock is held.
func (r *recorder) begin() {
	if r.touched == nil {
		r.touched = &Touched{}
	}
}

// isNew reports whether something is to be noted of which n are there already.
func (r *recorder) isNew(kind, name string, n int) bool {
	key := kind + name
	if r.known[key] {
		return false
	}
	if n >= maxTouched {
		r.touched.More++
		return false
	}
	if r.known == nil {
		r.known = map[string]bool{}
	}
	r.known[key] = true
	return true
}

func readFiles(t *Touched) *[]string    { return &t.Read }
func writtenFiles(t *Touched) *[]string { return &t.Written }
func used(t *Touched) *[]string         { return &t.Used }
func fetched(t *Touched) *[]string      { return &t.Fetched }
func connected(t *Touched) *[]string    { return &t.Connected }
func variables(t *Touched) *[]string    { return &t.Env }

// noteAccess notes that what is at a place was opened for an access.
func (g *Grant) noteAccess(a access, in location) {
	if g == nil || g.noted == nil {
		return
	}
	path := in.folderPath
	if !in.folder {
		path = pluginPrefix + in.pluginPath
	}
	word := "fs." + a.word()
	switch a {
	case read:
		g.note("read ", readFiles, path)
	case write:
		g.note("written ", writtenFiles, path)
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
