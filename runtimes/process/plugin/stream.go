package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"google.golang.org/grpc"

	pb "github.com/toolhost/toolhost/runtimes/process/plugin/pluginpb"
)

// stream is the way of one call to the host.
type stream struct {
	wire grpc.BidiStreamingServer[pb.ToPlugin, pb.ToHost]

	writing sync.Mutex
	over    bool // nothing more is sent

	mu      sync.Mutex
	last    uint64
	waiting map[uint64]chan *pb.Reply // each takes one
	ended   chan struct{}             // closed when the host says no more
}

// errEnded is why a request fails whose call has ended.
var errEnded = errors.New("the call has ended")

// ErrDenied is in the errors of what the plugin's manifest does not ask for.
var ErrDenied = errors.New("permission denied")

// hostError is an error that the host has answered with.
type hostError struct {
	message string
	denied  bool
}

func (e *hostError) Error() string { return e.message }

func (e *hostError) Is(target error) bool { return e.denied && target == ErrDenied }

// send sends a message, unless the call has ended. What cannot be sent is lost with the
// connection: there is nobody to tell.
func (s *stream) send(m *pb.ToHost) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if !s.over {
		_ = s.wire.Send(m)
	}
}

// finish sends the last message.
func (s *stream) finish(m *pb.ToHost) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.over = true
	return s.wire.Send(m)
}

// receive takes what the host says until it says no more.
func (s *stream) receive(cancel context.CancelCauseFunc) {
	defer close(s.ended)
	for {
		m, err := s.wire.Recv()
		if err != nil {
			cancel(errCancelled)
			return
		}
		switch m := m.GetMessage().(type) {
		case *pb.ToPlugin_Cancel:
			cancel(errCancelled)
		case *pb.ToPlugin_Reply:
			s.mu.Lock()
			to := s.waiting[m.Reply.GetId()]
			delete(s.waiting, m.Reply.GetId())
			s.mu.Unlock()
			if to != nil {
				to <- m.Reply
			}
		}
	}
}

// ask has the host do something, and decodes what it says; into may be nil.
func (s *stream) ask(ctx context.Context, method string, params, into any) error {
	var raw []byte
	if params != nil {
		var err error
		if raw, err = marshal(params); err != nil {
			return err
		}
	}
	answer := make(chan *pb.Reply, 1)
	s.mu.Lock()
	s.last++
	id := s.last
	s.waiting[id] = answer
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.waiting, id)
		s.mu.Unlock()
	}()
	s.send(&pb.ToHost{Message: &pb.ToHost_Request{Request: &pb.Request{Id: id, Method: method, Params: raw}}})
	select {
	case reply := <-answer:
		if e := reply.GetError(); e != nil {
			return &hostError{e.GetMessage(), e.GetCode() == "EACCES"}
		}
		if into == nil {
			return nil
		}
		return json.Unmarshal(reply.GetResult(), into)
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.ended:
		return errEnded
	}
}

// get asks for a value that may be missing.
func (s *stream) get(ctx context.Context, method, key string, into any) (bool, error) {
	var raw json.RawMessage
	if err := s.ask(ctx, method, map[string]string{"key": key}, &raw); err != nil {
		return false, err
	}
	if len(raw) == 0 || string(raw) == "null" {
		return false, nil
	}
	return true, json.Unmarshal(raw, into)
}
