package plugin

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	pb "github.com/toolhost/toolhost/runtimes/process/plugin/pluginpb"
)

// Handler runs the calls of a tool. What it returns goes to the agent: a string as it is,
// nil as "OK", a [Result] block by block, any other value as JSON. An error is a failed
// result with its text. ctx ends when the call is cancelled and at its deadline; what a
// handler returns later is dropped.
type Handler func(ctx context.Context, call *Call) (any, error)

// Call is one call of a tool. It is good until its handler returns, and safe for
// concurrent use.
type Call struct {
	ID   string
	Tool string
	// Args is a JSON object that fits the tool's schema. Paths in it are absolute.
	Args      json.RawMessage
	AgentID   string
	AgentName string
	// Folder is the agent's folder; "" where it has none.
	Folder string
	// Deadline is when the agent gets its answer in any case; zero for never.
	Deadline time.Time
	// Log is the host's log, for this call.
	Log *slog.Logger

	stream *stream
}

// Decode decodes the arguments into a struct, as [json.Unmarshal] does.
func (c *Call) Decode(into any) error {
	if err := json.Unmarshal(c.Args, into); err != nil {
		return fmt.Errorf("reading the arguments: %w", err)
	}
	return nil
}

// Progress tells the agent how far the call has come. Hosts pass on a few a second, and
// some agents show none: no result may depend on it.
func (c *Call) Progress(message string) {
	c.stream.send(&pb.ToHost{Message: &pb.ToHost_Progress{Progress: &pb.Progress{Message: valid(message)}}})
}

// Complete has the model that the user has configured complete a prompt. The manifest
// needs "permissions": {"ai": {"complete": true}}.
func (c *Call) Complete(ctx context.Context, prompt string) (string, error) {
	var text string
	err := c.stream.ask(ctx, "ai.complete", map[string]string{"prompt": prompt}, &text)
	return text, err
}

// Execute runs a command of an installed plugin and gives what it returned; args may be
// nil. The manifest needs "permissions": {"hostTrigger": true}.
func (c *Call) Execute(ctx context.Context, command string, args any) (json.RawMessage, error) {
	var result json.RawMessage
	err := c.stream.ask(ctx, "execute", map[string]any{"command": command, "args": args}, &result)
	return result, err
}

// Settings are the values that the user has set for the plugin. The manifest needs
// "permissions": {"settings": true}.
func (c *Call) Settings() Settings { return Settings{c.stream} }

// Store keeps JSON values of the plugin beyond its calls. The manifest needs
// "permissions": {"store": true}.
func (c *Call) Store() Store { return Store{c.stream} }

// Settings are the values that the user has set for a plugin, or the defaults of its
// manifest. A key is the full one ("weather.unit"), or its part after the plugin's name.
type Settings struct{ stream *stream }

// Get decodes a setting; false where it is not set and has no default.
func (s Settings) Get(ctx context.Context, key string, into any) (bool, error) {
	return s.stream.get(ctx, "settings.get", key, into)
}

// All gives all settings that have a value.
func (s Settings) All(ctx context.Context) (map[string]json.RawMessage, error) {
	var all map[string]json.RawMessage
	err := s.stream.ask(ctx, "settings.getAll", nil, &all)
	return all, err
}

// Store keeps JSON values of a plugin.
type Store struct{ stream *stream }

// Get decodes a value; false where there is none.
func (s Store) Get(ctx context.Context, key string, into any) (bool, error) {
	return s.stream.get(ctx, "store.get", key, into)
}

// Set keeps a value, which must marshal to JSON.
func (s Store) Set(ctx context.Context, key string, value any) error {
	return s.stream.ask(ctx, "store.set", map[string]any{"key": key, "value": value}, nil)
}

// Delete reports whether there was a value.
func (s Store) Delete(ctx context.Context, key string) (bool, error) {
	var had bool
	err := s.stream.ask(ctx, "store.delete", map[string]string{"key": key}, &had)
	return had, err
}

// List gives the keys that begin with prefix, in byte order.
func (s Store) List(ctx context.Context, prefix string) ([]string, error) {
	var keys []string
	err := s.stream.ask(ctx, "store.list", map[string]string{"prefix": prefix}, &keys)
	return keys, err
}
