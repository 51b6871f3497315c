package host

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"sync"
)

// claims is what all owners ask for. The table is a pure function of it.
type claims struct {
	next    int // the next place in line
	owners  []*ownerClaims
	claimed map[string]int // how many owners claim each name
}

type ownerClaims struct {
	owner  string
	source Source
	place  int // when the owner was first registered
	tools  []*Tool
	// since says for each name when the owner first claimed it. It is kept apart from
	// place: a name that a reload adds stands behind those who had it before.
	since map[string]int
}

// replace gives what owner claims now; fresh reports whether it had nothing before.
func (c *claims) replace(owner string, source Source, tools []*Tool) (o *ownerClaims, fresh bool) {
	i := slices.IndexFunc(c.owners, func(o *ownerClaims) bool { return o.owner == owner && o.source == source })
	if fresh = i < 0; fresh {
		c.next++
		c.owners = append(c.owners, &ownerClaims{owner: owner, source: source, place: c.next})
		i = len(c.owners) - 1
	}
	o = c.owners[i]
	c.name(o, tools)
	since := make(map[string]int, len(tools))
	for _, t := range tools {
		if _, twice := since[t.claim()]; twice {
			continue
		}
		if at, had := o.since[t.claim()]; had {
			since[t.claim()] = at
			continue
		}
		c.next++
		since[t.claim()] = c.next
	}
	c.count(o.since, -1)
	c.count(since, 1)
	o.tools, o.since = tools, since
	return o, fresh
}

// count counts names that are claimed, or not any more.
func (c *claims) count(names map[string]int, by int) {
	if c.claimed == nil {
		c.claimed = map[string]int{}
	}
	for name := range names {
		if c.claimed[name] += by; c.claimed[name] == 0 {
			delete(c.claimed, name)
		}
	}
}

// refuse says why tools cannot be taken that take a suffix: the names of built-in and host
// tools are not to be mistaken for theirs.
func (c *claims) refuse(source Source, tools []*Tool) error {
	var wrong []error
	for _, t := range tools {
		if !t.Suffix {
			continue
		}
		for _, o := range c.owners {
			if _, has := o.since[t.claim()]; has && o.source < source {
				wrong = append(wrong, fmt.Errorf("the tool name %q is that of a %s tool", t.Name, o.source))
			}
		}
	}
	return errors.Join(wrong...)
}

// name gives the tools with Suffix their names: the ones that they have, else the first that
// nobody claims.
func (c *claims) name(o *ownerClaims, tools []*Tool) {
	if !slices.ContainsFunc(tools, func(t *Tool) bool { return t.Suffix }) {
		return // and the names of all others need not be looked at
	}
	had := map[string]string{}
	for _, t := range o.tools {
		if t.Suffix {
			had[t.asked] = t.Name
		}
	}
	taken := map[string]bool{}
	for _, other := range c.owners {
		if other == o {
			continue
		}
		for name := range other.since {
			taken[name] = true
		}
	}
	for _, t := range tools { // a name that stays is nobody else's to take, whatever the order is
		if name := had[t.Name]; t.Suffix && name != "" {
			taken[name] = true
		}
	}
	for _, t := range tools {
		if !t.Suffix {
			taken[t.claim()] = true
			continue
		}
		t.asked = t.Name
		if name := had[t.asked]; name != "" {
			t.Name = name
			delete(had, t.asked) // a second tool of that name gets another one
			continue
		}
		for n := 2; taken[t.Name]; n++ {
			t.Name = suffixed(t.asked, n)
		}
		taken[t.Name] = true
	}
}

// maxName is how many bytes a tool's name has at most.
const maxName = 64

// suffixed gives a name with _2 and so on, within the length of names.
func suffixed(name string, n int) string {
	suffix := "_" + strconv.Itoa(n)
	return name[:min(len(name), maxName-len(suffix))] + suffix
}

// hide reports whether that changed anything.
func (c *claims) hide(owner, name string, hidden bool) bool {
	changed := false
	for _, o := range c.owners {
		if o.owner != owner {
			continue
		}
		o.tools = slices.Clone(o.tools) // the table holds the tools of before
		for i, t := range o.tools {
			if t.Hidden == hidden || t.ownName() != name {
				continue
			}
			other := *t
			other.Hidden = hidden
			o.tools[i], changed = &other, true
		}
	}
	return changed
}

// ownName is the name that its owner gave a tool.
func (t *Tool) ownName() string {
	if t.Suffix {
		return t.asked
	}
	return t.Name
}

func (c *claims) given(owner string) map[string]string {
	names := map[string]string{}
	for _, o := range c.owners {
		if o.owner != owner {
			continue
		}
		for _, t := range o.tools {
			names[t.ownName()] = t.Name
		}
	}
	return names
}

// remove reports whether a tool stayed out, or may come in now: of a name that goes there were two.
func (c *claims) remove(owner string) (contested bool) {
	c.owners = slices.DeleteFunc(c.owners, func(o *ownerClaims) bool {
		if o.owner != owner {
			return false
		}
		c.count(o.since, -1)
		contested = contested || len(o.since) < len(o.tools)
		for name := range o.since {
			contested = contested || c.claimed[name] > 0
		}
		return true
	})
	return contested
}

// table is what readers see: one immutable snapshot.
type table struct {
	order    []Registered
	commands []Registered // in registration order
	skipped  []*ConflictError

	index  sync.Once // makes byName, when somebody looks for a name
	byName map[string]Registered
}

// find gives the tool of a name.
func (t *table) find(name string) (Registered, bool) {
	t.index.Do(func() {
		t.byName = make(map[string]Registered, len(t.order))
		for _, r := range t.order {
			t.byName[r.Name] = r
		}
	})
	r, ok := t.byName[name]
	return r, ok
}

// with gives the table that has the tools of a new owner besides; nil where it has to be made
// from all claims, since they do not just stand behind all others. While a thousand plugins are
// loaded, each table would be made from all before otherwise.
func (t *table) with(c *claims, o *ownerClaims, disabled map[string]bool, offer func(Registered) bool) *table {
	if len(o.since) < len(o.tools) { // a name twice
		return nil
	}
	for _, other := range c.owners {
		if other == o {
			continue
		}
		if other.source > o.source || other.owner == o.owner {
			return nil
		}
	}
	for name := range o.since {
		if c.claimed[name] > 1 {
			return nil
		}
	}
	// The slices may share what lies behind them: this is the only table that goes on from t.
	u := &table{order: t.order, commands: t.commands, skipped: t.skipped}
	for _, tool := range o.tools {
		u.add(o, tool, disabled, offer)
	}
	return u
}

// without gives the table that lacks an owner with whose names nobody else has to do. A host that
// ends takes its plugins away one after the other.
func (t *table) without(owner string) *table {
	its := func(r Registered) bool { return r.Owner == owner }
	return &table{
		order: slices.DeleteFunc(slices.Clone(t.order), its), commands: slices.DeleteFunc(slices.Clone(t.commands), its), skipped: t.skipped,
	}
}

// add puts a tool at the end.
func (t *table) add(o *ownerClaims, tool *Tool, disabled map[string]bool, offer func(Registered) bool) {
	r := Registered{Tool: tool, Owner: o.owner, Source: o.source, Enabled: !disabled[tool.Name] && !tool.Hidden}
	switch {
	case tool.Command:
		t.commands = append(t.commands, r)
	case offer == nil || offer(r):
		t.order = append(t.order, r)
	}
}

func (c *claims) table(disabled map[string]bool, offer func(Registered) bool) *table {
	owners := slices.Clone(c.owners)
	slices.SortFunc(owners, func(a, b *ownerClaims) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.place, b.place))
	})
	names := 0
	for _, o := range owners {
		names += len(o.tools)
	}
	holders := make(map[string]*ownerClaims, names)
	for _, o := range owners {
		for _, tool := range o.tools {
			if h := holders[tool.claim()]; h == nil || o.precedes(h, tool.claim()) {
				holders[tool.claim()] = o
			}
		}
	}
	t := &table{}
	taken := make(map[string]bool, len(holders))
	for _, o := range owners {
		for _, tool := range o.tools {
			if h := holders[tool.claim()]; h != o || taken[tool.claim()] {
				t.skipped = append(t.skipped, &ConflictError{Tool: tool.Name, Owner: o.owner, TakenBy: h.title()})
				continue
			}
			taken[tool.claim()] = true
			t.add(o, tool, disabled, offer)
		}
	}
	return t
}

// claim is the name that a tool asks for; tools and commands have names apart.
func (t *Tool) claim() string {
	if t.Command {
		return "command " + t.Name // no tool's name has a space
	}
	return t.Name
}

// precedes reports whether o has the better claim to a name that both want.
func (o *ownerClaims) precedes(h *ownerClaims, name string) bool {
	return o.source < h.source || o.source == h.source && o.since[name] < h.since[name]
}

func (o *ownerClaims) title() string {
	if o.source == BuiltIn {
		return "built-in"
	}
	return o.source.String() + " " + o.owner
}

// looksLike reports whether agents see the same list in both.
func (t *table) looksLike(u *table) bool {
	return slices.EqualFunc(t.order, u.order, func(a, b Registered) bool {
		return a.Tool == b.Tool && a.Enabled == b.Enabled ||
			a.Name == b.Name && a.Title == b.Title && a.Description == b.Description && a.Enabled == b.Enabled &&
				a.Owner == b.Owner && bytes.Equal(a.InputSchema, b.InputSchema) && bytes.Equal(a.OutputSchema, b.OutputSchema) &&
				reflect.DeepEqual(a.Annotations, b.Annotations) && slices.Equal(a.Extensions, b.Extensions)
	})
}
