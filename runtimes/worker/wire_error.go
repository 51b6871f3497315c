package worker

import (
	"context"
	"errors"
	"net"

	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
	pb "github.com/toolhost/toolhost/runtimes/worker/workerpb"
)

// encodeError gives an error of a service as a message; nil for none.
func encodeError(err error) *pb.Error {
	if err == nil {
		return nil
	}
	e := &pb.Error{Text: []byte(err.Error())}
	var denied *permissions.DeniedError
	var unsupported *runtimes.UnsupportedError
	var network *runtimes.NetworkError
	var timed net.Error
	if errors.As(err, &denied) {
		e.Denied = &pb.Denied{Op: []byte(denied.Op), Target: []byte(denied.Target), Rule: []byte(denied.Rule), Reason: []byte(denied.Reason)}
	}
	if errors.As(err, &unsupported) {
		e.Unsupported = &pb.Unsupported{Name: []byte(unsupported.Name), Hint: []byte(unsupported.Hint)}
	}
	if errors.As(err, &network) {
		e.Network = &pb.Network{
			Code: []byte(network.Code), Syscall: []byte(network.Syscall), Message: []byte(network.Message), Errno: int64(network.Errno),
			Hostname: []byte(network.Hostname), Address: []byte(network.Address), Port: int64(network.Port),
		}
	}
	e.Cancelled = errors.Is(err, context.Canceled)
	e.Timeout = errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timed) && timed.Timeout()
	return e
}

// decodeError gives the error of a message, which holds what callers look for in the one
// that was encoded; nil for none.
func decodeError(e *pb.Error) error {
	if e == nil {
		return nil
	}
	r := &remoteError{text: string(e.GetText()), timeout: e.GetTimeout()}
	if d := e.GetDenied(); d != nil {
		r.causes = append(r.causes, &permissions.DeniedError{Op: string(d.GetOp()), Target: string(d.GetTarget()), Rule: string(d.GetRule()), Reason: string(d.GetReason())})
	}
	if u := e.GetUnsupported(); u != nil {
		r.causes = append(r.causes, &runtimes.UnsupportedError{Name: string(u.GetName()), Hint: string(u.GetHint())})
	}
	if n := e.GetNetwork(); n != nil {
		r.causes = append(r.causes, &runtimes.NetworkError{
			Code: string(n.GetCode()), Syscall: string(n.GetSyscall()), Message: string(n.GetMessage()), Errno: int(n.GetErrno()),
			Hostname: string(n.GetHostname()), Address: string(n.GetAddress()), Port: int(n.GetPort()),
		})
	}
	if e.GetCancelled() {
		r.causes = append(r.causes, context.Canceled)
	}
	if e.GetTimeout() && e.GetNetwork() == nil {
		r.causes = append(r.causes, context.DeadlineExceeded)
	}
	return r
}

// remoteError is an error that came from the other process.
type remoteError struct {
	text    string
	timeout bool
	causes  []error
}

func (e *remoteError) Error() string   { return e.text }
func (e *remoteError) Unwrap() []error { return e.causes }

// Timeout and Temporary make it a net.Error, as what connections give is.
func (e *remoteError) Timeout() bool   { return e.timeout }
func (e *remoteError) Temporary() bool { return e.timeout }

var _ net.Error = (*remoteError)(nil)
