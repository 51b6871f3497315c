package host

import (
	"bytes"
	"cmp"
	"reflect"
	"slices"
)

// claims is what all owners ask for. The table is a pure function of it.
type claims struct {
	next   int // the next place in line
	owners []*ownerClaims
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

func (c *claims) replace(owner string, source Source, tools []*Tool) {
	i := slices.IndexFunc(c.owners, func(o *ownerClaims) bool { return o.owner == owner && o.source == source })
	if i < 0 {
		c.next++
		c.owners = append(c.owners, &ownerClaims{owner: owner, source: source, place: c.next})
		i = len(c.owners) - 1
	}
	o := c.owners[i]
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
	o.tools, o.since = tools, since
}

func (c *claims) remove(owner string) {
	c.owners = slices.DeleteFunc(c.owners, func(o *ownerClaims) bool { return o.owner == owner })
}

// table is what readers see: one immutable snapshot.
type table struct {
	order    []Registered
	byName   map[string]Registered
	commands []Registered // in registration order
	skipped  []*ConflictError
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
	t := &table{byName: make(map[string]Registered, len(holders))}
	taken := make(map[string]bool, len(holders))
	for _, o := range owners {
		for _, tool := range o.tools {
			if h := holders[tool.claim()]; h != o || taken[tool.claim()] {
				t.skipped = append(t.skipped, &ConflictError{Tool: tool.Name, Owner: o.owner, TakenBy: h.title()})
				continue
			}
			taken[tool.claim()] = true
			r := Registered{Tool: tool, Owner: o.owner, Source: o.source, Enabled: !disabled[tool.Name]}
			if tool.Command {
				t.commands = append(t.commands, r)
				continue
			}
			if offer != nil && !offer(r) {
				continue
			}
			t.byName[tool.Name] = r
			t.order = append(t.order, r)
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
