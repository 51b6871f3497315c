package worker

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/child"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
	pb "github.com/toolhost/toolhost/runtimes/worker/workerpb"
)

const (
	// maxAsked is how many requests of one stream may be open.
	maxAsked = 1024
	// maxHandles is how many bodies and connections of one stream may be open.
	maxHandles = 512
	// maxSaid is how many messages that get no reply one stream may send. A script that
	// talks without a pause comes nowhere near: the worker holds its lines back.
	maxSaid = 200_000
)

// hosted is the host's side of one stream. What the worker asks for on it is done with the
// host's own call and grant, and through guarded services: what the worker says of itself
// does not count.
type hosted struct {
	stream interface {
		Send(*pb.FromHost) error
		Recv() (*pb.FromWorker, error)
	}
	services runtimes.Services
	grant    *permissions.Grant
	call     *host.Call // nil while the plugin is opened
	log      *slog.Logger

	lines   child.Limiter
	sending sync.Mutex
	working sync.WaitGroup

	mu      sync.Mutex
	asked   map[uint64]context.CancelFunc
	handles map[uint64]*handle
	last    uint64
	over    bool
}

// handle is a body or a connection that the worker reads from.
type handle struct {
	from   io.ReadCloser
	conn   net.Conn // nil for a body
	cancel context.CancelFunc
	read   sync.Mutex
	write  sync.Mutex
}

func (h *handle) close() {
	_ = h.from.Close() // the worker does not want it any more
	h.cancel()
}

// protocolError says what a worker did that ours never does.
type protocolError struct{ what string }

func (e *protocolError) Error() string { return "the worker does not keep to the protocol: " + e.what }

// run sends the first message and serves the worker until its last one.
func (h *hosted) run(ctx context.Context, first *pb.FromHost) (last *pb.FromWorker, err error) {
	h.asked, h.handles = map[uint64]context.CancelFunc{}, map[uint64]*handle{}
	h.lines.Burst, h.lines.PerSecond = logBurst, logRate
	// What was asked for ends with the stream.
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer func() {
		cancel(errCallEnded)
		h.mu.Lock()
		h.over = true
		open := h.handles
		h.handles = nil
		h.mu.Unlock()
		for _, o := range open {
			o.close()
		}
		if n := h.lines.Rest(); n > 0 {
			writeLog(ctx, h.log, tooManyLines(n))
		}
	}()
	if err := h.send(first); err != nil && !errors.Is(err, io.EOF) { // after io.EOF Recv says more
		return nil, err
	}
	said := 0
	for {
		m, err := h.stream.Recv()
		if err != nil {
			return nil, err
		}
		switch v := m.GetMessage().(type) {
		case *pb.FromWorker_Log:
			ok, dropped := h.lines.Take()
			if dropped > 0 {
				writeLog(ctx, h.log, tooManyLines(dropped))
			}
			if ok {
				writeLog(ctx, h.log, v.Log)
			}
		case *pb.FromWorker_Progress:
			if h.call != nil && h.call.Progress != nil {
				h.call.Progress(strings.ToValidUTF8(string(v.Progress[:min(len(v.Progress), maxLogText)]), "\ufffd"))
			}
		case *pb.FromWorker_Abandon:
			h.abandon(v.Abandon)
		case *pb.FromWorker_Request:
			if err := h.request(ctx, v.Request); err != nil {
				return nil, err
			}
			continue
		case *pb.FromWorker_Opened, *pb.FromWorker_Outcome:
			return m, nil
		default:
			return nil, &protocolError{"it sends an empty message"}
		}
		if said++; said > maxSaid {
			return nil, &protocolError{"it does not stop to talk"}
		}
	}
}

// send sends a message. It blocks while the worker does not read; the end of the stream
// ends that.
func (h *hosted) send(m *pb.FromHost) error {
	h.sending.Lock()
	defer h.sending.Unlock()
	return h.stream.Send(m)
}

func (h *hosted) reply(m *pb.Reply) {
	_ = h.send(&pb.FromHost{Message: &pb.FromHost_Reply{Reply: m}}) // Recv says why the stream has ended
}

// request begins what the worker asks for.
func (h *hosted) request(ctx context.Context, r *pb.Request) error {
	ctx, cancel := context.WithCancel(ctx)
	h.mu.Lock()
	_, twice := h.asked[r.GetId()]
	many := len(h.asked) >= maxAsked
	if !twice && !many {
		h.asked[r.GetId()] = cancel
	}
	h.mu.Unlock()
	switch {
	case twice:
		cancel()
		return &protocolError{"it uses the number of a request twice"}
	case many:
		cancel()
		return &protocolError{"it asks for too much at once"}
	}
	h.working.Go(func() {
		m, keep := h.serve(ctx, cancel, r)
		m.Id = r.GetId()
		h.mu.Lock()
		delete(h.asked, r.GetId())
		h.mu.Unlock()
		if !keep {
			cancel()
		}
		h.reply(m)
	})
	return nil
}

func (h *hosted) abandon(id uint64) {
	h.mu.Lock()
	cancel := h.asked[id]
	h.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// keep makes a handle for something that the worker reads from; 0 where it may have no more.
func (h *hosted) keep(one *handle) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over || len(h.handles) >= maxHandles {
		return 0
	}
	h.last++
	h.handles[h.last] = one
	return h.last
}

func (h *hosted) handle(id uint64) *handle {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.handles[id]
}

func (h *hosted) drop(id uint64) *handle {
	h.mu.Lock()
	defer h.mu.Unlock()
	one := h.handles[id]
	delete(h.handles, id)
	return one
}
