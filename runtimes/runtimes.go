// Package runtimes says what a runtime must do: open a plugin, and give a
// [host.Handler] for each of its tools.
//
//	instance, err := rt.Open(ctx, runtimes.Spec{
//		Plugin: "greeter", Dir: dir, Policy: policy, Log: log,
//		Tools: []runtimes.Tool{{ID: "greet", Handler: "greet.js"}},
//	})
//	result, err := instance.Handler("greet").Handle(ctx, call)
//	err = instance.Close(ctx)
//
// A [Runtime] opens a [Spec] and gives an [Instance]. What the plugin's author got wrong
// is a [LoadError]. Package runtimestest has the contract as a test.
package runtimes

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"strings"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
)

// The names of manifests in the folders of Filer plugins and of cards.
const (
	ManifestFile = "filer-plugin.json"
	CardFile     = "neurosquad-card.json"
)

// LeastEngineMemory is how much memory, in bytes, a process has at least that runs a
// JavaScript engine, whatever the manifest states.
const LeastEngineMemory = 256 << 20

// Spec is what a runtime is given to open a plugin.
type Spec struct {
	Plugin  string // the plugin's id
	Version string // from the manifest; may be empty
	Dir     string // the plugin's folder, absolute, links resolved
	Tools   []Tool
	Policy  *permissions.Policy
	// Services are what the host offers; [Spec.WithDefaults] guards them by Policy.
	Services Services
	// DataDir is the plugin's private folder, which a child process may write; it may not
	// exist yet. "" where the host keeps none.
	DataDir string
	// Memory is how many bytes a process of the plugin may use; 0 where the manifest states none.
	Memory int64
	// Foreign says that the plugin was installed from elsewhere: its code is a stranger's.
	Foreign bool

	// Sums are those of what was read of the plugin before it is opened, its manifest and
	// schemas: what a runtime keeps of a plugin between runs of the host is kept for these.
	Sums map[string][sha256.Size]byte

	// Of the runtime "node":
	State  string // "call", which "" counts as, or "plugin"
	Engine string // "goja", which "" counts as, or "node"
	Card   *Card  // nil where the plugin is no card; a card's State is "plugin"

	// Of the runtime "process":
	Command   []string // the program and its arguments, as written
	Protocol  string   // "stdio", which "" counts as, "go-plugin" or "mcp"
	KeepAlive bool
	// Log takes what the plugin logs; it has the key plugin already.
	Log *slog.Logger
}

// WithDefaults gives the spec as a runtime uses it: with a log, and with services that do
// what Policy allows. Doing it twice changes nothing.
func (s Spec) WithDefaults() Spec {
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
	}
	s.Services = s.Services.Guard(s.Policy)
	return s
}

// Tool is one tool of a plugin, as its manifest declares it.
type Tool struct {
	ID      string
	Handler string // slash path of the handler module below Dir
	Field   string // JSON pointer of the handler field in the manifest, for reports
}

// Runtime opens plugins. It is safe for concurrent use.
type Runtime interface {
	// Open opens a plugin. The context bounds the opening only. Where it fails it
	// leaves nothing behind; mistakes of the plugin's author are a *LoadError.
	Open(ctx context.Context, spec Spec) (Instance, error)
}

// Instance is an open plugin. It is safe for concurrent use.
type Instance interface {
	// Handler gives the handler of a tool of the Spec. After Close its Handle
	// returns host.ErrHandlerClosed.
	Handler(id string) host.Handler
	// Inputs gives the files that went into the instance, as slash paths below Spec.Dir,
	// each with the SHA-256 of what was read of it, or the [Sum] of one that is too large to
	// be read. Where one of them changes the plugin is opened anew.
	Inputs() map[string][sha256.Size]byte
	// Close takes no new calls, waits for the running ones, then stops. When ctx
	// ends it stops without waiting for more, and returns ctx's error.
	Close(ctx context.Context) error
}

// StuckCounter is an [Instance] that counts the calls which were ended and still run, since
// nothing can stop what they do. A plugin with three of them takes no more calls until it is
// opened anew.
type StuckCounter interface {
	Stuck() int
}

// SchemaSource is an [Instance] whose tools have schemas of their own, as those of an MCP
// server do.
type SchemaSource interface {
	// Schemas gives them by the ids of tools; nil where the plugin's tools have none. It is
	// asked once, for a plugin of which a tool has no schema in its manifest. What is wrong
	// with the plugin is a *LoadError.
	Schemas(ctx context.Context) (map[string]Schemas, error)
}

// Schemas are those of one tool. They come from the plugin's program: anything may be in
// them.
type Schemas struct {
	Input, Output []byte // JSON Schemas; nil where there is none
}

// LoadError holds all the author's mistakes for which a plugin was not opened.
type LoadError struct{ Problems []Problem }

// Problem is one mistake in a plugin's code.
type Problem struct {
	File         string // slash path below the plugin's folder
	Line, Column int    // from 1; 0 where not known
	// Field is a JSON pointer in the manifest: where Line is 0 its place is shown. "" for none.
	Field   string
	Message string // what is wrong, lower case, no full stop
	Hint    string // what to do about it; may be empty
}

func (e *LoadError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// String gives `handler.js:2:1: message`.
func (p Problem) String() string {
	switch {
	case p.File == "":
		return p.Message
	case p.Line == 0:
		return p.File + ": " + p.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}
