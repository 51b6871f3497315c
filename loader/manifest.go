// Package loader turns plugin folders into tools. A plugin is a folder with a
// filer-plugin.json, or a card with a neurosquad-card.json; [ParseManifest] reads one and reports all of its author's mistakes
// at once, each with its place and its fix. A [Loader] finds plugins, compiles their
// schemas, opens them in their runtimes and registers their tools:
//
//	l := loader.New(h, map[string]runtimes.Runtime{"node": rt}, &loader.Options{Dirs: []string{"plugins"}})
//	err := l.LoadAll(ctx)
//	…
//	err = l.Close(ctx)
//
// A plugin that does not load never harms another. A plugin that is loaded again is
// opened beside its old instance and swapped in one step; where that fails the old one
// goes on serving. [Check] finds everything that is wrong with a plugin without
// registering it.
//
// The loader knows no concrete runtime; it is given those there are.
package loader

import (
	"encoding/json"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
)

// The kinds of plugins, by their manifests.
const (
	KindFiler = "filer" // a Filer plugin: [ManifestFile]
	KindCard  = "card"  // a NeuroSquad card: [CardFile]
)

// Manifest is a plugin's manifest. Fields that this host does not act on are kept. Of a
// card's it holds what means the same; the rest is in Card.
type Manifest struct {
	Kind string `json:"-"` // KindFiler or KindCard
	Card *Card  `json:"-"` // nil where it is no card's

	Schema       string   `json:"$schema"`
	Name         string   `json:"name"` // or what the manifest has as id
	DisplayName  string   `json:"displayName"`
	Version      string   `json:"version"`
	Description  string   `json:"description"`
	Author       Author   `json:"author"`
	License      string   `json:"license"`
	Keywords     []string `json:"keywords"`
	Icon         string   `json:"icon"`
	Repository   string   `json:"repository"`
	Category     string   `json:"category"`
	Capabilities []string `json:"capabilities"`
	Bundled      bool     `json:"bundled"`
	Engines      Engines  `json:"engines"`

	Runtime   string  `json:"runtime"`   // "node" or "process"
	Command   Strings `json:"command"`   // process: the program and its arguments
	KeepAlive bool    `json:"keepAlive"` // process
	Protocol  string  `json:"protocol"`  // process: "stdio", "go-plugin" or "mcp"
	State     string  `json:"state"`     // node: "call" or "plugin"
	Engine    string  `json:"engine"`    // node: "goja" or "node"

	// Policy is what the manifest's permissions ask for. Its Root is not set.
	Policy *permissions.Policy `json:"-"`
	// Timeout is permissions.execution.timeout; 0 where there is none.
	Timeout time.Duration `json:"-"`
	// Memory is permissions.execution.memory in bytes; 0 where there is none.
	Memory int64 `json:"-"`

	// Tools are those of tools or of contributes.tools.
	Tools       []ManifestTool `json:"tools"`
	Contributes Contributes    `json:"contributes"`
}

// Author of a plugin.
type Author struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// Engines says which hosts a plugin was written for.
type Engines struct {
	Filer string `json:"filer"` // a range of semantic versions
}

// ManifestTool is a tool as a manifest declares it.
type ManifestTool struct {
	ID             string            `json:"id"`
	Title          string            `json:"title"`
	Description    string            `json:"description"`
	Schema         string            `json:"schema"`       // path as written
	OutputSchema   string            `json:"outputSchema"` // path as written; may be empty
	Handler        string            `json:"handler"`      // path as written; empty in the process runtime
	Timeout        time.Duration     `json:"-"`            // 0 where the tool states none
	FileExtensions []string          `json:"fileExtensions"`
	Annotations    *host.Annotations `json:"annotations"`
	// InputSchema is the schema of a card's tool, which stands in the manifest.
	InputSchema json.RawMessage `json:"-"`

	// Pointer is the JSON pointer of the tool in the manifest.
	Pointer string `json:"-"`
	// Repeated says that an earlier tool of the manifest has the same id.
	Repeated bool `json:"-"`
}

// Contributes is what a plugin adds to its host besides tools.
type Contributes struct {
	Tools    []ManifestTool             `json:"tools"` // moved to Manifest.Tools
	Actions  []Action                   `json:"actions"`
	Commands []Command                  `json:"commands"`
	Settings map[string]Setting         `json:"settings"`
	Hooks    map[string]json.RawMessage `json:"hooks"`
	Views    []View                     `json:"views"`
}

// Action is an entry of the context menu: a prompt, or a call of a tool.
type Action struct {
	ID             string    `json:"id"`
	Title          string    `json:"title"`
	Description    string    `json:"description"`
	Scope          Strings   `json:"scope"` // of "single-file", "multi-file", "folder"
	FileTypes      []string  `json:"fileTypes"`
	FileExtensions []string  `json:"fileExtensions"`
	Kind           string    `json:"kind"` // "prompt", the default, or "tool"
	Prompt         string    `json:"prompt"`
	ToolID         string    `json:"toolId"`
	MultiFileMode  string    `json:"multiFileMode"`
	ToolScope      string    `json:"toolScope"`
	Hidden         bool      `json:"hidden"`
	Params         []Param   `json:"params"`
	Generate       *Generate `json:"generate"`
}

// Param is something that the user is asked before an action runs.
type Param struct {
	ID          string          `json:"id"`
	Label       string          `json:"label"`
	Type        string          `json:"type"` // "select", "text", "per-file-text"
	Options     []ParamOption   `json:"options"`
	Default     json.RawMessage `json:"default"`
	Placeholder string          `json:"placeholder"`
	Required    bool            `json:"required"`
}

// ParamOption is one choice of a [Param].
type ParamOption struct {
	Value json.RawMessage `json:"value"`
	Label string          `json:"label"`
}

// UnmarshalJSON also takes a bare text, which is its own label.
func (o *ParamOption) UnmarshalJSON(data []byte) error {
	var label string
	if json.Unmarshal(data, &label) == nil {
		*o = ParamOption{Value: append(json.RawMessage(nil), data...), Label: label}
		return nil
	}
	type plain ParamOption
	return json.Unmarshal(data, (*plain)(o))
}

// Generate is a button that fills a parameter by another action.
type Generate struct {
	Label           string   `json:"label"`
	ActionID        string   `json:"actionId"`
	PopulateParamID string   `json:"populateParamId"`
	ForwardParamIDs []string `json:"forwardParamIds"`
}

// Command is a command with a handler of its own.
type Command struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Icon     string   `json:"icon"`
	Contexts []string `json:"contexts"`
	Handler  string   `json:"handler"`
	When     string   `json:"when"`
}

// Setting is one thing that the user can set.
type Setting struct {
	Type        string            `json:"type"` // "string", "boolean", "number", "info" or "action"
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Enum        []json.RawMessage `json:"enum"`
	Default     json.RawMessage   `json:"default"`
	Required    bool              `json:"required"`
	Secret      bool              `json:"secret"`
	Order       float64           `json:"order"`
	Handler     string            `json:"handler"`
	Variant     string            `json:"variant"`

	// Only settings of cards have these.
	Min, Max  *float64 `json:"-"` // of a number; nil for none
	MaxLength int      `json:"-"` // characters of a text; 0 for as many as there is room for
	Color     bool     `json:"-"` // the text is a colour such as "#33aaff"
}

// View is a page that Filer shows.
type View struct {
	ID         string `json:"id"`
	Title      string `json:"title"`
	Icon       string `json:"icon"`
	Location   string `json:"location"`
	Definition string `json:"definition"`
}

// Strings is a list of texts that may be written as one text.
type Strings []string

// UnmarshalJSON takes a text or a list of texts.
func (s *Strings) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*s = Strings{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(s))
}
