package runtimes

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/permissions"
)

// Services is what a host offers to the handlers of one plugin besides files. A nil member
// is something that the host does not have. All of it is safe for concurrent use, also
// after the plugin was closed. Every error is one that the handler may see: it holds no
// secret.
type Services struct {
	Settings Settings
	Store    Store
	Network  Network
	// Execute runs a command of an installed plugin for a call that runs; args is a JSON
	// value, empty where there is none.
	Execute func(ctx context.Context, call *host.Call, command string, args json.RawMessage) (*host.Result, error)
	// Complete has a model complete a prompt.
	Complete func(ctx context.Context, call *host.Call, prompt *host.Prompt) (string, error)
	// SetEnabled hides a tool of a card from agents, or shows it again; tool is the name in
	// the manifest. nil has no effect.
	SetEnabled func(ctx context.Context, tool string, enabled bool) error
}

// Returned gives what a command returned, as JSON: its value, its text where it has none; nil
// where it returned nothing. The error is that of a command that failed. result may be nil.
func Returned(command string, result *host.Result) (json.RawMessage, error) {
	if result == nil {
		return nil, nil
	}
	text := ""
	if len(result.Content) > 0 {
		text = result.Content[0].Text()
	}
	switch {
	case result.IsError:
		return nil, fmt.Errorf("command %q: %s", command, text)
	case result.Value != nil || len(result.Content) == 0:
		return result.Value, nil
	}
	return jsondoc.Marshal(text), nil
}

// Settings are the values that the user set for a plugin, or the defaults of its
// manifest. A key is the full one ("weather.unit"), or its part after the plugin's name.
type Settings interface {
	// Get gives a value as JSON; nil where the setting is not set and has no default, or
	// where there is no such setting.
	Get(ctx context.Context, key string) (json.RawMessage, error)
	// All gives the values of all settings that have one, by their full keys.
	All(ctx context.Context) (map[string]json.RawMessage, error)
}

// Store keeps JSON values of a plugin beyond its calls.
type Store interface {
	// Get gives a value; nil where there is none.
	Get(ctx context.Context, key string) (json.RawMessage, error)
	Set(ctx context.Context, key string, value json.RawMessage) error
	// Delete reports whether there was a value.
	Delete(ctx context.Context, key string) (bool, error)
	// List gives the keys that begin with prefix, in byte order.
	List(ctx context.Context, prefix string) ([]string, error)
}

// Network reaches the hosts that a call's grant allows. What the grant does not allow is a
// *permissions.DeniedError.
type Network interface {
	// Fetch sends a request and gives the response once its header is there. The caller
	// closes the body. ctx bounds the body, too.
	Fetch(ctx context.Context, grant *permissions.Grant, request *Request) (*Response, error)
	// Dial connects a client to a host and port over TCP.
	Dial(ctx context.Context, grant *permissions.Grant, host string, port int) (net.Conn, error)
}

// Request is one that a handler makes with fetch.
type Request struct {
	Method   string // "GET" where it is empty
	URL      string // absolute, http or https
	Header   http.Header
	Body     []byte // nil: no body
	Redirect string // "follow", the default, "manual" or "error"
}

// Response is the answer to a [Request].
type Response struct {
	Status     int
	StatusText string
	URL        string // after redirects
	Redirected bool
	Header     http.Header
	Body       io.ReadCloser // never nil
}

// UnsupportedError says that this host lacks what a handler asks for.
type UnsupportedError struct {
	Name string // "ctx.ai.complete"
	Hint string // what the user could do about it; may be empty
}

func (e *UnsupportedError) Error() string {
	text := fmt.Sprintf("%s is not available: this host has nothing that could do it", e.Name)
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Guard gives services of which every member does what policy allows and denies the rest;
// no member is nil. What policy allows and s does not have is an [*UnsupportedError].
// The grant of each call decides on Network, whatever policy says.
func (s Services) Guard(policy *permissions.Policy) Services {
	if policy == nil {
		policy = &permissions.Policy{}
	}
	guarded := Services{
		Settings: guardedSettings{s.Settings, policy.Settings},
		Store:    guardedStore{s.Store, policy.Store},
		Network:  s.Network,
	}
	if s.Network == nil {
		guarded.Network = noNetwork{}
	}
	if guarded.SetEnabled = s.SetEnabled; guarded.SetEnabled == nil {
		guarded.SetEnabled = func(context.Context, string, bool) error { return nil }
	}
	guarded.Execute = func(ctx context.Context, call *host.Call, command string, args json.RawMessage) (*host.Result, error) {
		if err := allowed(ctx, policy.HostTrigger, s.Execute != nil, "hostTrigger", "execute", `"hostTrigger": true`); err != nil {
			return nil, err
		}
		return s.Execute(ctx, call, command, args)
	}
	guarded.Complete = func(ctx context.Context, call *host.Call, prompt *host.Prompt) (string, error) {
		if err := allowed(ctx, policy.AIComplete, s.Complete != nil, "ai.complete", "ai.complete", `"ai": {"complete": true}`); err != nil {
			return "", err
		}
		return s.Complete(ctx, call, prompt)
	}
	return guarded
}

// allowed says why a service cannot be used; nil where it can. The grant of the call, where ctx
// carries it, notes the answer.
func allowed(ctx context.Context, declared, have bool, permission, name, rule string) error {
	grant := permissions.FromContext(ctx)
	switch {
	case !declared:
		err := &permissions.DeniedError{Op: name, Rule: `"permissions": {` + rule + `}`}
		grant.Refuse(err)
		return err
	case !have:
		return &UnsupportedError{Name: "ctx." + name}
	}
	grant.Use(permission)
	return nil
}

type guardedSettings struct {
	s        Settings
	declared bool
}

func (g guardedSettings) allowed(ctx context.Context, method string) error {
	return allowed(ctx, g.declared, g.s != nil, "settings", "settings."+method, `"settings": true`)
}

func (g guardedSettings) Get(ctx context.Context, key string) (json.RawMessage, error) {
	if err := g.allowed(ctx, "get"); err != nil {
		return nil, err
	}
	return g.s.Get(ctx, key)
}

func (g guardedSettings) All(ctx context.Context) (map[string]json.RawMessage, error) {
	if err := g.allowed(ctx, "getAll"); err != nil {
		return nil, err
	}
	return g.s.All(ctx)
}

type guardedStore struct {
	s        Store
	declared bool
}

func (g guardedStore) allowed(ctx context.Context, method string) error {
	return allowed(ctx, g.declared, g.s != nil, "store", "store."+method, `"store": true`)
}

func (g guardedStore) Get(ctx context.Context, key string) (json.RawMessage, error) {
	if err := g.allowed(ctx, "get"); err != nil {
		return nil, err
	}
	return g.s.Get(ctx, key)
}

func (g guardedStore) Set(ctx context.Context, key string, value json.RawMessage) error {
	if err := g.allowed(ctx, "set"); err != nil {
		return err
	}
	return g.s.Set(ctx, key, value)
}

func (g guardedStore) Delete(ctx context.Context, key string) (bool, error) {
	if err := g.allowed(ctx, "delete"); err != nil {
		return false, err
	}
	return g.s.Delete(ctx, key)
}

func (g guardedStore) List(ctx context.Context, prefix string) ([]string, error) {
	if err := g.allowed(ctx, "list"); err != nil {
		return nil, err
	}
	return g.s.List(ctx, prefix)
}

type noNetwork struct{}

func (noNetwork) Fetch(ctx context.Context, grant *permissions.Grant, r *Request) (*Response, error) {
	if u, err := url.Parse(r.URL); err == nil && u.Hostname() != "" {
		port := permissions.SchemePort(u.Scheme)
		if n, err := strconv.Atoi(u.Port()); err == nil {
			port = n
		}
		if _, err := grant.Fetch().Check(ctx, u.Hostname(), port); err != nil {
			return nil, err
		}
	}
	return nil, &UnsupportedError{Name: "fetch"}
}

func (noNetwork) Dial(ctx context.Context, grant *permissions.Grant, host string, port int) (net.Conn, error) {
	if _, err := grant.Net().Check(ctx, host, port); err != nil {
		return nil, err
	}
	return nil, &UnsupportedError{Name: "a network connection"}
}

var (
	_ Settings = guardedSettings{}
	_ Store    = guardedStore{}
	_ Network  = noNetwork{}
)
