package plugin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/toolhost/toolhost/runtimes/process/plugin/pluginpb"
)

// server serves the calls.
type server struct {
	pb.UnimplementedPluginServer
	tools map[string]Handler
	// stderr is the program's own. go-plugin puts another one in its place, whose last lines
	// are lost when the program crashes: those that say why.
	stderr *os.File
	keep   sync.Once
}

// ListTools gives the tools by their ids. The host asks for them first.
func (s *server) ListTools(context.Context, *pb.ListToolsRequest) (*pb.ListToolsReply, error) {
	s.keep.Do(func() { os.Stderr = s.stderr }) // before the first call: that comes after this one
	reply := &pb.ListToolsReply{}
	for _, id := range slices.Sorted(maps.Keys(s.tools)) {
		reply.Tools = append(reply.Tools, &pb.Tool{Id: id})
	}
	return reply, nil
}

// errCancelled is why the context of a call ends that the host has cancelled.
var errCancelled = errors.New("the call was cancelled")

// CallTool runs one call. It returns when the handler has.
func (s *server) CallTool(wire grpc.BidiStreamingServer[pb.ToPlugin, pb.ToHost]) error {
	first, err := wire.Recv()
	if err != nil {
		return err
	}
	m := first.GetCall()
	if m == nil {
		return status.Error(codes.InvalidArgument, "the first message must be the call")
	}
	handler, ok := s.tools[m.GetTool()]
	if !ok {
		return status.Errorf(codes.NotFound, "this program has no tool %q", m.GetTool())
	}
	ctx, cancel := context.WithCancelCause(wire.Context())
	defer cancel(nil)
	st := &stream{wire: wire, waiting: map[uint64]chan *pb.Reply{}, ended: make(chan struct{})}
	c := &Call{
		ID: m.GetId(), Tool: m.GetTool(), Args: m.GetArguments(), AgentID: m.GetAgentId(), AgentName: m.GetAgentName(),
		Folder: m.GetFolder(), Log: slog.New(&logHandler{stream: st}), stream: st,
	}
	if ms := m.GetDeadline(); ms > 0 {
		c.Deadline = time.UnixMilli(ms)
		ctx = bounded{ctx, c.Deadline}
	}
	go st.receive(cancel)
	result := run(ctx, handler, c)
	if err := st.finish(&pb.ToHost{Message: &pb.ToHost_Result{Result: result}}); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// bounded shows a deadline and keeps no clock for it: the host ends the call then, and says
// so. A clock here could be early, and its end would pass for what the handler answers.
type bounded struct {
	context.Context
	at time.Time
}

func (b bounded) Deadline() (time.Time, bool) { return b.at, true }

// run runs a handler. A panic is a failed call, not the end of the others.
func run(ctx context.Context, handler Handler, c *Call) (result *pb.Result) {
	defer func() {
		if v := recover(); v != nil {
			// Not to stderr, of which the host cannot tell whose call a line is.
			c.Log.Error("the handler panicked", "err", fmt.Sprint(v), "stack", string(debug.Stack()))
			result = outcome(nil, fmt.Errorf("the handler of tool %q panicked: %v", c.Tool, v))
		}
	}()
	return outcome(handler(ctx, c))
}
