package rpcchild

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-plugin/runner"

	"github.com/toolhost/toolhost/internal/child"
	"github.com/toolhost/toolhost/internal/lazyregexp"
)

// maxNoise is how many lines a child may say before the one that counts.
const maxNoise = 100

// maxSaid is how many bytes of a line of standard output are passed on.
const maxSaid = 8 << 10

// handshake is the line that says where a child serves.
var handshake = lazyregexp.New(`^\d+\|\d+\|(unix|tcp)\|`)

// childRunner lets go-plugin use a child of ours.
type childRunner struct {
	options *child.Options
	sockets string
	said    func(string)
	limit   int
	process atomic.Pointer[child.Process]
	stdout  io.ReadCloser // what go-plugin reads: one line
	noise   atomic.Bool   // there were too many lines before it
	killed  atomic.Bool   // by us
	dialled atomic.Bool
	address atomic.Pointer[string]
}

var _ runner.Runner = (*childRunner)(nil)

func (r *childRunner) Start(ctx context.Context) error {
	p, err := child.Start(ctx, r.options)
	if err != nil {
		return err
	}
	reader, writer := io.Pipe()
	r.stdout = reader
	r.process.Store(p)
	go r.drain(p, writer)
	return nil
}

// drain reads the child's standard output to its end, and passes on the line that counts.
func (r *childRunner) drain(p *child.Process, to *io.PipeWriter) {
	from := bufio.NewReaderSize(p.Stdout(), 64<<10)
	lines, found := 0, false
	for {
		line, more, err := child.ReadLine(from, maxSaid)
		text := strings.TrimRight(string(line), "\r\n")
		switch {
		case !found && !more && handshake.MatchString(text):
			found = true
			_, _ = io.WriteString(to, text+"\n") // unless nobody waits for it any more
			_ = to.Close()
		case text != "":
			r.said(strings.ToValidUTF8(text, "\ufffd"))
			if lines++; !found && lines > maxNoise {
				r.noise.Store(true)
				_ = to.Close()
				found = true
			}
		}
		if err != nil {
			if !found {
				// go-plugin gives a child up that has closed its output; most of these
				// have ended, which says more.
				r.awaitEnd(p)
			}
			_ = to.Close()
			return
		}
	}
}

// endWait is how long a child that has closed its output may take to end: closing is a part of
// ending, and the rest of it takes time on a busy machine. Only one that lives on is waited for
// to no purpose.
const endWait = 3 * time.Second

func (r *childRunner) awaitEnd(p *child.Process) {
	t := time.NewTimer(endWait)
	defer t.Stop()
	select {
	case <-p.Done():
	case <-t.C:
	}
}

func (r *childRunner) Wait(context.Context) error {
	p := r.process.Load()
	<-p.Done()
	return p.Err()
}

func (r *childRunner) Kill(context.Context) error {
	if p := r.process.Load(); p != nil {
		select {
		case <-p.Done():
		default:
			r.killed.Store(true)
		}
		p.Stop(0)
	}
	return nil
}

func (r *childRunner) Stdout() io.ReadCloser { return r.stdout }

// Stderr is empty: the child drains it.
func (r *childRunner) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

func (r *childRunner) Name() string { return "plugin" }

func (r *childRunner) ID() string {
	if p := r.process.Load(); p != nil {
		return strconv.Itoa(p.PID())
	}
	return ""
}

func (r *childRunner) Diagnose(context.Context) string { return "" }

// PluginToHost gives the address that the host connects to: a socket in the child's own
// folder, whatever the child says.
func (r *childRunner) PluginToHost(network, address string) (string, string, error) {
	if network != "unix" || filepath.Dir(address) != filepath.Clean(r.sockets) {
		return "", "", fmt.Errorf("it names the address %.200q of network %q; it must listen at a unix socket in the folder of PLUGIN_UNIX_SOCKET_DIR", address, network)
	}
	r.address.Store(&address)
	return network, address, nil
}

func (r *childRunner) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}

// dial connects to the child's socket, once: a child that hangs up and puts another socket
// in its place would have the host connect to that.
func (r *childRunner) dial(ctx context.Context, _ string) (net.Conn, error) {
	address := r.address.Load()
	if address == nil || r.dialled.Swap(true) {
		return nil, errors.New("the connection to the process has ended")
	}
	return dialSocket(ctx, *address)
}
