package process

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/child"
	"github.com/toolhost/toolhost/internal/jsondoc"
)

const (
	// mcpWriteLimit is how long a server may take to read what is sent to it.
	mcpWriteLimit = 5 * time.Second
	// maxLate is how many answers to cancelled calls may be outstanding.
	maxLate = 1000
)

// mcp speaks with a process that is an MCP server.
type mcp struct {
	in     *instance
	lines  // junk is counted since the last answer
	log    *slog.Logger
	use    use
	logged *limiter // what it logs
	noise  *limiter // what it prints

	// Set before the first call:
	stateless string // the revision that each request names; "" where a handshake has settled it
	tools     map[string]*mcpTool

	writing sync.Mutex // one line at a time

	mu      sync.Mutex
	last    int64
	waiting map[int64]*mcpRequest
	late    map[int64]bool // answers that nobody waits for any more
	asking  int            // requests of the server that are under way

	doubt doubt
}

// mcpRequest is a request on its way.
type mcpRequest struct {
	call   *host.Call // nil: not one of a call
	ctx    context.Context
	answer chan message // of one
}

var _ link = (*mcp)(nil)

// startMCP starts an MCP server, and asks it for its tools.
func startMCP(ctx context.Context, in *instance, o *child.Options, use use) (*connection, error) {
	p, err := startChild(ctx, o)
	if err != nil {
		return nil, err
	}
	m := &mcp{in: in, lines: newLines(p, in), log: o.Log, use: use, logged: &limiter{}, noise: &limiter{}, waiting: map[int64]*mcpRequest{}, late: map[int64]bool{}}
	go m.read(m.take)
	stop := context.AfterFunc(ctx, func() { p.Stop(0) })
	err = m.greet(ctx)
	if errors.Is(err, errUnsent) { // it has ended after an answer
		err = m.failure()
	}
	stop()
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		p.Stop(0)
		<-m.ended
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	return &connection{p, m, closeStdin(p), func(grace time.Duration) {
		p.Stop(grace)
		<-m.ended
		m.noise.flush(o.Log)
		m.logged.flush(o.Log)
	}}, nil
}

// call makes one call.
func (m *mcp) call(ctx context.Context, call *host.Call, arguments json.RawMessage) (*host.Result, error) {
	if m.tools[call.Tool] == nil {
		return host.ErrorResult(fmt.Sprintf("plugin %q: its server has no tool %q, which its manifest names", m.in.spec.Plugin, call.Tool)), nil
	}
	if err := m.doubt.wait(ctx); err != nil {
		return nil, err
	}
	if !m.usable() {
		return nil, errUnsent
	}
	defer m.doubt.sending(ctx)()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answer, id, err := m.ask(ctx, call, "tools/call", callParams(call.Tool, arguments))
	if err == nil {
		return m.result(call, answer)
	}
	if ctx.Err() != nil && id != 0 {
		m.cancel(id, context.Cause(ctx))
	}
	return nil, err
}

// callParams gives the params of a call, on one line.
func callParams(tool string, arguments json.RawMessage) []byte {
	var line bytes.Buffer
	line.Grow(len(arguments) + len(tool) + 50)
	fmt.Fprintf(&line, `{"name":%s,"arguments":`, jsondoc.Quote(tool))
	if json.Compact(&line, arguments) != nil {
		line.WriteString("{}")
	}
	line.WriteByte('}')
	return line.Bytes()
}

// smallLine is how long a line may be that a pipe takes whether it is read or not.
const smallLine = 4 << 10

// ask sends a request and waits for its answer. id is 0 where it was not sent. params is an
// object on one line.
func (m *mcp) ask(ctx context.Context, call *host.Call, method string, params []byte) (answer message, id int64, err error) {
	r := &mcpRequest{call: call, ctx: ctx, answer: make(chan message, 1)}
	m.mu.Lock()
	if m.why() != nil {
		m.mu.Unlock()
		return answer, 0, errUnsent
	}
	m.last++
	id = m.last
	m.waiting[id] = r
	m.mu.Unlock()
	defer func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if _, still := m.waiting[id]; still {
			delete(m.waiting, id)
			if len(m.late) < maxLate {
				m.late[id] = true
			}
		}
	}()
	line := m.request(id, call != nil, method, params)
	if len(line) <= smallLine {
		m.send(ctx, line)
	} else {
		m.inBackground(func() { m.send(ctx, line) })
	}
	select {
	case answer = <-r.answer:
		return answer, id, nil
	case <-m.ended:
		select {
		case answer = <-r.answer: // the last line
			return answer, id, nil
		default:
			return answer, id, m.failure()
		}
	case <-ctx.Done():
		return answer, id, context.Cause(ctx)
	}
}

// request writes a request as a line. progress asks for word of how far it has come.
func (m *mcp) request(id int64, progress bool, method string, params []byte) []byte {
	var meta []string
	if progress {
		meta = append(meta, fmt.Sprintf(`"progressToken":%d`, id))
	}
	if m.stateless != "" {
		meta = append(meta, `"io.modelcontextprotocol/protocolVersion":`+string(jsondoc.Quote(m.stateless)),
			`"io.modelcontextprotocol/clientInfo":`+clientInfo, `"io.modelcontextprotocol/clientCapabilities":{}`)
	}
	line := make([]byte, 0, len(params)+200)
	line = fmt.Appendf(line, `{"jsonrpc":"2.0","id":%d,"method":%s,"params":`, id, jsondoc.Quote(method))
	line = append(line, params[:len(params)-1]...) // all but the last bracket
	if len(meta) > 0 {
		if len(params) > len("{}") {
			line = append(line, ',')
		}
		line = append(line, `"_meta":{`+strings.Join(meta, ",")+`}`...)
	}
	return append(line, "}}\n"...)
}

type object = map[string]any

// inBackground does what a call must not wait for, but Close must: writing to a process
// that does not read.
func (m *mcp) inBackground(f func()) {
	m.in.running.Add(1)
	go func() {
		defer m.in.running.Done()
		f()
	}()
}

// send writes one line. Nothing is written where ctx has ended, but what was begun is
// written to its end: the lines of other calls come after it.
func (m *mcp) send(ctx context.Context, line []byte) {
	m.writing.Lock()
	defer m.writing.Unlock()
	if ctx.Err() != nil {
		return
	}
	err := m.p.Stdin().SetWriteDeadline(time.Now().Add(mcpWriteLimit))
	if err == nil {
		_, err = m.p.Stdin().Write(line)
	}
	if err == nil {
		return
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		m.hungUp(err)
		return
	}
	m.breakOff(&Failure{What: fmt.Sprintf("its process did not read a request within %s", mcpWriteLimit), Err: err, Tail: m.p.Tail()})
	// Half a line may be in the pipe: nothing can follow it.
	_ = m.p.Stdout().SetReadDeadline(time.Now())
}

// notify sends a notification.
func (m *mcp) notify(ctx context.Context, method string, params any) {
	line := jsondoc.Marshal(object{"jsonrpc": "2.0", "method": method, "params": params})
	m.inBackground(func() { m.send(ctx, append(line, '\n')) })
}

// cancel tells the server that nobody waits for an answer any more, and looks whether it
// still reads and answers.
func (m *mcp) cancel(id int64, why error) {
	ctx, done := context.WithTimeout(m.in.base, m.use.grace)
	defer done()
	m.notify(ctx, "notifications/cancelled", object{"requestId": id, "reason": why.Error()})
	// One that knows no ping says so, which will do.
	if _, _, err := m.ask(ctx, nil, "ping", []byte("{}")); err != nil {
		m.breakOff(&Failure{What: "its process does not answer any more", Tail: m.p.Tail()})
	}
}

// take acts on one line. A panic on the way must not end the host.
func (m *mcp) take(line []byte) {
	defer func() {
		if v := recover(); v != nil {
			m.log.Error("reading a message panicked", "err", fmt.Sprint(v), "stack", string(debug.Stack()))
		}
	}()
	msg, noise, ok := readMessage(line)
	if noise != "" {
		m.odd("a line on stdout is no message", "line", cut(noise, 200))
	}
	switch {
	case noise == "" && !ok:
		m.junk.Add(1) // an empty line
	case !ok:
	case msg.Method != "" && msg.ID != nil:
		m.asked(msg)
	case msg.Method != "":
		m.noted(msg)
	default:
		m.answered(msg)
	}
}

// odd notes what belongs nowhere.
func (m *mcp) odd(what string, args ...any) {
	m.junk.Add(1)
	m.noise.log(m.log, slog.LevelWarn, what, args...)
}

func (m *mcp) answered(msg message) {
	var id int64
	if json.Unmarshal(msg.ID, &id) != nil {
		m.odd("an answer with an id that the host has not given", "id", cut(string(msg.ID), 100))
		return
	}
	m.mu.Lock()
	r := m.waiting[id]
	late := m.late[id]
	delete(m.waiting, id)
	delete(m.late, id)
	if r != nil {
		m.junk.Store(0)
	}
	m.mu.Unlock()
	switch {
	case r != nil:
		r.answer <- msg
	case !late:
		m.odd("an answer to nothing that was asked", "id", id)
	}
}

// noted takes a notification.
func (m *mcp) noted(msg message) {
	switch msg.Method {
	case "notifications/progress":
		var p struct {
			ProgressToken   any
			Progress, Total float64
			Message         string
		}
		if json.Unmarshal(msg.Params, &p) != nil {
			m.odd("progress that is not as it should be")
			return
		}
		token, _ := p.ProgressToken.(float64)
		m.mu.Lock()
		r := m.waiting[int64(token)]
		m.mu.Unlock()
		if r == nil || r.call == nil || r.call.Progress == nil || r.ctx.Err() != nil {
			return // of a call that has ended
		}
		text := p.Message
		switch {
		case text == "" && p.Total > 0:
			text = fmt.Sprintf("%g of %g", p.Progress, p.Total)
		case text == "":
			text = fmt.Sprintf("%g", p.Progress)
		}
		r.call.Progress(text)
	case "notifications/message":
		var p struct {
			Level, Logger string
			Data          json.RawMessage
		}
		if json.Unmarshal(msg.Params, &p) == nil {
			m.logged.log(m.log, mcpLevel(p.Level), "from the server", "logger", cut(p.Logger, 100), "data", cut(string(p.Data), maxLogged))
		}
	case "notifications/tools/list_changed":
		m.logged.log(m.log, slog.LevelInfo, "the server's tools have changed; what the plugin offers stays as it is until the plugin is loaded anew")
	}
}

// mcpLevel gives the level of a level's name in MCP.
func mcpLevel(name string) slog.Level {
	switch name {
	case "debug":
		return slog.LevelDebug
	case "warning":
		return slog.LevelWarn
	case "error", "critical", "alert", "emergency":
		return slog.LevelError
	}
	return slog.LevelInfo
}
