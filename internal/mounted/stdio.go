package mounted

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/internal/child"
	"github.com/toolhost/toolhost/permissions/sandbox"
)

const (
	// maxLine bounds a line of a server, maxJunk the lines in a row that are no message.
	maxLine = 16 << 20
	maxJunk = 1000
	// writeLimit is how long a server may take to read what is sent to it.
	writeLimit = 5 * time.Second
	// endGrace is how long a server gets to end after its stdin has closed.
	endGrace = time.Second
	// maxTail is how much of what a server said last is told.
	maxTail = 500
)

// program is a server that runs as a child: a transport of the MCP SDK, and its connection.
// Lines that are no message are passed over, which the SDK's own transport does not do.
type program struct {
	log *slog.Logger
	p   *child.Process
	in  *bufio.Reader

	gate    gate
	fault   atomic.Pointer[error] // what it did wrong
	writing sync.Mutex
	closing sync.Once
}

var (
	_ mcp.Transport  = (*program)(nil)
	_ mcp.Connection = (*program)(nil)
)

// startProgram starts the command of a configuration, as the user's own program.
func startProgram(ctx context.Context, c Config, folder string, log *slog.Logger) (*program, error) {
	path, err := lookUp(c.Command)
	if err != nil {
		return nil, err
	}
	dir := folder
	if c.Cwd != "" {
		dir = c.Cwd
		// Of a folder that is not there the system says the same as of a program.
		if info, err := os.Stat(dir); err != nil {
			return nil, fmt.Errorf("looking for its working directory: %w", err)
		} else if !info.IsDir() {
			return nil, fmt.Errorf("its working directory %q is no folder", dir)
		}
	}
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		_, replaced := c.Env[name]
		return replaced
	})
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		env = append(env, name+"="+c.Env[name])
	}
	p, err := child.Start(ctx, &child.Options{
		Argv: append([]string{path}, c.Args...), Env: env, Dir: dir, Mode: sandbox.Off, Log: log,
	})
	if err != nil {
		return nil, err
	}
	return &program{log: log, p: p, in: bufio.NewReaderSize(p.Stdout(), 64<<10)}, nil
}

// Connect implements [mcp.Transport].
func (p *program) Connect(context.Context) (mcp.Connection, error) { return p, nil }

// SessionID implements [mcp.Connection].
func (p *program) SessionID() string { return "" }

// Read implements [mcp.Connection].
func (p *program) Read(context.Context) (jsonrpc.Message, error) {
	msg, err := p.read()
	if err != nil && !errors.Is(err, io.EOF) {
		p.fault.Store(&err)
	}
	return msg, err
}

func (p *program) read() (jsonrpc.Message, error) {
	for junk := 0; junk < maxJunk; {
		line, err := readLine(p.in, maxLine)
		if errors.Is(err, errLongLine) {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			msg, wrong := jsonrpc.DecodeMessage(line)
			switch {
			case wrong != nil:
				junk++
				p.log.Debug("a line on stdout is no message", "line", string(line[:min(len(line), 200)]))
			default:
				if msg = p.gate.pass(msg); msg != nil {
					return msg, nil
				}
			}
		} else {
			junk++
		}
		if err != nil {
			return nil, io.EOF
		}
	}
	return nil, fmt.Errorf("it wrote more than %d lines that are no messages", maxJunk)
}

var errLongLine = fmt.Errorf("it wrote a line of more than %d bytes", maxLine)

// Write implements [mcp.Connection].
func (p *program) Write(_ context.Context, msg jsonrpc.Message) error {
	line, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return err
	}
	if _, answer := msg.(*jsonrpc.Response); answer {
		defer p.gate.answered()
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	if err := p.p.Stdin().SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
		return err
	}
	if _, err := p.p.Stdin().Write(append(line, '\n')); err != nil {
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			err = fmt.Errorf("it did not read a request within %s", writeLimit)
			p.fault.Store(&err)
		case errors.Is(err, syscall.EPIPE):
			err = p.ended() // its input closes a moment before it is known how it ended
		}
		// Half a line may be in the pipe: nothing can follow it.
		_ = p.p.Stdout().SetReadDeadline(time.Now())
		return err
	}
	return nil
}

// Close implements [mcp.Connection]: the program ends, with all that it has started.
func (p *program) Close() error {
	p.closing.Do(func() { p.p.Stop(endGrace) })
	return nil
}

// ended says why nothing more is read from the program: what it did wrong, else how it
// ended and what it said last.
func (p *program) ended() error {
	if fault := p.fault.Load(); fault != nil {
		return *fault
	}
	select {
	case <-p.p.Done():
	case <-time.After(endGrace):
		return errBrokenOff
	}
	last := p.p.Tail()
	last = strings.TrimSpace(last[max(0, len(last)-maxTail):])
	how := p.p.Err()
	if how == nil {
		how = errors.New("it ended")
	}
	return &ending{how, last}
}

// ending is how a program ended, and what it said last.
type ending struct {
	how  error
	last string
}

func (e *ending) Error() string {
	if e.last == "" {
		return e.how.Error()
	}
	return fmt.Sprintf("%v; it said last: %s", e.how, e.last)
}

func (e *ending) Unwrap() error { return e.how }
