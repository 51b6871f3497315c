package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	// maxUnread is how much may wait for a client that does not read its stream, in bytes,
	// beyond the message that is added last.
	maxUnread = 4 << 20
	// writePart and writeTime: a client that does not take so many bytes in so long is gone.
	writePart = 64 << 10
	writeTime = 30 * time.Second
	// keepAlive is how often a comment goes over a stream on which nothing is said:
	// proxies close silent ones after a minute, and it shows which clients are gone.
	keepAlive = 25 * time.Second
	// lastMoment is how long a client that is to be left may take for what is being sent.
	lastMoment = 100 * time.Millisecond
)

var errUnread = errors.New("the client does not read its stream")

// stream is the answer to an HTTP request. What is written to it is sent by a goroutine
// of its own, since the SDK writes to all clients in turn, and the messages of one
// session in turn: one that does not read must not hold up the others. Where the rest of
// the answer is there at once, the goroutine of the HTTP request itself sends it.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	x       *exchange
	header  http.Header // what the SDK sets; w's own belongs to whoever sends

	mu      sync.Mutex
	status  int  // 0 until it is decided
	begun   bool // the status is sent
	refused bool // what is written is the SDK's reason, as plain text
	waiting []byte
	sending chan struct{} // closed when the sending goroutine ends; nil where none runs
	beat    *time.Timer
	hurry   bool // nobody has time for a slow client any more
	err     error
}

var _ interface {
	http.ResponseWriter
	FlushError() error
} = (*stream)(nil)

func newStream(w http.ResponseWriter, x *exchange) *stream {
	return &stream{w: w, control: http.NewResponseController(w), x: x, header: w.Header().Clone()}
}

// Header implements [http.ResponseWriter].
func (s *stream) Header() http.Header { return s.header }

// WriteHeader implements [http.ResponseWriter].
func (s *stream) WriteHeader(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.decide(status)
}

// begin makes the answer a stream of events.
func (s *stream) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.header.Set("Content-Type", "text/event-stream")
	s.header.Set("Cache-Control", "no-cache, no-transform")
	s.decide(http.StatusOK)
}

// add sends answers beside those of the SDK, unless it has refused the request.
func (s *stream) add(answers [][]byte) {
	s.mu.Lock()
	accepted := s.status == http.StatusAccepted // it has no answers
	if accepted {
		s.status = 0
	}
	status := s.status
	s.mu.Unlock()
	if status >= http.StatusBadRequest {
		return
	}
	if status == 0 {
		s.begin()
	}
	for _, line := range answers {
		if s.event(line) != nil {
			return // the client is gone
		}
	}
}

// decide takes the header as it is now. s.mu is held.
func (s *stream) decide(status int) {
	if s.status != 0 {
		return
	}
	s.status = status
	if s.refused = status >= 400 && s.x.posted && strings.HasPrefix(s.header.Get("Content-Type"), "text/plain"); s.refused {
		return
	}
	maps.Copy(s.w.Header(), s.header)
	if strings.HasPrefix(s.header.Get("Content-Type"), "text/event-stream") {
		s.w.Header().Set("X-Accel-Buffering", "no") // some proxies keep streams back otherwise
		s.beat = time.AfterFunc(keepAlive, s.keepAlive)
	}
}

// Write implements [http.ResponseWriter]. It never waits for the client.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.decide(http.StatusOK)
	if s.err == nil && len(s.waiting) > maxUnread {
		s.fail(errUnread)
	}
	if s.err != nil {
		return 0, s.err
	}
	s.waiting = append(s.waiting, wellFormed(p)...)
	if !s.x.answered.Load() && !s.refused { // otherwise finish comes next
		s.send()
	}
	return len(p), nil
}

// FlushError says that the answer can be a stream; what is written is sent at once anyway.
func (s *stream) FlushError() error { return nil }

func (s *stream) keepAlive() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.beat == nil || s.err != nil {
		return
	}
	if s.sending == nil {
		s.waiting = append(s.waiting, ": \n\n"...)
		s.send()
	}
	s.beat.Reset(keepAlive)
}

// send sees to it that what waits is sent. s.mu is held.
func (s *stream) send() {
	if s.sending == nil {
		done := make(chan struct{})
		s.sending = done
		go func() {
			defer close(done)
			s.sendAll()
		}()
	}
}

// sendAll sends what waits, until nothing does.
func (s *stream) sendAll() {
	for {
		s.mu.Lock()
		data := s.waiting
		s.waiting = nil
		if len(data) == 0 || s.err != nil {
			s.sending = nil
			s.mu.Unlock()
			return
		}
		if !s.begun {
			s.begun = true
			s.w.WriteHeader(s.status) // it only notes it
		}
		s.mu.Unlock()
		if err := s.write(data); err != nil {
			s.mu.Lock()
			s.fail(err)
			s.mu.Unlock()
		}
	}
}

// write sends data and flushes it.
func (s *stream) write(data []byte) error {
	for len(data) > 0 {
		part := data[:min(len(data), writePart)]
		data = data[len(part):]
		s.mu.Lock()
		if !s.hurry {
			_ = s.control.SetWriteDeadline(time.Now().Add(writeTime)) // not every server can
		}
		s.mu.Unlock()
		if _, err := s.w.Write(part); err != nil {
			return err
		}
	}
	return s.control.Flush()
}

// fail notes that the client is gone, or as good as gone. s.mu is held.
func (s *stream) fail(err error) {
	s.err = err
	s.waiting = nil
	s.hasten()
	s.x.stop(err)
}

// hasten gives what is being sent a last moment. s.mu is held.
func (s *stream) hasten() {
	s.hurry = true
	_ = s.control.SetWriteDeadline(time.Now().Add(lastMoment)) // not every server can
}

// finish waits until all is sent, or the client has had its time. Nothing is written later.
func (s *stream) finish() {
	s.mu.Lock()
	if s.beat != nil {
		s.beat.Stop()
		s.beat = nil
	}
	if s.refused {
		s.sayRefused()
	}
	sending := s.sending
	left := sending != nil || len(s.waiting) > 0
	s.mu.Unlock()
	if left {
		s.finishSending(sending)
	}
	switch {
	case s.begun:
	case s.status != 0:
		s.w.WriteHeader(s.status)
	default: // a request that was cancelled
		maps.Copy(s.w.Header(), s.header)
	}
}

// unknownMethod begins what the SDK says of a method that it does not know.
const unknownMethod = "JSON RPC not handled: "

// sayRefused makes a message of what the SDK says in plain text: a client whose request it was
// waits for an answer with its id. s.mu is held.
func (s *stream) sayRefused() {
	wrong := rpcError(jsonrpc.CodeInvalidRequest, "%s", bytes.TrimSpace(s.waiting))
	name, unknown := strings.CutPrefix(wrong.Message, unknownMethod)
	switch {
	case unknown && s.x.news: // such are passed over
		s.status, s.waiting = http.StatusAccepted, nil
		return
	case unknown && s.x.single:
		wrong = rpcError(jsonrpc.CodeMethodNotFound, "method not found: %s", strings.TrimSuffix(name, " unsupported"))
		s.status = http.StatusOK // the request as such was in order
	}
	s.waiting = encodeResponse(s.x.id, nil, wrong)
	s.header.Set("Content-Type", "application/json")
	maps.Copy(s.w.Header(), s.header)
}

// finishSending waits for the goroutine that sends, and sends what is left.
func (s *stream) finishSending(sending <-chan struct{}) {
	over := false // guarded by s.mu
	stop := context.AfterFunc(s.x.ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !over {
			s.hasten()
		}
	})
	defer stop()
	if sending != nil {
		<-sending
	}
	s.mu.Lock()
	if !s.begun && s.err == nil {
		// With its length an answer takes one packet less than without.
		s.w.Header().Set("Content-Length", strconv.Itoa(len(s.waiting)))
	}
	s.mu.Unlock()
	s.sendAll()
	s.mu.Lock()
	defer s.mu.Unlock()
	over = true
	_ = s.control.SetWriteDeadline(time.Time{}) // of the next answer over the connection
}
