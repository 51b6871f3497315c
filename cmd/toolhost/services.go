package main

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/fetch"
	"github.com/toolhost/toolhost/internal/state"
	"github.com/toolhost/toolhost/loader"
	"github.com/toolhost/toolhost/runtimes"
)

// keyringVariable is an environment variable that keeps the keyring out of it when it is
// "off": for machines without a desktop, and for tests.
const keyringVariable = "TOOLHOST_KEYRING"

// openState gives the database of the state folder; nothing is opened before it is used.
func (p *program) openState(log *slog.Logger) *state.DB {
	options := &state.Options{Log: log}
	if !p.flags.keyFile && os.Getenv(keyringVariable) != "off" {
		options.Keyring = state.OSKeyring()
	}
	return state.New(p.flags.state, options)
}

// services gives what the handlers of a plugin may use besides files.
func (s *session) services(m *loader.Manifest) runtimes.Services {
	settings := s.settings(m)
	network := s.network
	if network == nil {
		network = s.client.For(secrets(m, settings))
	}
	return runtimes.Services{Settings: settings, Store: s.state.Store(m.Name), Network: network, Complete: s.complete}
}

// settings gives the settings of a plugin; those of a copy of a card are its own, and those
// that all copies share.
func (s *session) settings(m *loader.Manifest) runtimes.Settings {
	keeper := m.Keeper()
	if keeper == m.Name {
		return s.state.Settings(m.Name, declarations(m))
	}
	var own, shared []state.Declaration
	for _, d := range declarations(m) {
		if strings.HasPrefix(d.Key, keeper+".") {
			own = append(own, d)
		} else {
			shared = append(shared, d)
		}
	}
	return copySettings{s.state.Settings(keeper, own), s.state.Settings(m.Name, shared)}
}

// copySettings are those of a copy of a card.
type copySettings struct{ own, shared *state.Settings }

var _ runtimes.Settings = copySettings{}

// Get gives the copy's own value, or the one that all copies share.
func (c copySettings) Get(ctx context.Context, key string) (json.RawMessage, error) {
	if value, err := c.own.Get(ctx, key); value != nil || err != nil {
		return value, err
	}
	return c.shared.Get(ctx, key)
}

// All gives both.
func (c copySettings) All(ctx context.Context) (map[string]json.RawMessage, error) {
	all, err := c.shared.All(ctx)
	if err != nil {
		return nil, err
	}
	own, err := c.own.All(ctx)
	if err != nil {
		return nil, err
	}
	maps.Copy(all, own)
	return all, nil
}

// complete has a model complete a prompt: the one that the user has configured, else the
// agent's own, where the agent offers one.
func (s *session) complete(ctx context.Context, call *host.Call, prompt *host.Prompt) (string, error) {
	switch {
	case s.model != nil:
		return s.model.Complete(ctx, prompt)
	case call.Complete != nil:
		return call.Complete(ctx, prompt)
	}
	return "", &runtimes.UnsupportedError{
		Name: "ctx.ai.complete", Hint: `name a model under "ai" in the host's configuration, or call from an agent that offers its own`,
	}
}

// secrets gives the values that placeholders in the requests of a plugin stand for: those
// of its own secret settings.
func secrets(m *loader.Manifest, settings runtimes.Settings) fetch.Secrets {
	return func(ctx context.Context, key string) (value string, ok bool, err error) {
		declared, known := m.Contributes.Settings[key]
		if !known {
			declared, known = m.Contributes.Settings[m.Keeper()+"."+key]
		}
		if !known {
			declared = m.Contributes.Settings[m.Name+"."+key]
		}
		if !declared.Secret {
			return "", false, nil
		}
		raw, err := settings.Get(ctx, key)
		if err != nil || raw == nil {
			return "", false, err
		}
		if json.Unmarshal(raw, &value) != nil {
			value = string(raw) // a number
		}
		return value, value != "", nil
	}
}

var (
	_ runtimes.Settings = (*state.Settings)(nil)
	_ runtimes.Store    = (*state.Store)(nil)
)

// declarations gives the settings of a manifest in the order in which they are shown.
func declarations(m *loader.Manifest) []state.Declaration {
	keys := slices.SortedFunc(maps.Keys(m.Contributes.Settings), func(a, b string) int {
		return cmp.Or(cmp.Compare(m.Contributes.Settings[a].Order, m.Contributes.Settings[b].Order), cmp.Compare(a, b))
	})
	list := make([]state.Declaration, len(keys))
	for i, key := range keys {
		s := m.Contributes.Settings[key]
		list[i] = state.Declaration{
			Key: key, Type: s.Type, Enum: s.Enum, Default: s.Default, Required: s.Required, Secret: s.Secret,
			Bounds: state.Bounds{Min: s.Min, Max: s.Max, Length: s.MaxLength, Color: s.Color},
		}
	}
	return list
}
