package loader

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/internal/suggest"
	"github.com/toolhost/toolhost/runtimes"
)

// copyArgument is the argument that picks one of several copies of a card.
const copyArgument = "card"

// CardCopy is one copy of a card that the user has made.
type CardCopy struct {
	Card string // the card's name
	ID   string // names the copy, also for its settings and its store; unique among the copies of a card
	Name string // what people and agents call it; "" is the ID
}

// copiesOf gives the copies of a card. Without any of the user's there is one, which is
// called as the card is.
func copiesOf(m *Manifest, all []CardCopy) []CardCopy {
	var own []CardCopy
	for _, k := range all {
		if k.Card != m.Name {
			continue
		}
		if k.Name == "" {
			k.Name = k.ID
		}
		own = append(own, k)
	}
	if own == nil {
		own = []CardCopy{{Card: m.Name, ID: m.Name, Name: m.DisplayName}}
	}
	return own
}

// ForCopy gives the manifest as it is for one copy of a card: its settings are named for the
// copy, except those that all copies share.
func (m *Manifest) ForCopy(id string) *Manifest {
	own, card := *m, *m.Card
	card.Copy = id
	own.Card = &card
	if own.Keeper() == m.Name {
		return &own
	}
	own.Contributes.Settings = map[string]Setting{}
	for _, s := range card.Settings {
		key := m.Name + "." + s.Key
		value := m.Contributes.Settings[key]
		if s.Scope == "instance" {
			key = own.Keeper() + "." + s.Key
		}
		own.Contributes.Settings[key] = value
	}
	return &own
}

// Keeper gives the name under which settings and stored values are kept: the plugin's, and
// for a copy of a card that the user named the copy's, "CARD@ID".
func (m *Manifest) Keeper() string {
	if m.Card == nil || m.Card.Copy == "" || m.Card.Copy == m.Name {
		return m.Name
	}
	return m.Name + "@" + m.Card.Copy
}

// cardCopies are the open copies of a card.
type cardCopies struct {
	card   string
	copies []openCopy
}

type openCopy struct {
	CardCopy
	instance runtimes.Instance
}

var (
	_ runtimes.Instance     = (*cardCopies)(nil)
	_ runtimes.StuckCounter = (*cardCopies)(nil)
)

// Handler gives a handler that has the copy which a call names run it.
func (c *cardCopies) Handler(id string) host.Handler {
	handlers := make([]host.Handler, len(c.copies))
	for i, k := range c.copies {
		handlers[i] = k.instance.Handler(id)
	}
	return host.HandlerFunc(func(ctx context.Context, call *host.Call) (*host.Result, error) {
		wanted, named, args, err := takeCopy(call.Args)
		if err != nil {
			return nil, err
		}
		i, problem := c.pick(wanted, named)
		if problem != "" {
			return host.ErrorResult(problem), nil
		}
		own := *call
		own.Args = args
		return handlers[i].Handle(ctx, &own)
	})
}

// takeCopy takes the argument away that picks a copy: the card does not know it.
func takeCopy(args json.RawMessage) (wanted string, named bool, rest json.RawMessage, err error) {
	doc, err := jsondoc.Parse(args)
	if err != nil {
		return "", false, nil, fmt.Errorf("reading the arguments: %w", err) // the host has checked them
	}
	object, _ := doc.Value.(map[string]any)
	wanted, named = object[copyArgument].(string)
	if !named {
		return "", false, args, nil
	}
	return wanted, true, doc.Apply(doc.Remove("", copyArgument)), nil
}

// pick gives the copy that is meant, or says for the model why none is.
func (c *cardCopies) pick(wanted string, named bool) (int, string) {
	if !named {
		if len(c.copies) == 1 {
			return 0, ""
		}
		return 0, fmt.Sprintf("The tool did not run: there are %d copies of the card %q. Name one of them with the argument \"card\": %s.", len(c.copies), c.card, c.list(nil))
	}
	if i := slices.IndexFunc(c.copies, func(k openCopy) bool { return k.ID == wanted }); i >= 0 {
		return i, ""
	}
	for _, equal := range []func(a, b string) bool{func(a, b string) bool { return a == b }, strings.EqualFold} {
		var found []int
		for i, k := range c.copies {
			if equal(k.Name, wanted) {
				found = append(found, i)
			}
		}
		switch {
		case len(found) == 1:
			return found[0], ""
		case len(found) > 1:
			return 0, fmt.Sprintf("The tool did not run: %d copies of the card %q are called %q. Name one of them by its id: %s.", len(found), c.card, cut(wanted), c.list(found))
		}
	}
	var names []string
	for _, k := range c.copies {
		names = append(names, k.ID, k.Name)
	}
	problem := fmt.Sprintf("The tool did not run: there is no copy %q of the card %q.", cut(wanted), c.card)
	if near := suggest.Nearest(wanted, names); near != "" {
		return 0, fmt.Sprintf("%s Did you mean %q?", problem, near)
	}
	return 0, fmt.Sprintf("%s There is %s.", problem, c.list(nil))
}

// list names copies, those with an index in which, or all.
func (c *cardCopies) list(which []int) string {
	const most = 20
	var words []string
	for i, k := range c.copies {
		if which != nil && !slices.Contains(which, i) {
			continue
		}
		if len(words) == most {
			words = append(words, "…")
			break
		}
		word := fmt.Sprintf("%q", k.ID)
		if k.Name != k.ID {
			word += fmt.Sprintf(" (%s)", k.Name)
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// Inputs gives the files that went into the copies.
func (c *cardCopies) Inputs() map[string][sha256.Size]byte {
	all := map[string][sha256.Size]byte{}
	for _, k := range c.copies {
		maps.Copy(all, k.instance.Inputs())
	}
	return all
}

// Stuck gives how many calls were ended and still run.
func (c *cardCopies) Stuck() int {
	n := 0
	for _, k := range c.copies {
		if s, ok := k.instance.(runtimes.StuckCounter); ok {
			n += s.Stuck()
		}
	}
	return n
}

// Close closes the copies at the same time.
func (c *cardCopies) Close(ctx context.Context) error {
	errs := make(chan error, len(c.copies))
	for _, k := range c.copies {
		go func() {
			var err error
			defer func() { // a panic there must not end the host
				if v := recover(); v != nil {
					err = fmt.Errorf("panic while closing: %v", v)
				}
				errs <- err
			}()
			err = k.instance.Close(ctx)
		}()
	}
	var all []error
	for range c.copies {
		all = append(all, <-errs)
	}
	return errors.Join(all...)
}

// openCopies opens every copy of a card.
func (o *opener) openCopies(ctx context.Context, p *opened, rt runtimes.Runtime, spec runtimes.Spec) (runtimes.Instance, error) {
	m := p.manifest
	open := &cardCopies{card: m.Name}
	for _, k := range copiesOf(m, o.copies) {
		own, of := spec, m.ForCopy(k.ID)
		own.Card = runtimeCard(m, k)
		own.Services = o.servicesFor(of)
		own.Services.SetEnabled = func(_ context.Context, tool string, enabled bool) error {
			if !slices.Contains(own.Card.Tools, tool) {
				return fmt.Errorf("the card has no tool %q", cut(tool))
			}
			p.visible.set(exposed(m.Name, tool), !enabled)
			return nil
		}
		if own.DataDir != "" {
			own.DataDir += strings.TrimPrefix(of.Keeper(), m.Name)
		}
		if k.ID != m.Name {
			own.Log = own.Log.With("card", k.ID)
		}
		instance, err := rt.Open(ctx, own)
		if err != nil {
			open.closeNow(o, p)
			return nil, err
		}
		open.copies = append(open.copies, openCopy{k, instance})
	}
	return open, nil
}

// closeNow closes the copies that were opened, where another one does not open.
func (c *cardCopies) closeNow(o *opener, p *opened) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if err := c.Close(ctx); err != nil {
		o.log.Warn("closing the plugin", "plugin", p.name, "err", err)
	}
}

// runtimeCard gives what a runtime is told of a copy.
func runtimeCard(m *Manifest, k CardCopy) *runtimes.Card {
	c := &runtimes.Card{Name: m.Name, DisplayName: m.Card.DisplayName, ID: k.ID, Title: k.Name, Ports: m.Card.Ports}
	if !m.Card.Headless() {
		c.Page = m.Card.Entry
	}
	for _, t := range m.Tools {
		c.Tools = append(c.Tools, t.ID)
	}
	for _, one := range m.Card.Permissions {
		c.Permissions = append(c.Permissions, runtimes.CardPermission{ID: one.ID, Hosts: one.Hosts, Optional: one.Optional, Reason: one.Reason})
	}
	for _, s := range m.Card.Settings {
		c.Settings = append(c.Settings, runtimes.CardSetting{Key: s.Key, Secret: s.Type == "secret"})
	}
	return c
}
