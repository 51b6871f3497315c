package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/runtimes"
)

const (
	// newestHandshake is the newest revision of MCP that begins with a handshake, stateless
	// the one without.
	newestHandshake = "2025-11-25"
	stateless       = "2026-07-28"
	// maxPages and maxTools bound the list of a server's tools.
	maxPages = 100
	maxTools = 10_000
)

// handshakes are the revisions that begin with a handshake. What differs between them does
// not matter for calling tools.
var handshakes = []string{"2024-11-05", "2025-03-26", "2025-06-18", newestHandshake}

// clientInfo is what servers are told of this client.
const clientInfo = `{"name":"toolhost","version":"1"}`

// mcpTool is a tool of a server.
type mcpTool struct {
	Name         string          `json:"name"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
}

// greet agrees with the server on a revision, and asks for its tools.
func (m *mcp) greet(ctx context.Context) error {
	answer, _, err := m.ask(ctx, nil, "initialize", jsondoc.Marshal(object{
		"protocolVersion": newestHandshake, "capabilities": m.capabilities(), "clientInfo": json.RawMessage(clientInfo),
	}))
	if err != nil {
		return err
	}
	refusal := wireError(answer.Error)
	if refusal != nil {
		// A server that has no handshake is asked in its own way.
		m.stateless = stateless
		if answer, _, err = m.ask(ctx, nil, "server/discover", []byte("{}")); err != nil {
			return err
		}
		if wireError(answer.Error) != nil {
			return &Failure{What: "its server refuses to begin", Err: refusal, Tail: m.p.Tail()}
		}
		var found struct{ SupportedVersions []string }
		if json.Unmarshal(answer.Result, &found) != nil || !slices.Contains(found.SupportedVersions, stateless) {
			return &Failure{What: fmt.Sprintf("its server speaks the revisions %.200q of MCP, of which this host has none", found.SupportedVersions)}
		}
		return m.list(ctx)
	}
	var hello struct{ ProtocolVersion string }
	if json.Unmarshal(answer.Result, &hello) != nil || hello.ProtocolVersion == "" {
		return &Failure{What: `its program answers "initialize" without a protocolVersion, so it is no MCP server; one that answers a JSON message a line has the "protocol" "stdio", or none`}
	}
	if !slices.Contains(handshakes, hello.ProtocolVersion) {
		return &Failure{What: fmt.Sprintf("its server speaks the revision %q of MCP; this host speaks %s", cut(hello.ProtocolVersion, 50), strings.Join(append(slices.Clone(handshakes), stateless), ", "))}
	}
	m.notify(ctx, "notifications/initialized", object{})
	return m.list(ctx)
}

// capabilities are what the host offers to servers: nothing, but a model where the manifest
// asks for one.
func (m *mcp) capabilities() object {
	if p := m.in.spec.Policy; p != nil && p.AIComplete {
		return object{"sampling": object{}}
	}
	return object{}
}

// list asks for the server's tools, all pages of them.
func (m *mcp) list(ctx context.Context) error {
	m.tools = map[string]*mcpTool{}
	params := []byte("{}")
	for range maxPages {
		answer, _, err := m.ask(ctx, nil, "tools/list", params)
		if err != nil {
			return err
		}
		if refused := wireError(answer.Error); refused != nil {
			return &Failure{What: "its server does not say which tools it has", Err: refused}
		}
		var page struct {
			Tools      []*mcpTool
			NextCursor string
		}
		if err := json.Unmarshal(answer.Result, &page); err != nil {
			return &Failure{What: "its server's list of tools is not as it should be", Err: err}
		}
		for _, t := range page.Tools {
			if t != nil && len(m.tools) < maxTools {
				m.tools[t.Name] = t
			}
		}
		if page.NextCursor == "" {
			return nil
		}
		params = jsondoc.Marshal(object{"cursor": page.NextCursor})
	}
	return &Failure{What: fmt.Sprintf("its server's list of tools has more than %d pages", maxPages)}
}

// wireError gives an error of JSON-RPC; nil where there is none.
func wireError(raw json.RawMessage) error {
	if raw == nil || string(raw) == "null" {
		return nil
	}
	return errors.New(cut(errorText(raw), 4000))
}

// result gives what the server answered to a call. Blocks go to the agent as they are.
func (m *mcp) result(call *host.Call, answer message) (*host.Result, error) {
	if err := wireError(answer.Error); err != nil {
		return host.ErrorResult(err.Error()), nil
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(answer.Result, &fields) != nil || fields == nil {
		return host.ErrorResult(fmt.Sprintf("plugin %q: its server answered with what is no result", m.in.spec.Plugin)), nil
	}
	var kind string
	if json.Unmarshal(fields["resultType"], &kind) == nil && kind != "" && kind != "complete" {
		return host.ErrorResult(fmt.Sprintf("plugin %q: its server answered %q: it asks for what this host does not offer", m.in.spec.Plugin, cut(kind, 50))), nil
	}
	r := &host.Result{IsError: string(fields["isError"]) == "true", Structured: asObject(fields["structuredContent"]), Meta: asObject(fields["_meta"])}
	var blocks []json.RawMessage
	if raw := fields["content"]; raw != nil && json.Unmarshal(raw, &blocks) != nil {
		return host.ValueResult(plain(answer.Result)), nil // the host says what is wrong with it
	}
	for i, raw := range blocks {
		var block host.Content
		if err := block.UnmarshalJSON(raw); err != nil {
			m.in.logOf(call).Warn("a block of the result is not as MCP has it, and goes out as JSON text", "block", i, "err", err)
			block = host.Text(string(plain(raw)))
		}
		r.Content = append(r.Content, block)
	}
	if len(r.Content) == 0 && r.Structured != nil {
		r.Content = []host.Content{host.Text(string(r.Structured))} // agents that read texts only
	}
	return r, nil
}

// asObject gives a value that is an object; nil for others.
func asObject(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	return raw
}

// Schemas gives the schemas of the server's own tools; nil for another protocol. The server
// is started for it.
func (in *instance) Schemas(ctx context.Context) (map[string]runtimes.Schemas, error) {
	if in.spec.Protocol != "mcp" {
		return nil, nil
	}
	if !in.begin() {
		return nil, host.ErrHandlerClosed
	}
	defer in.running.Done()
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, &Failure{What: fmt.Sprintf("its process was not ready within %s", startLimit)})
	defer cancel()
	defer context.AfterFunc(in.base, cancel)()
	s, err := in.launch(ctx, "", &words{})
	if err != nil {
		return nil, in.named(err)
	}
	defer in.end(s, keptGrace, nil)
	all := map[string]runtimes.Schemas{}
	for name, t := range s.link.(*mcp).tools {
		all[name] = runtimes.Schemas{Input: t.InputSchema, Output: t.OutputSchema}
	}
	for _, t := range in.spec.Tools {
		if _, there := all[t.ID]; !there {
			return nil, &runtimes.LoadError{Problems: []runtimes.Problem{{
				File: runtimes.ManifestFile, Field: t.Field, Message: fmt.Sprintf("the server has no tool %q", t.ID),
				Hint: "the server's tools are " + cut(strings.Join(slices.Sorted(maps.Keys(all)), ", "), 1000),
			}}}
		}
	}
	return all, nil
}

var _ runtimes.SchemaSource = (*instance)(nil)

// asked answers a request of the server.
func (m *mcp) asked(msg message) {
	m.mu.Lock()
	var current *mcpRequest // the one that runs, or one of them: they may all do the same
	for _, r := range m.waiting {
		if r.call != nil && r.ctx.Err() == nil {
			current = r
			break
		}
	}
	full := m.asking >= maxNested
	if !full {
		m.asking++
	}
	m.mu.Unlock()
	if full {
		m.odd(fmt.Sprintf("more than %d requests at once", maxNested))
		return
	}
	// Whatever the answer, it is sent in the background: a server that does not read must not
	// hold up what it writes.
	m.inBackground(func() {
		defer func() {
			m.mu.Lock()
			m.asking--
			m.mu.Unlock()
		}()
		ctx, member, value := m.reply(msg, current)
		m.send(ctx, append(jsondoc.Marshal(object{"jsonrpc": "2.0", "id": msg.ID, member: value}), '\n'))
	})
}

// reply gives the answer to a request of the server, and for how long it is wanted. current
// is the call for which it may be made; nil where none runs.
func (m *mcp) reply(msg message, current *mcpRequest) (ctx context.Context, member string, value any) {
	refuse := func(code int, text string) (context.Context, string, any) {
		return m.in.base, "error", object{"code": code, "message": text}
	}
	switch {
	case msg.Method == "ping":
		return m.in.base, "result", object{}
	case msg.Method != "sampling/createMessage":
		return refuse(-32601, fmt.Sprintf("the host has no method %q", cut(msg.Method, 50)))
	case current == nil:
		return refuse(-32603, "no call is running")
	}
	text, err := m.complete(current, msg.Params)
	if err != nil {
		return refuse(-32603, err.Error())
	}
	return current.ctx, "result", object{
		"role": "assistant", "model": "unknown", "stopReason": "endTurn", "content": object{"type": "text", "text": text},
	}
}

// complete has the host's model complete what a server gives it. Of a conversation it is
// one text with its roles.
func (m *mcp) complete(r *mcpRequest, raw json.RawMessage) (text string, err error) {
	defer func() {
		if v := recover(); v != nil {
			m.log.Error("a service panicked", "err", fmt.Sprint(v))
			text, err = "", errors.New("internal error in the host")
		}
	}()
	var p struct {
		SystemPrompt string
		Messages     []struct {
			Role    string
			Content json.RawMessage
		}
	}
	if err := json.Unmarshal(renamerOf(r.ctx).json(raw), &p); err != nil {
		return "", fmt.Errorf("the params are not as they should be: %w", err)
	}
	var parts []string
	if p.SystemPrompt != "" {
		parts = append(parts, p.SystemPrompt)
	}
	for _, one := range p.Messages {
		var blocks []json.RawMessage
		if json.Unmarshal(one.Content, &blocks) != nil {
			blocks = []json.RawMessage{one.Content}
		}
		for _, block := range blocks {
			var content struct{ Type, Text string }
			if json.Unmarshal(block, &content) != nil || content.Type != "text" {
				return "", errors.New("the host's model takes texts only")
			}
			if len(p.Messages) > 1 {
				content.Text = one.Role + ": " + content.Text
			}
			parts = append(parts, content.Text)
		}
	}
	return m.in.spec.Services.Complete(r.ctx, r.call, &host.Prompt{Text: strings.Join(parts, "\n\n")})
}
