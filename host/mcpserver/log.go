package mcpserver

//lint:file-ignore SA1019 Clients of the older revisions take log messages still.

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// maxLogRate is how many log messages a second go to the clients; more are dropped.
	maxLogRate = 20
	// maxLogData is how large the data of a message may be as JSON; a larger one is cut.
	maxLogData = 16 << 10
	// logWait is how long a client that does not read may hold up a message.
	logWait = time.Second
)

// logLevels are MCP's, the least first.
var logLevels = [...]mcp.LoggingLevel{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// LogMessage sends a log message (notifications/message) to every session that asked for
// messages of that level with logging/setLevel, and to no other. level is one of MCP's
// (debug, info, notice, warning, error, critical, alert, emergency), another one counts as
// info; logger says who speaks; data is any JSON value. It never waits for a client:
// what comes faster than 20 messages a second is dropped.
//
// Requests of revision 2026-07-28 ask for log messages each for itself, so what belongs
// to no request does not reach such clients.
func (s *Server) LogMessage(level, logger string, data any) {
	if dropped := s.messages.put(logParams(level, logger, data), s.sendLog); dropped {
		s.log.Debug("a log message for the clients was dropped: there are too many", "logger", logger)
	}
}

func (s *Server) sendLog(ctx context.Context, params *mcp.LoggingMessageParams) {
	var wait sync.WaitGroup
	for session := range s.mcp.Sessions() {
		wait.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, logWait)
			defer cancel()
			// It fails where the client is gone or does not read.
			_ = session.Log(ctx, params)
		})
	}
	wait.Wait()
}

// LogToClient sends a log message to the client whose call a handler runs, where that
// client asked for messages of that level. ctx is the one that the handler was given.
// Elsewhere, as in calls that come by no MCP session, it does nothing.
func LogToClient(ctx context.Context, level, logger string, data any) {
	session, ok := ctx.Value(sessionKey{}).(*mcp.ServerSession)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, logWait)
	defer cancel()
	_ = session.Log(ctx, logParams(level, logger, data)) // it fails where nobody listens any more
}

// sessionKey is the key of a call's *mcp.ServerSession in its context.
type sessionKey struct{}

func logParams(level, logger string, data any) *mcp.LoggingMessageParams {
	p := &mcp.LoggingMessageParams{Level: mcp.LoggingLevel(level), Logger: logger}
	if !slices.Contains(logLevels[:], p.Level) {
		p.Level = "info"
	}
	raw, err := json.Marshal(data)
	switch {
	case err != nil:
		p.Data = fmt.Sprintf("a message that is no JSON value: %v", err)
	case len(raw) > maxLogData:
		text, isText := data.(string)
		if !isText {
			text = string(raw)
		}
		p.Data = cut(text, maxLogData/4) + " …"
	default:
		p.Data = json.RawMessage(raw)
	}
	return p
}

// messages has log messages sent one after the other, in the background.
type messages struct {
	base context.Context
	stop context.CancelFunc

	mu      sync.Mutex // guards what follows
	waiting []*mcp.LoggingMessageParams
	sending chan struct{} // closed when the sending goroutine ends; nil where none runs
	since   time.Time     // when the running second began
	count   int           // messages that were taken in it
}

func newMessages() *messages {
	m := &messages{}
	m.base, m.stop = context.WithCancel(context.Background())
	return m
}

// put leaves a message to be sent. It reports whether it was dropped.
func (m *messages) put(p *mcp.LoggingMessageParams, send func(context.Context, *mcp.LoggingMessageParams)) (dropped bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.base.Err() != nil {
		return true
	}
	if now := time.Now(); now.Sub(m.since) >= time.Second {
		m.since, m.count = now, 0
	}
	if m.count++; m.count > maxLogRate || len(m.waiting) >= maxLogRate {
		return true
	}
	m.waiting = append(m.waiting, p)
	if m.sending == nil {
		m.sending = make(chan struct{})
		go m.run(m.sending, send)
	}
	return false
}

func (m *messages) run(done chan struct{}, send func(context.Context, *mcp.LoggingMessageParams)) {
	defer close(done)
	for {
		m.mu.Lock()
		if len(m.waiting) == 0 || m.base.Err() != nil {
			m.sending = nil
			m.mu.Unlock()
			return
		}
		p := m.waiting[0]
		m.waiting = m.waiting[1:]
		m.mu.Unlock()
		send(m.base, p)
	}
}

// close drops what is waiting and waits for the sending goroutine.
func (m *messages) close() {
	m.stop()
	m.mu.Lock()
	sending := m.sending
	m.mu.Unlock()
	if sending != nil {
		<-sending
	}
}
