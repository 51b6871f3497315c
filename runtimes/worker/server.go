package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/child"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/node"
	pb "github.com/toolhost/toolhost/runtimes/worker/workerpb"
)

// abortGrace is how long a call keeps its grant once it was cancelled, so that abort
// listeners can put things in order.
const abortGrace = 250 * time.Millisecond

// server serves the calls of one plugin, in the worker.
type server struct {
	pb.UnimplementedWorkerServer

	opening   sync.Mutex
	mu        sync.Mutex
	policy    *permissions.Policy
	instance  runtimes.Instance // nil until the plugin is open
	maxResult int
	sessions  sessions
}

func newServer() *server { return &server{} }

// Open loads the plugin.
func (s *server) Open(stream pb.Worker_OpenServer) error {
	s.opening.Lock()
	defer s.opening.Unlock()
	if _, _, open := s.open(); open {
		return status.Error(codes.FailedPrecondition, "the plugin is open")
	}
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	p := first.GetPlugin()
	if p == nil {
		return status.Error(codes.InvalidArgument, "the first message is no plugin")
	}
	policy, err := decodePolicy(p.GetPolicy())
	if err != nil {
		return status.Error(codes.InvalidArgument, "the policy cannot be read")
	}
	for name, value := range p.GetEnv() {
		if err := os.Setenv(name, string(value)); err != nil {
			return status.Errorf(codes.InvalidArgument, "the variable %q: %v", name, err)
		}
	}
	session := newSession(stream)
	ctx, cancel := context.WithCancelCause(withSession(stream.Context(), session))
	go session.receive(cancel)
	s.sessions.add(session)
	defer s.sessions.remove(session)

	spec := runtimes.Spec{
		Plugin: p.GetName(), Version: p.GetVersion(), Dir: p.GetDir(), Policy: policy, State: p.GetState(), Engine: p.GetEngine(),
		Services: services(&s.sessions), Log: slog.New(&forwarder{least: slog.LevelDebug, send: session.log}),
	}
	if raw := p.GetCard(); len(raw) > 0 {
		if err := json.Unmarshal(raw, &spec.Card); err != nil {
			return status.Error(codes.InvalidArgument, "the card cannot be read")
		}
	}
	for _, t := range p.GetTools() {
		spec.Tools = append(spec.Tools, runtimes.Tool{ID: t.GetId(), Handler: t.GetHandler(), Field: t.GetField()})
	}
	runtime := node.New(&node.Options{MaxResult: int(p.GetMaxResult()), LoadLimit: time.Duration(p.GetLoadLimit()), MaxHeap: uint64(p.GetMaxHeap()), Sources: p.GetSources()})
	if limit := p.GetMaxHeap(); limit > 0 {
		// Garbage is collected before it fills what the script may use.
		debug.SetMemoryLimit(limit)
	}
	instance, err := runtime.Open(ctx, spec)
	opened := &pb.Opened{}
	var load *runtimes.LoadError
	switch {
	case err == nil:
		for path, sum := range instance.Inputs() {
			opened.Inputs = append(opened.Inputs, &pb.Input{Path: []byte(path), Sha256: sum[:]})
		}
		s.mu.Lock()
		s.policy, s.instance, s.maxResult = policy, instance, int(p.GetMaxResult())
		s.mu.Unlock()
	case errors.As(err, &load):
		for _, p := range load.Problems {
			opened.Problems = append(opened.Problems, &pb.Problem{
				File: []byte(p.File), Line: int64(p.Line), Column: int64(p.Column), Message: []byte(p.Message), Hint: []byte(p.Hint),
			})
		}
	default:
		opened.Error = encodeError(err)
	}
	return session.send(&pb.FromWorker{Message: &pb.FromWorker_Opened{Opened: opened}})
}

// open gives what is open.
func (s *server) open() (runtimes.Instance, *permissions.Policy, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.instance, s.policy, s.instance != nil
}

// Call runs one call.
func (s *server) Call(stream pb.Worker_CallServer) error {
	instance, policy, open := s.open()
	if !open {
		return status.Error(codes.FailedPrecondition, "the plugin is not open")
	}
	first, err := stream.Recv()
	if err != nil {
		return err
	}
	c := first.GetCall()
	if c == nil {
		return status.Error(codes.InvalidArgument, "the first message is no call")
	}
	session := newSession(stream)
	ctx, cancel := context.WithCancelCause(withSession(stream.Context(), session))
	defer cancel(errCallEnded)
	var named []string
	for _, n := range c.GetNamed() {
		named = append(named, string(n))
	}
	grant := policy.Regrant(string(c.GetGrantFolder()), named)
	defer grant.Revoke()
	if c.GetRecord() {
		grant.Record()
	}
	defer context.AfterFunc(ctx, func() { time.AfterFunc(abortGrace, grant.Revoke) })()
	call := &host.Call{
		ID: c.GetId(), Tool: c.GetTool(), Args: c.GetArgs(), Agent: host.Agent{ID: string(c.GetAgentId()), Name: string(c.GetAgentName())},
		Folder: string(c.GetFolder()), Grant: grant, Progress: session.progress,
		Log: slog.New(&forwarder{least: slog.Level(c.GetLogLevel()), send: session.log}),
	}
	if n := c.GetDeadline(); n != 0 {
		call.Deadline = time.Unix(0, n)
	}
	session.callID, session.grant = call.ID, grant
	s.sessions.add(session)
	defer s.sessions.remove(session)
	go session.receive(cancel)

	result, err := runHandler(ctx, instance.Handler(c.GetHandler()), call)
	outcome := &pb.Outcome{}
	switch cause := context.Cause(ctx); {
	case err == nil:
		outcome.Result, err = encodeResult(s.within(result, call.Tool))
		outcome.Error = encodeError(err)
	case cause != nil && errors.Is(err, cause):
		outcome.Cancelled = true
	default:
		outcome.Error = encodeError(err)
	}
	outcome.Touched = encodeTouched(grant.Touched())
	session.flush()
	return session.send(&pb.FromWorker{Message: &pb.FromWorker_Outcome{Outcome: outcome}})
}

// runHandler runs a handler; where it panics it is as if the engine had failed.
func runHandler(ctx context.Context, h host.Handler, call *host.Call) (result *host.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			call.Log.Error("the handler panicked", "err", fmt.Sprint(v), "stack", string(debug.Stack()))
			err = fmt.Errorf("internal error in tool %q", call.Tool)
		}
	}()
	return h.Handle(ctx, call)
}

// within gives a result that is small enough to be sent, or the failed one that the host
// would make of it.
func (s *server) within(r *host.Result, tool string) *host.Result {
	if r == nil || len(r.Content) == 0 || r.Size() <= 4*s.maxResult {
		return r
	}
	return host.ErrorResult(fmt.Sprintf("the result of tool %q is %d bytes; the limit is %d bytes", tool, r.Size(), s.maxResult))
}

// errCallEnded ends what a call has left behind.
var errCallEnded = errors.New("the call has ended")

// errHostGone is why calls end that the host has left.
var errHostGone = errors.New("the host has gone")

// cancelCause is why the host cancelled a call.
type cancelCause struct {
	text    string
	timeout bool
}

func (c *cancelCause) Error() string { return c.text }

// Is reports whether target is context.DeadlineExceeded and the call ran out of time.
func (c *cancelCause) Is(target error) bool { return c.timeout && target == context.DeadlineExceeded }

// stream is the worker's end of a call or of the opening.
type stream interface {
	Send(*pb.FromWorker) error
	Recv() (*pb.FromHost, error)
	Context() context.Context
}

// session is the worker's side of one stream.
type session struct {
	stream stream
	callID string
	grant  *permissions.Grant
	lines  child.Limiter
	said   child.Limiter // of progress

	sending sync.Mutex

	mu      sync.Mutex
	lastID  uint64
	waiting map[uint64]chan *pb.Reply
	over    bool    // no reply comes any more
	unsaid  *string // the last progress that was held back
}

const (
	// logBurst and logRate are how many lines of one call reach the log, at once and a second.
	logBurst = 2000
	logRate  = 200
	// progressBurst and progressRate are the same for what a call says on its way.
	progressBurst = 100
	progressRate  = 20
)

func newSession(s stream) *session {
	return &session{stream: s, waiting: map[uint64]chan *pb.Reply{}, lines: child.Limiter{Burst: logBurst, PerSecond: logRate}, said: child.Limiter{Burst: progressBurst, PerSecond: progressRate}}
}

// receive takes what the host says until the stream ends.
func (s *session) receive(cancel context.CancelCauseFunc) {
	for {
		m, err := s.stream.Recv()
		if err != nil {
			if errors.Is(err, io.EOF) || s.stream.Context().Err() != nil {
				err = errHostGone
			}
			cancel(err)
			s.end()
			return
		}
		switch m := m.GetMessage().(type) {
		case *pb.FromHost_Cancel:
			cancel(&cancelCause{string(m.Cancel.GetText()), m.Cancel.GetTimeout()})
		case *pb.FromHost_Reply:
			s.mu.Lock()
			to := s.waiting[m.Reply.GetId()]
			delete(s.waiting, m.Reply.GetId())
			s.mu.Unlock()
			if to != nil {
				to <- m.Reply // it has room for one
			}
		}
	}
}

// end lets nobody wait any longer.
func (s *session) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	for id, to := range s.waiting {
		close(to)
		delete(s.waiting, id)
	}
}

func (s *session) send(m *pb.FromWorker) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	return s.stream.Send(m)
}

// log sends a line of the log, unless there are too many. A stream that has ended takes none.
func (s *session) log(m *pb.Log) {
	ok, dropped := s.lines.Take()
	if !ok {
		return
	}
	if dropped > 0 {
		_ = s.send(&pb.FromWorker{Message: &pb.FromWorker_Log{Log: tooManyLines(dropped)}})
	}
	_ = s.send(&pb.FromWorker{Message: &pb.FromWorker_Log{Log: m}})
}

// progress sends a message on the way. Of too many the last one is sent at the end.
func (s *session) progress(message string) {
	ok, _ := s.said.Take()
	s.mu.Lock()
	s.unsaid = nil
	if !ok {
		s.unsaid = &message
	}
	s.mu.Unlock()
	if ok {
		_ = s.send(&pb.FromWorker{Message: &pb.FromWorker_Progress{Progress: cutText(message)}})
	}
}

// flush sends the last message on the way that was held back.
func (s *session) flush() {
	s.mu.Lock()
	message := s.unsaid
	s.mu.Unlock()
	if message != nil {
		_ = s.send(&pb.FromWorker{Message: &pb.FromWorker_Progress{Progress: cutText(*message)}})
	}
}
