package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/child"
	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/internal/rpcchild"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes/process/plugin"
	pb "github.com/toolhost/toolhost/runtimes/process/plugin/pluginpb"
)

const (
	// answerLimit is how long a process may take to say which tools it has.
	answerLimit = 2 * time.Second
	// maxLogged is how many bytes of a message or of its attributes are logged.
	maxLogged = 8 << 10
)

// rpc speaks with a process by our service over go-plugin.
type rpc struct {
	in *instance
	health
	client pb.PluginClient
	tools  map[string]bool
	use    use
	logged *limiter // what it logs
	noise  *limiter // what it prints

	doubt doubt

	mu    sync.Mutex
	stuck int
}

var _ link = (*rpc)(nil)

// startRPC starts a process that serves calls by gRPC, and asks it for its tools.
func startRPC(ctx context.Context, in *instance, o *child.Options, use use) (*connection, error) {
	g := &rpc{in: in, use: use, logged: &limiter{}, noise: &limiter{}}
	c, err := rpcchild.Start(ctx, &rpcchild.Options{
		Child: *o, Cookie: [2]string{plugin.CookieKey, plugin.CookieValue}, Version: plugin.Version, Service: plugin.ServiceName,
		MaxMessage: plugin.MaxMessage, Said: func(line string) { g.noise.log(o.Log, slog.LevelInfo, "stdout", "line", line) },
	})
	var failed *rpcchild.StartError
	if errors.As(err, &failed) {
		return nil, &Failure{What: failed.What, Tail: failed.Tail, Err: failed.Err}
	}
	if err != nil {
		return nil, err
	}
	g.p, g.client = c.Process(), pb.NewPluginClient(c.Connection())
	if err := g.list(ctx); err != nil {
		c.Stop(0)
		return nil, err
	}
	return &connection{c.Process(), g, c.Ask, func(grace time.Duration) {
		c.Stop(grace)
		g.noise.flush(o.Log)
		g.logged.flush(o.Log)
	}}, nil
}

// list asks the process which tools it has.
func (g *rpc) list(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	reply, err := g.client.ListTools(limited, &pb.ListToolsRequest{})
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && limited.Err() != nil:
		return &Failure{What: fmt.Sprintf("its process did not say within %s which tools it has", answerLimit), Tail: g.p.Tail()}
	case err != nil:
		return g.failure(err)
	}
	g.tools = map[string]bool{}
	for _, t := range reply.GetTools() {
		g.tools[t.GetId()] = true
	}
	return nil
}

// call makes one call.
func (g *rpc) call(ctx context.Context, call *host.Call, arguments json.RawMessage) (*host.Result, error) {
	if err := g.doubt.wait(ctx); err != nil {
		return nil, err
	}
	if !g.usable() {
		return nil, errUnsent
	}
	if !g.tools[call.Tool] {
		return host.ErrorResult(fmt.Sprintf("plugin %q: its program has no tool %q, which its manifest names", g.in.spec.Plugin, call.Tool)), nil
	}
	settle := g.doubt.sending(ctx)
	defer settle()
	// The stream goes on for a while after ctx: the process is told of the end, and shows
	// that it has heard it.
	wire, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stream, err := g.client.CallTool(wire)
	if err != nil {
		return nil, g.failure(err)
	}
	serving, stopServing := context.WithCancel(ctx)
	x := &rpcCall{rpc: g, call: call, ctx: serving, stream: stream, nested: make(chan struct{}, maxNested), over: make(chan struct{})}
	stop := context.AfterFunc(ctx, func() {
		defer close(x.over)
		x.cancel(context.Cause(ctx), wire, settle)
		cancel()
	})
	defer func() {
		stopServing()
		cancel()
		if !stop() {
			<-x.over
		}
		x.work.Wait()
	}()
	x.send(g.request(call, arguments))
	result, err := x.receive()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return result, err
}

// cancel tells the process that nobody waits for the result any more, and gives it time to
// end the call: wire ends with the stream. settle follows once it is known whether the process
// still answers.
func (x *rpcCall) cancel(why error, wire context.Context, settle func()) {
	x.work.Go(func() {
		x.send(&pb.ToPlugin{Message: &pb.ToPlugin_Cancel{Cancel: &pb.Cancel{Reason: strings.ToValidUTF8(why.Error(), "\ufffd")}}})
	})
	x.check()
	settle()
	t := time.NewTimer(x.use.grace)
	defer t.Stop()
	select {
	case <-wire.Done():
	case <-t.C:
		x.giveUp()
	}
}

// check looks whether the process still answers.
func (g *rpc) check() {
	ctx, cancel := context.WithTimeout(g.in.base, g.use.grace)
	defer cancel()
	if _, err := g.client.ListTools(ctx, &pb.ListToolsRequest{}); err != nil {
		g.breakOff(&Failure{What: "its process does not answer any more", Tail: g.p.Tail()})
	}
}

// giveUp counts a call that goes on after it was cancelled. After too many the process is
// given up.
func (g *rpc) giveUp() {
	g.mu.Lock()
	g.stuck++
	over := g.stuck >= g.use.stuck
	g.mu.Unlock()
	if over {
		g.breakOff(&Failure{What: "calls in its process went on after they had been cancelled, and it is started anew"})
	}
}

func (g *rpc) request(call *host.Call, arguments json.RawMessage) *pb.ToPlugin {
	valid := func(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
	m := &pb.Call{
		Id: call.ID, Tool: call.Tool, Arguments: arguments, AgentId: valid(call.Agent.ID), AgentName: valid(call.Agent.Name),
		Folder: valid(call.Grant.Folder()),
	}
	if !call.Deadline.IsZero() {
		m.Deadline = call.Deadline.UnixMilli()
	}
	return &pb.ToPlugin{Message: &pb.ToPlugin_Call{Call: m}}
}

// failure says what went wrong with the process when a request failed.
func (g *rpc) failure(err error) error {
	s, _ := status.FromError(err)
	switch s.Code() {
	case codes.Unavailable, codes.Canceled, codes.Internal, codes.Aborted:
	case codes.Unimplemented:
		return &Failure{What: fmt.Sprintf("its program does not serve %s", pb.Plugin_ServiceDesc.ServiceName), Err: errors.New(cut(s.Message(), 300))}
	default:
		return &Failure{What: "its process answered " + s.Code().String(), Err: errors.New(cut(s.Message(), 300)), Tail: g.p.Tail()}
	}
	if why := g.why(); why != nil {
		return why // it was killed for that
	}
	f := &Failure{What: "its process ended the connection without an answer"}
	if g.endsWithin(exitWait) {
		f = ended(g.p)
	}
	f.Tail = g.p.Tail()
	g.breakOff(f)
	return g.why() // the first reason, where calls fail at once
}

// rpcCall is one call on its way.
type rpcCall struct {
	*rpc
	call   *host.Call
	ctx    context.Context
	stream pb.Plugin_CallToolClient
	nested chan struct{}
	over   chan struct{}  // closed when the process was told that ctx has ended
	work   sync.WaitGroup // goroutines of this call

	writing sync.Mutex
	odd     int // messages that no program sends; of the receiving goroutine
}

// send sends a message. Where that fails, receiving does too, and says why.
func (x *rpcCall) send(m *pb.ToPlugin) {
	x.writing.Lock()
	defer x.writing.Unlock()
	_ = x.stream.Send(m)
}

// receive takes what the process says until it has said the result.
func (x *rpcCall) receive() (*host.Result, error) {
	log := x.in.logOf(x.call)
	for {
		m, err := x.stream.Recv()
		if err != nil && x.ctx.Err() != nil {
			return nil, context.Cause(x.ctx)
		}
		if err != nil {
			return x.ended(err)
		}
		switch m := m.GetMessage().(type) {
		case *pb.ToHost_Result:
			return x.result(m.Result)
		case *pb.ToHost_Progress:
			if x.call.Progress != nil && x.ctx.Err() == nil {
				x.call.Progress(m.Progress.GetMessage())
			}
		case *pb.ToHost_Log:
			x.log(log, m.Log)
		case *pb.ToHost_Request:
			x.asked(log, m.Request)
		default:
			x.passOver(log, "it holds nothing that the host knows")
		}
		if x.odd > maxJunk {
			f := &Failure{What: fmt.Sprintf("its process sent more than %d messages that make no sense", maxJunk), Tail: x.p.Tail()}
			x.breakOff(f)
			return nil, f
		}
	}
}

// passOver notes a message that belongs nowhere.
func (x *rpcCall) passOver(log *slog.Logger, why string) {
	x.odd++
	x.noise.log(log, slog.LevelWarn, "a message was passed over: "+why)
}

// ended says what became of a call whose stream has ended without a result.
func (x *rpcCall) ended(err error) (*host.Result, error) {
	name := x.in.spec.Plugin
	if err == io.EOF {
		return host.ErrorResult(fmt.Sprintf("plugin %q: its program ended the call without a result", name)), nil
	}
	s, _ := status.FromError(err)
	switch s.Code() {
	case codes.Unavailable, codes.Canceled, codes.Internal, codes.Aborted, codes.Unimplemented:
		return nil, x.failure(err)
	case codes.ResourceExhausted:
		return host.ErrorResult(fmt.Sprintf("plugin %q: its program sent a message of more than %d bytes; the limit of a result is %d bytes",
			name, plugin.MaxMessage, x.in.runtime.options.MaxResult)), nil
	}
	// Libraries answer so where a handler has failed.
	text := cut(s.Message(), 4000)
	if text == "" {
		text = fmt.Sprintf("plugin %q: its program answered %s", name, s.Code())
	}
	return host.ErrorResult(text), nil
}

// result gives what a program returned.
func (x *rpcCall) result(m *pb.Result) (*host.Result, error) {
	switch o := m.GetOutcome().(type) {
	case nil:
		return &host.Result{}, nil
	case *pb.Result_Error:
		return host.ErrorResult(o.Error), nil
	case *pb.Result_Text:
		return host.TextResult(o.Text), nil
	case *pb.Result_Value:
		if !json.Valid(o.Value) {
			return host.ErrorResult(fmt.Sprintf("plugin %q: the value that its program returned is no JSON", x.in.spec.Plugin)), nil
		}
		return host.ValueResult(plain(o.Value)), nil
	}
	return nil, errors.New("the result is of an unknown kind")
}

func (x *rpcCall) log(log *slog.Logger, m *pb.Log) {
	var args []any
	if raw := m.GetAttributes(); len(raw) > 0 && len(raw) <= maxLogged {
		if doc, err := jsondoc.Parse(raw); err == nil {
			if attrs, ok := doc.Value.(map[string]any); ok {
				for _, name := range doc.Keys("") {
					args = append(args, slog.Any(name, attrs[name]))
				}
			}
		}
	}
	if len(args) > 0 {
		args = []any{slog.Group("from", args...)} // its names must not pass for the host's
	}
	x.logged.log(log, slog.Level(min(max(m.GetLevel(), -8), 8)), cut(m.GetMessage(), maxLogged), args...)
}

// asked answers a request of the process.
func (x *rpcCall) asked(log *slog.Logger, m *pb.Request) {
	select {
	case x.nested <- struct{}{}:
	default:
		x.passOver(log, fmt.Sprintf("more than %d requests at once", maxNested))
		return
	}
	x.work.Go(func() {
		defer func() { <-x.nested }()
		result, err := x.ask(m)
		reply := &pb.Reply{Id: m.GetId()}
		if err == nil {
			raw := jsondoc.Marshal(result)
			if len(raw) > plugin.MaxMessage {
				err = fmt.Errorf("the answer has %d bytes; the limit is %d bytes", len(raw), plugin.MaxMessage)
			}
			reply.Outcome = &pb.Reply_Result{Result: raw}
		}
		if err != nil {
			e := &pb.Error{Message: strings.ToValidUTF8(err.Error(), "\ufffd")}
			if errors.Is(err, permissions.ErrDenied) {
				e.Code = "EACCES"
			}
			reply.Outcome = &pb.Reply_Error{Error: e}
		}
		if x.ctx.Err() == nil {
			x.send(&pb.ToPlugin{Message: &pb.ToPlugin_Reply{Reply: reply}})
		}
	})
}

// ask has the host answer a request. A panic on the way is the answer.
func (x *rpcCall) ask(m *pb.Request) (result any, err error) {
	defer func() {
		if v := recover(); v != nil {
			x.in.spec.Log.Error("a service panicked", "err", fmt.Sprint(v), "stack", string(debug.Stack()))
			result, err = nil, errors.New("internal error in the host")
		}
	}()
	if raw := m.GetParams(); len(raw) > 0 && !json.Valid(raw) {
		return nil, errors.New("the params are no JSON")
	}
	return x.in.serve(x.ctx, x.call, m.GetMethod(), m.GetParams())
}
