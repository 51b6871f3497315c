// Package host holds the tools that agents may call, and carries a call from the
// agent to the tool's handler and back.
//
//	h := host.New(&host.Options{Folder: dir})
//	_, err := h.Replace("clock", host.HostTool, []*host.Tool{{
//		Name:        "clock_now",
//		Description: "Gives the current time.",
//		InputSchema: json.RawMessage(`{"type":"object","additionalProperties":false}`),
//		Handler:     host.HandlerFunc(func(ctx context.Context, c *host.Call) (*host.Result, error) {
//			return host.TextResult(time.Now().Format(time.RFC3339)), nil
//		}),
//	}})
//	result, err := h.Call(ctx, &host.Call{Tool: "clock_now"})
//
// A [Host] knows nothing of manifests, JavaScript, processes or MCP: package
// loader fills it from plugin folders, package host/mcpserver serves it.
package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolhost/toolhost/internal/schema"
	"github.com/toolhost/toolhost/permissions"
)

// Source is where a tool comes from. Tools of a lower source come first, and keep
// their names against those of a higher one.
type Source int

const (
	BuiltIn  Source = -2 // the host's own tools
	HostTool Source = -1 // tools of the program that embeds the host
	Plugin   Source = 0  // tools of a plugin
)

// String gives "built-in", "host" or "plugin".
func (s Source) String() string {
	switch s {
	case BuiltIn:
		return "built-in"
	case HostTool:
		return "host"
	default:
		return "plugin"
	}
}

// Handler runs the calls of one tool.
type Handler interface {
	// Handle runs one call. It may be called by many goroutines at once. The context
	// ends at the call's deadline or when the caller cancels; the answer is then given
	// without waiting for Handle, and what it returns later is dropped. An error is a
	// failed result with its text. The call must not be kept or changed.
	Handle(ctx context.Context, call *Call) (*Result, error)
}

// HandlerFunc is a function as a [Handler].
type HandlerFunc func(ctx context.Context, call *Call) (*Result, error)

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, call *Call) (*Result, error) { return f(ctx, call) }

// Tool is something that an agent can call. The Host keeps a copy; what its fields
// point to must not be changed afterwards.
type Tool struct {
	Name        string // ^[A-Za-z0-9_-]{1,64}$
	Title       string
	Description string // what the model reads; required
	// InputSchema is a JSON Schema whose root is type object.
	InputSchema json.RawMessage
	// OutputSchema is optional. With it the result also travels as structured content, and is checked.
	OutputSchema json.RawMessage
	Annotations  *Annotations
	// Extensions are the file extensions for which a context menu offers the tool
	// (".md", ".tar.gz"); none means every file.
	Extensions []string
	// Timeout of a call; 0 is the host's default.
	Timeout time.Duration
	// Policy is what a call may touch; nil allows nothing.
	Policy *permissions.Policy
	// Version and Runtime ("node", "process") are for lists; empty for a tool written in Go.
	Version, Runtime string
	// Command makes it a command: agents do not see it, Host.Execute runs it, and it shares
	// no names with tools. Its name may be any text of 1 to 128 bytes without white space
	// and control characters; it needs no description, and its InputSchema may be nil.
	Command bool
	// Suffix has the tool take the next free of its name with _2, _3 … where another plugin's
	// tool has the name, instead of being skipped. It keeps what it was given until its owner
	// is removed. A name that a built-in or host tool has is an error.
	Suffix bool
	// Indent has JSON that the handler returns written with two spaces.
	Indent bool
	// Hidden says that the plugin itself hides the tool; Host.Hide changes it.
	Hidden  bool
	Handler Handler

	asked string // the Name that its owner gave it; of a tool with Suffix

	// Input and Output are InputSchema and OutputSchema compiled. The loader sets
	// them, since it has compiled the schema files already; elsewhere leave them nil.
	Input, Output *schema.Schema
}

// Annotations are MCP's hints about a tool; nil fields are not stated.
type Annotations struct {
	ReadOnlyHint    *bool `json:"readOnlyHint,omitempty"`
	DestructiveHint *bool `json:"destructiveHint,omitempty"`
	IdempotentHint  *bool `json:"idempotentHint,omitempty"`
	OpenWorldHint   *bool `json:"openWorldHint,omitempty"`
}

// Registered is a tool as it stands in the table.
type Registered struct {
	*Tool
	Owner  string // who registered it; for a plugin's tool the plugin's id
	Source Source
	// Enabled says that agents see it: neither did the user disable it, nor does its plugin hide it.
	Enabled bool
}

// Agent is who calls.
type Agent struct {
	ID   string // the same for all calls of a session; "" where there is none
	Name string
}

// Call is one call of a tool. The caller fills Tool, Args, Agent and, where wanted, Meta,
// Folder and Progress; the handler sees a copy with the rest filled in.
type Call struct {
	Tool string
	// Args is a JSON object; empty counts as {}. The handler sees it checked, with
	// defaults filled in.
	Args  json.RawMessage
	Agent Agent
	// Meta is what the client said beside the arguments, in _meta, as it came: a JSON object,
	// empty or null where it said nothing. The host does not look at it, and plugins do not get it.
	Meta json.RawMessage
	// Folder is the agent's folder; "" is the host's.
	Folder string
	// Progress takes what the handler says on its way: one goroutine at a time, at most
	// 200 characters and at most four a second; the last one always arrives, and none
	// after Call has returned. nil drops it.
	Progress func(message string)
	// Complete has the agent's own model complete a prompt; nil where the agent offers none.
	Complete func(ctx context.Context, prompt *Prompt) (string, error)

	// The host fills these in. A call that a handler makes brings Depth, Plugin and Grant along,
	// see [Host.Execute]; for all others they are zero.
	ID       string
	Depth    int    // how many commands run around this call, each run by a handler of the one before
	Plugin   string // the owner of the tool
	Deadline time.Time
	Paths    []permissions.Argument // texts in Args that name files or folders
	Grant    *permissions.Grant
	Log      *slog.Logger // with the keys plugin, tool and call

	said *progress // nil outside a host
}

// Explain has heard say what was last heard of the call, should its deadline pass: the failed
// result tells that too. "" is nothing. The text reaches the caller: it must hold nothing of
// other agents' calls. heard may run on any goroutine, also after the handler has returned, and
// must return at once.
func (c *Call) Explain(heard func() string) {
	if c.said != nil {
		c.said.explain(heard)
	}
}

// Prompt is what a model is to complete.
type Prompt struct {
	Text   string        `json:"text"`
	Images []PromptImage `json:"images,omitempty"` // which the model is to see before the text
}

// PromptImage is a picture of a [Prompt].
type PromptImage struct {
	MIMEType string `json:"mimeType"` // "image/png"
	Data     []byte `json:"data"`
}

// Limits of a host. A zero field is the default.
type Limits struct {
	Arguments  int           // bytes of arguments; 4 MiB
	Result     int           // bytes of content as JSON; 1 MiB
	Timeout    time.Duration // of a call whose tool states none; 30 s
	MaxTimeout time.Duration // that a tool may state; 10 min
}

func (l Limits) withDefaults() Limits {
	def := Limits{Arguments: 4 << 20, Result: 1 << 20, Timeout: 30 * time.Second, MaxTimeout: 10 * time.Minute}
	if l.Arguments > 0 {
		def.Arguments = l.Arguments
	}
	if l.Result > 0 {
		def.Result = l.Result
	}
	if l.MaxTimeout > 0 {
		def.MaxTimeout = l.MaxTimeout
	}
	if l.Timeout > 0 {
		def.Timeout = l.Timeout
	}
	def.Timeout = min(def.Timeout, def.MaxTimeout)
	return def
}

// Options of a host; the zero value is usable.
type Options struct {
	// Folder is the agent's folder of calls that name none. "" means that such calls have no folder.
	Folder string
	// StrictArguments turns off the lossless repair of arguments.
	StrictArguments bool
	// Offer says which tools are offered at all; nil offers every one. It must be pure and fast.
	Offer  func(Registered) bool
	Limits Limits
	// Waiting gives the plugin of a tool that is not offered since it waits for the user's
	// consent, and how the user can give it, such as a command; "" where there is none. nil
	// knows of none.
	Waiting func(tool string) (plugin, allow string)
	// Log takes the host's and the plugins' log lines; nil drops them.
	Log *slog.Logger
}

// Host holds tools and carries calls. It is safe for concurrent use.
type Host struct {
	options Options
	limits  Limits
	log     *slog.Logger

	table atomic.Pointer[table] // what readers see; replaced whole

	mu       sync.Mutex // guards what the table is made from
	claims   claims
	disabled map[string]bool

	observers atomic.Pointer[[]*observer]

	base    context.Context // ends when the host closes
	stop    context.CancelCauseFunc
	running runningCalls
}

// New makes a host without tools. options may be nil.
func New(options *Options) *Host {
	h := &Host{disabled: map[string]bool{}}
	if options != nil {
		h.options = *options
	}
	h.limits = h.options.Limits.withDefaults()
	h.log = h.options.Log
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	h.base, h.stop = context.WithCancelCause(context.Background())
	h.table.Store(&table{})
	return h
}

// Limits gives the limits in force.
func (h *Host) Limits() Limits { return h.limits }

// ToolNames is what [ToolName] goes by as a regular expression, for messages.
const ToolNames = `^[A-Za-z0-9_-]{1,64}$`

// ToolName reports whether a text may be the name of a tool.
func ToolName(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return name != "" && len(name) <= maxName
}

// prepare checks a tool and compiles its schemas where that was not done.
func (h *Host) prepare(t *Tool) (*Tool, error) {
	c := *t
	switch {
	case c.Command && !CommandName(c.Name):
		return nil, fmt.Errorf("command %q: the name must be 1 to 128 bytes without white space and control characters", c.Name)
	case !c.Command && !ToolName(c.Name):
		return nil, fmt.Errorf("tool %q: the name must match %s", c.Name, ToolNames)
	case !c.Command && c.Description == "":
		return nil, fmt.Errorf("tool %q: a description is required", c.Name)
	case c.Handler == nil:
		return nil, fmt.Errorf("tool %q: a handler is required", c.Name)
	case c.Timeout < 0 || c.Timeout > h.limits.MaxTimeout:
		return nil, fmt.Errorf("tool %q: the timeout must be between 0 and %s", c.Name, h.limits.MaxTimeout)
	}
	var err error
	if c.Command && c.InputSchema == nil && c.Input == nil {
		c.InputSchema = json.RawMessage(`{"type":"object"}`)
	}
	if c.Input == nil {
		if c.Input, err = schema.Compile(c.InputSchema); err != nil {
			return nil, fmt.Errorf("compiling the input schema of tool %q: %w", c.Name, err)
		}
	}
	c.InputSchema = c.Input.Public()
	if c.Output == nil && c.OutputSchema != nil {
		if c.Output, err = schema.Compile(c.OutputSchema); err != nil {
			return nil, fmt.Errorf("compiling the output schema of tool %q: %w", c.Name, err)
		}
	}
	if c.Output != nil {
		c.OutputSchema = c.Output.Public()
	}
	if c.Timeout == 0 {
		c.Timeout = h.limits.Timeout
	}
	if c.Policy == nil {
		c.Policy = &permissions.Policy{}
	}
	return &c, nil
}

// Replace puts tools in the place of all that owner had, in one step. An owner keeps
// its place and the names that it has; names that others have are skipped, and come
// back as conflicts. A tool that is wrong in itself is an error, and changes nothing.
func (h *Host) Replace(owner string, source Source, tools []*Tool) ([]*ConflictError, error) {
	prepared := make([]*Tool, len(tools))
	var wrong []error
	for i, t := range tools {
		var err error
		if prepared[i], err = h.prepare(t); err != nil {
			wrong = append(wrong, err)
		}
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.claims.refuse(source, prepared); err != nil {
		return nil, err
	}
	claims, fresh := h.claims.replace(owner, source, prepared)
	if fresh {
		old := h.table.Load()
		if t := old.with(&h.claims, claims, h.disabled, h.options.Offer); t != nil {
			h.table.Store(t)
			if len(t.order) > len(old.order) {
				h.notify(Event{Kind: ToolsChanged})
			}
			return nil, nil
		}
	}
	t := h.swap()
	var conflicts []*ConflictError
	for _, c := range t.skipped {
		if c.Owner == owner {
			conflicts = append(conflicts, c)
		}
	}
	return conflicts, nil
}

// Remove takes away all that owner has. It forgets its place: an owner that comes
// back stands at the end.
func (h *Host) Remove(owner string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.claims.remove(owner) {
		h.swap()
		return
	}
	old := h.table.Load()
	t := old.without(owner)
	h.table.Store(t)
	if len(t.order) < len(old.order) {
		h.notify(Event{Kind: ToolsChanged})
	}
}

// SetEnabled shows or hides a tool by name. A name that no tool has is remembered for
// the tool that will have it.
func (h *Host) SetEnabled(name string, enabled bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if enabled {
		delete(h.disabled, name)
	} else {
		h.disabled[name] = true
	}
	h.swap()
}

// Hide has a plugin hide one of its tools, or show it again; name is the one that its owner
// gave it. It is apart from SetEnabled: a tool that the user disabled stays so. It lasts
// until the owner's tools are replaced.
func (h *Host) Hide(owner, name string, hidden bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.claims.hide(owner, name, hidden) {
		h.swap()
	}
}

// Given gives the names under which the tools of an owner stand, by those that it asked for.
// They differ for a tool with Suffix only.
func (h *Host) Given(owner string) map[string]string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.claims.given(owner)
}

// swap makes the table anew and tells the observers when what agents see has changed.
// h.mu is held.
func (h *Host) swap() *table {
	old, t := h.table.Load(), h.claims.table(maps.Clone(h.disabled), h.options.Offer)
	h.table.Store(t)
	if !old.looksLike(t) {
		h.notify(Event{Kind: ToolsChanged})
	}
	return t
}

// Tools gives every tool that is offered, disabled ones included, in registration
// order: built-in tools, host tools, plugins by load order.
func (h *Host) Tools() []Registered { return append([]Registered(nil), h.table.Load().order...) }

// Tool gives the tool of that name.
func (h *Host) Tool(name string) (Registered, bool) {
	return h.table.Load().find(name)
}

// Skipped gives the tools that stay out because their names are in use.
func (h *Host) Skipped() []*ConflictError {
	return append([]*ConflictError(nil), h.table.Load().skipped...)
}

// Close cancels the running calls and waits for their handlers until ctx ends. Calls
// that come later fail with ErrClosed.
func (h *Host) Close(ctx context.Context) error {
	h.stop(ErrClosed)
	return h.running.wait(ctx)
}
