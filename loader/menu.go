package loader

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/internal/lazyregexp"
	"github.com/toolhost/toolhost/internal/suggest"
	"github.com/toolhost/toolhost/runtimes"
)

// Menuer is a [Registrar] that knows which tools and commands there are. A [host.Host] is one.
type Menuer interface {
	Tool(name string) (host.Registered, bool)
	ToolsFor(paths ...string) []host.Registered
	Commands() []host.Registered
}

var _ Menuer = (*host.Host)(nil)

// Selection is what a context menu is asked for.
type Selection struct {
	// Paths are the selected files and folders; they need not exist.
	Paths []string
	// Text is the selected text; with it the menu is that of a selection of text.
	Text string
	// VaultOpen, SessionActive and AgentRunning are what conditions of commands may ask for.
	VaultOpen, SessionActive, AgentRunning bool
}

// MenuKind is what an entry of a context menu runs.
type MenuKind string

const (
	MenuTool    MenuKind = "tool"
	MenuAction  MenuKind = "action"
	MenuCommand MenuKind = "command"
)

// MenuEntry is one line of a context menu.
type MenuEntry struct {
	Kind   MenuKind         `json:"kind"`
	ID     string           `json:"id"`
	Title  string           `json:"title"`
	Plugin string           `json:"plugin"`
	Params map[string]Param `json:"params"` // what an action asks for, by the id of each

	action *Action
	prompt string // the text of the action's prompt file
}

// MenuRun is what running an entry does: calls of a tool, one call of a command, or a prompt
// for an agent.
type MenuRun struct {
	Prompt   string
	Calls    []*host.Call
	Commands bool // the calls are of a command, for host.Execute
}

// MenuError says what is wrong with the values that an entry is run with.
type MenuError struct{ Msg, Hint string }

func (e *MenuError) Error() string { return e.Msg }

// menu is what a plugin adds to context menus.
type menu struct {
	actions    []Action
	prompts    map[string]string // by path as written
	commands   []Command
	conditions map[string]*condition // by command
	settings   runtimes.Settings     // may be nil
}

// Menu gives the entries that a context menu offers for a selection: tools, then actions,
// then commands, each kind in load order.
func (l *Loader) Menu(ctx context.Context, s Selection) []MenuEntry {
	entries := []MenuEntry{}
	m, ok := l.reg.(Menuer)
	if !ok {
		return entries
	}
	if s.Text == "" {
		for _, r := range m.ToolsFor(s.Paths...) {
			entries = append(entries, MenuEntry{Kind: MenuTool, ID: r.Name, Title: titleOr(r.Title, r.Name), Plugin: r.Owner, Params: map[string]Param{}})
		}
	}
	commands := map[string]string{} // the plugin that has each
	for _, r := range m.Commands() {
		if r.Enabled {
			commands[r.Name] = r.Owner
		}
	}
	var found []MenuEntry
	l.mu.Lock()
	type source struct {
		owner string
		menu  *menu
	}
	var sources []source
	for _, p := range l.plugins {
		if p.owner != "" && p.menu != nil {
			sources = append(sources, source{p.owner, p.menu})
		}
	}
	l.mu.Unlock()
	for _, p := range sources {
		for i := range p.menu.actions {
			a := &p.menu.actions[i]
			if s.Text != "" || a.Hidden || !a.offered(s.Paths) {
				continue
			}
			if r, ok := m.Tool(a.ToolID); a.Kind == "tool" && (!ok || r.Owner != p.owner || !r.Enabled) {
				continue
			}
			e := MenuEntry{Kind: MenuAction, ID: a.ID, Title: titleOr(a.Title, a.ID), Plugin: p.owner, Params: map[string]Param{}, action: a, prompt: p.menu.prompts[a.Prompt]}
			for _, param := range a.Params {
				e.Params[param.ID] = param
			}
			entries = append(entries, e)
		}
		for _, k := range p.menu.commands {
			if commands[k.ID] == p.owner && k.offered(s) && p.menu.conditions[k.ID].holds(func(name string) bool { return s.is(ctx, name, p.menu.settings) }) {
				found = append(found, MenuEntry{Kind: MenuCommand, ID: k.ID, Title: titleOr(k.Title, k.ID), Plugin: p.owner, Params: map[string]Param{}})
			}
		}
	}
	return append(entries, found...)
}

func titleOr(title, id string) string {
	if title == "" {
		return id
	}
	return title
}

// folders counts the selected folders.
func folders(paths []string) int {
	n := 0
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil && info.IsDir() {
			n++
		}
	}
	return n
}

// offered reports whether an action is offered for a selection. One without a scope is
// offered for files.
func (a *Action) offered(paths []string) bool {
	scopes := []string(a.Scope)
	if len(scopes) == 0 {
		scopes = []string{"single-file", "multi-file"}
	}
	n := folders(paths)
	switch {
	case len(paths) == 0 || n > 0 && n < len(paths):
		return false
	case n > 0:
		return slices.Contains(scopes, "folder")
	case len(paths) == 1 && !slices.Contains(scopes, "single-file"), len(paths) > 1 && !slices.Contains(scopes, "multi-file"):
		return false
	}
	extensions := slices.Clone(a.FileExtensions)
	for _, kind := range a.FileTypes {
		extensions = append(extensions, fileTypes()[kind]...)
	}
	if len(extensions) == 0 {
		return len(a.FileTypes) == 0 // kinds that nobody knows match nothing
	}
	return host.MatchesExtensions(extensions, paths...)
}

// offered reports whether a command is for menus of this kind. One without contexts is in
// none; other plugins may still run it.
func (k *Command) offered(s Selection) bool {
	if s.Text != "" {
		return slices.Contains(k.Contexts, "selection-context-menu")
	}
	return len(s.Paths) > 0 && slices.Contains(k.Contexts, "file-context-menu")
}

// is gives what a name of a condition stands for.
func (s Selection) is(ctx context.Context, name string, settings runtimes.Settings) bool {
	switch name {
	case "fileSelected":
		return len(s.Paths) > 0
	case "multiSelected":
		return len(s.Paths) > 1
	case "hasSelection":
		return s.Text != ""
	case "vaultOpen":
		return s.VaultOpen
	case "sessionActive":
		return s.SessionActive
	case "agentRunning":
		return s.AgentRunning
	}
	key, ok := strings.CutPrefix(name, "setting:")
	if !ok || settings == nil {
		return false
	}
	raw, err := settings.Get(ctx, key)
	if err != nil {
		return false
	}
	return !slices.Contains([]string{"", "null", "false", "0", `""`}, string(raw))
}

// Run gives what running an entry of [Loader.Menu] does for the same selection. params are
// the values of an action's parameters, or arguments of a command or tool, as JSON; a text
// may also stand for one of an action's choices by its label.
func (l *Loader) Run(e MenuEntry, s Selection, params map[string]json.RawMessage) (*MenuRun, error) {
	switch {
	case e.Kind == MenuCommand:
		args := map[string]any{"paths": s.Paths, "files": s.Paths}
		if len(s.Paths) == 1 {
			args["path"] = s.Paths[0]
		}
		if s.Text != "" {
			args["text"] = s.Text
		}
		for name, v := range params {
			args[name] = v
		}
		return &MenuRun{Commands: true, Calls: []*host.Call{{Tool: e.ID, Args: jsondoc.Marshal(args)}}}, nil
	case e.Kind == MenuTool:
		return l.callTool(e.ID, s.Paths, params, true)
	case e.action == nil:
		return nil, &MenuError{Msg: fmt.Sprintf("the entry %q is none of a menu", e.ID)}
	}
	values, err := e.action.values(params)
	if err != nil {
		return nil, err
	}
	if e.action.Kind == "tool" {
		return l.callTool(e.action.ToolID, s.Paths, values, e.action.MultiFileMode == "batch" || len(s.Paths) == 1)
	}
	for _, p := range e.action.Params {
		if values[p.ID] == nil {
			values[p.ID] = json.RawMessage(`""`)
		}
	}
	return &MenuRun{Prompt: fill(e.prompt, s.Paths, values)}, nil
}

// callTool gives the calls of a tool for a selection: one with all paths where it takes a
// list and batch asks for that, else one a path.
func (l *Loader) callTool(name string, paths []string, values map[string]json.RawMessage, batch bool) (*MenuRun, error) {
	m, ok := l.reg.(Menuer)
	if !ok {
		return nil, &MenuError{Msg: "the registrar of this loader has no menu"}
	}
	tool, ok := m.Tool(name)
	if !ok {
		return nil, &MenuError{Msg: fmt.Sprintf("there is no tool %q", name)}
	}
	property, list := tool.FileArgument()
	if property == "" {
		return nil, &MenuError{Msg: fmt.Sprintf("the tool %q takes no file", name), Hint: "mark the argument that names one with \"format\": \"file-path\" in the tool's schema"}
	}
	run := &MenuRun{}
	add := func(value any) {
		args := map[string]any{}
		for name, v := range values {
			args[name] = v
		}
		args[property] = value
		run.Calls = append(run.Calls, &host.Call{Tool: name, Args: jsondoc.Marshal(args)})
	}
	switch {
	case list && batch:
		add(paths)
	default:
		for _, path := range paths {
			if list {
				add([]string{path})
			} else {
				add(path)
			}
		}
	}
	return run, nil
}

// values checks what an action's parameters are given, and fills in their defaults.
func (a *Action) values(given map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	values := map[string]json.RawMessage{}
	var ids, missing []string
	for _, p := range a.Params {
		ids = append(ids, p.ID)
		v, ok := given[p.ID]
		if !ok {
			v, ok = p.Default, p.Default != nil
		} else if len(p.Options) > 0 {
			chosen, err := p.choose(v)
			if err != nil {
				return nil, err
			}
			v = chosen
		}
		switch {
		case ok && string(v) != `""`:
			values[p.ID] = v
		case p.Required:
			missing = append(missing, p.ID)
		}
	}
	for id := range given {
		if !slices.Contains(ids, id) {
			e := &MenuError{Msg: fmt.Sprintf("the action %q has no parameter %q", a.ID, id)}
			if near := suggest.Nearest(id, ids); near != "" {
				e.Msg += fmt.Sprintf("; did you mean %q?", near)
			} else if len(ids) > 0 {
				e.Hint = "its parameters: " + strings.Join(ids, ", ")
			}
			return nil, e
		}
	}
	if len(missing) > 0 {
		return nil, &MenuError{Msg: fmt.Sprintf("the action %q needs a value for %s", a.ID, strings.Join(missing, ", ")), Hint: "write " + missing[0] + "=VALUE"}
	}
	return values, nil
}

// choose gives the value of the choice that is meant, by its value or its label.
func (p *Param) choose(v json.RawMessage) (json.RawMessage, error) {
	text := plain(v)
	var choices []string
	for _, o := range p.Options {
		if plain(o.Value) == text || o.Label == text {
			return o.Value, nil
		}
		choices = append(choices, plain(o.Value))
	}
	e := &MenuError{Msg: fmt.Sprintf("%q is none of the choices of the parameter %q", text, p.ID), Hint: "the choices: " + strings.Join(choices, ", ")}
	if near := suggest.Nearest(text, choices); near != "" {
		e.Msg += fmt.Sprintf("; did you mean %q?", near)
	}
	return nil, e
}

// plain gives a JSON value as text: a string without its quotes.
func plain(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}

var placeholder = lazyregexp.New(`\{\{\s*([A-Za-z0-9_.-]+)(?:\[(\d{1,6})\])?\s*\}\}`)

// fill puts values in the place of the placeholders of a prompt: {{paths}}, one a line,
// {{paths[0]}}, {{path}}, which is the first, {{name}}, which is its file name, and the ids
// of parameters. A parameter without a value is an empty text; what is no placeholder of
// these stays.
func fill(prompt string, paths []string, values map[string]json.RawMessage) string {
	return placeholder.ReplaceAllStringFunc(prompt, func(whole string) string {
		m := placeholder.FindStringSubmatch(whole)
		if v, ok := values[m[1]]; ok && m[2] == "" {
			return plain(v)
		}
		i, indexed := 0, m[2] != ""
		if indexed {
			i, _ = strconv.Atoi(m[2])
		}
		switch {
		case m[1] == "paths" && !indexed:
			return strings.Join(paths, "\n")
		case m[1] == "paths" && i < len(paths):
			return paths[i]
		case m[1] == "paths":
			return ""
		case m[1] == "path" && !indexed && len(paths) > 0:
			return paths[0]
		case m[1] == "name" && !indexed && len(paths) > 0:
			return filepath.Base(paths[0])
		}
		return whole
	})
}
