package process

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/child"
	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/permissions"
)

const (
	// maxLine is how long one line of a process may be, in bytes.
	maxLine = 4 << 20
	// maxJunk is how many lines of one call may be no message.
	maxJunk = 1000
	// maxNested is how many requests of one call may be under way.
	maxNested = 16
	// exitWait is how long a process that has closed a stream, or its connection, is waited
	// for, to say how it ended: closing is a part of ending, and the rest of it takes time on a
	// busy machine. Only calls that have failed wait, of processes that live on.
	exitWait = 3 * time.Second
	// cancelWait is how long writing a cancel may take, or the rest of a request that has
	// been answered: a process that does not read is not waited for.
	cancelWait = 50 * time.Millisecond
)

// stdio speaks with a process by Filer's protocol: one JSON message a line.
type stdio struct {
	lines
	log         *slog.Logger
	serve       func(ctx context.Context, call *host.Call, method string, params json.RawMessage) (any, error)
	withContext bool
	grace       time.Duration // for the answer to a call that was cancelled
	logged      limiter       // what the process logs

	writing sync.Mutex // one line at a time

	mu      sync.Mutex
	current *exchange // the call that runs
	calls   int       // so far, for ids
}

// exchange is one call on its way.
type exchange struct {
	id     string
	call   *host.Call
	ctx    context.Context
	answer chan message // of one
	nested chan struct{}
	asking sync.WaitGroup
}

func openStdio(p *child.Process, in *instance, grace time.Duration) *stdio {
	s := &stdio{lines: newLines(p, in), log: in.spec.Log, serve: in.serve, withContext: in.runtime.options.Context, grace: grace}
	go s.read(s.take)
	return s
}

var _ link = (*stdio)(nil)

// call makes one call. What goes wrong with the process is a *Failure.
func (s *stdio) call(ctx context.Context, call *host.Call, params json.RawMessage) (*host.Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	x := &exchange{call: call, ctx: ctx, answer: make(chan message, 1), nested: make(chan struct{}, maxNested)}
	s.mu.Lock()
	if err := s.why(); err != nil || s.current != nil {
		s.mu.Unlock()
		cancel()
		if errors.Is(err, io.EOF) { // it has ended since it was looked whether it has
			return nil, s.failure()
		}
		return nil, &Failure{What: "its process cannot take another call", Err: err}
	}
	s.calls++
	x.id = "c" + strconv.Itoa(s.calls)
	s.current = x
	s.junk.Store(0)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.current = nil
		s.mu.Unlock()
		cancel()
		x.asking.Wait()
	}()

	sent := make(chan error, 1)
	go func() {
		n, err := s.send(ctx, request(x.id, call.Tool, params, s.context(call)))
		if n == 0 && errors.Is(err, syscall.EPIPE) { // who has read a part may answer
			s.hungUp(err)
		}
		sent <- err
	}()
	var result *host.Result
	var err error
	select {
	case m := <-x.answer:
		result, err = m.result()
	case <-s.ended:
		select {
		case m := <-x.answer: // the last line
			result, err = m.result()
		default:
			err = s.failure()
		}
	case <-ctx.Done():
		err = context.Cause(ctx)
		s.cancel(x, sent)
		return nil, err
	}
	t := time.NewTimer(cancelWait)
	defer t.Stop()
	select {
	case sendErr := <-sent:
		s.breakOff(sendErr)
	case <-t.C:
		s.breakOff(errors.New("it has answered without reading its request to the end"))
	}
	return result, err
}

// request writes a request as one line. context is a further member; nil for none.
func request(id, method string, params, context json.RawMessage) []byte {
	var line bytes.Buffer
	fmt.Fprintf(&line, `{"id":%s,"method":%s,"params":`, jsondoc.Quote(id), jsondoc.Quote(method))
	if json.Compact(&line, params) != nil { // a line end in it would end the message
		line.WriteString("{}")
	}
	if context != nil {
		line.WriteString(`,"context":`)
		line.Write(context)
	}
	line.WriteString("}\n")
	return line.Bytes()
}

// context gives what a program of ours is told of a call.
func (s *stdio) context(call *host.Call) json.RawMessage {
	if !s.withContext {
		return nil
	}
	return jsondoc.Marshal(map[string]any{
		"callId": call.ID, "agent": map[string]string{"id": call.Agent.ID, "name": call.Agent.Name},
		"folder": call.Grant.Folder(), "deadline": call.Deadline.UnixMilli(),
	})
}

// send writes one line, and gives how many bytes of it were written; it gives up when ctx
// ends.
func (s *stdio) send(ctx context.Context, line []byte) (n int, err error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := context.Cause(ctx); err != nil {
		return 0, err
	}
	if err := s.p.Stdin().SetWriteDeadline(time.Time{}); err != nil {
		return 0, err
	}
	stop := context.AfterFunc(ctx, func() { _ = s.p.Stdin().SetWriteDeadline(time.Now()) })
	defer stop()
	n, err = s.p.Stdin().Write(line)
	if err != nil {
		s.breakOff(err) // half a line may be in the pipe
	}
	return n, err
}

// cancel tells the process that nobody waits for an answer any more.
func (s *stdio) cancel(x *exchange, sent <-chan error) {
	if err := <-sent; err != nil { // the end of the context ends the writing, too
		s.breakOff(err)
		return
	}
	ctx, done := context.WithTimeout(context.Background(), cancelWait)
	defer done()
	line := `{"method":"cancel","params":{"id":` + jsondoc.Quote(x.id) + "}}\n"
	_, _ = s.send(ctx, []byte(line)) // one that does not read it is ended
	// Its answer, which is late now, shows that it is ready for the next call.
	select {
	case <-x.answer:
	case <-s.ended:
	case <-time.After(s.grace):
		s.breakOff(errors.New("it does not answer"))
	}
}

// take acts on one line.
func (s *stdio) take(line []byte) {
	m, noise, ok := readMessage(line)
	s.mu.Lock()
	x := s.current
	log := s.log
	if x != nil && x.call.Log != nil {
		log = x.call.Log
	}
	if noise != "" || !ok {
		s.junk.Add(1)
	}
	s.mu.Unlock()
	switch {
	case noise != "":
		log.Warn("a line on stdout is no message", "line", cut(noise, 200))
	case !ok:
		return // an empty line
	}
	if !ok {
		return
	}
	switch {
	case m.Method != "" && m.ID != nil:
		s.nested(x, m)
	case m.Method != "":
		s.notification(x, m, log)
	default:
		s.answer(x, m, log)
	}
}

func (s *stdio) answer(x *exchange, m message, log *slog.Logger) {
	var id string
	if x == nil || json.Unmarshal(m.ID, &id) != nil || id != x.id {
		s.odd(log, "an answer to no call that runs", m.ID)
		return
	}
	select {
	case x.answer <- m:
	default:
		s.odd(log, "a second answer to one call", m.ID)
	}
}

// odd notes a message that belongs nowhere.
func (s *stdio) odd(log *slog.Logger, what string, id json.RawMessage) {
	s.mu.Lock()
	s.junk.Add(1)
	s.mu.Unlock()
	log.Warn("a message on stdout was passed over: "+what, "id", cut(string(id), 100))
}

// notification takes what needs no answer.
func (s *stdio) notification(x *exchange, m message, log *slog.Logger) {
	var p struct {
		ID      string
		Message any
		Level   string
	}
	if m.Params != nil && json.Unmarshal(m.Params, &p) != nil {
		s.odd(log, "the params of "+cut(m.Method, 50)+" are not as they should be", m.ID)
		return
	}
	text, isText := p.Message.(string)
	switch {
	case m.Method == "log" && isText:
		var level slog.Level
		_ = level.UnmarshalText([]byte(p.Level)) // another word counts as info
		s.logged.log(log, level, cut(text, maxLogged))
	case m.Method == "progress" && isText && x != nil && p.ID == x.id:
		if x.call.Progress != nil && x.ctx.Err() == nil {
			x.call.Progress(text)
		}
	case m.Method == "progress" && isText:
		s.odd(log, "progress of no call that runs", jsondoc.Marshal(p.ID))
	case m.Method == "progress" || m.Method == "log":
		s.odd(log, m.Method+" without a text as its message", m.ID)
	default:
		s.odd(log, "the notification "+cut(m.Method, 50)+" is unknown", m.ID)
	}
}

// nested answers a request of the process.
func (s *stdio) nested(x *exchange, m message) {
	reply := func(ctx context.Context, result any, err error) {
		line := struct {
			ID     json.RawMessage `json:"id"`
			Result any             `json:"result,omitempty"`
			Error  string          `json:"error,omitempty"`
			Code   string          `json:"code,omitempty"`
		}{ID: m.ID, Result: result}
		if err != nil {
			line.Result, line.Error = nil, err.Error()
			if errors.Is(err, permissions.ErrDenied) {
				line.Code = "EACCES"
			}
		} else if result == nil {
			line.Result = json.RawMessage("null")
		}
		_, _ = s.send(ctx, append(jsondoc.Marshal(line), '\n')) // one that does not read it has its reasons
	}
	if x == nil {
		s.odd(s.log, "a request outside of a call", m.ID)
		return
	}
	select {
	case x.nested <- struct{}{}:
	default:
		// Answering it here could wait for a process that waits for us to read.
		s.odd(s.log, fmt.Sprintf("more than %d requests at once", maxNested), m.ID)
		return
	}
	x.asking.Add(1)
	go func() {
		defer x.asking.Done()
		defer func() { <-x.nested }()
		result, err := s.ask(x, m)
		reply(x.ctx, result, err)
	}()
}

// ask has the host answer a request. A panic on the way is the answer.
func (s *stdio) ask(x *exchange, m message) (result any, err error) {
	defer func() {
		if v := recover(); v != nil {
			s.log.Error("a service panicked", "err", fmt.Sprint(v), "stack", string(debug.Stack()))
			result, err = nil, errors.New("internal error in the host")
		}
	}()
	return s.serve(x.ctx, x.call, m.Method, m.Params)
}
