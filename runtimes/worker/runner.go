package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/hashicorp/go-plugin/runner"

	"github.com/toolhost/toolhost/internal/child"
)

// childRunner lets go-plugin use a child of ours. go-plugin's own way to start one gives it
// the host's standard input and environment, and waits for ever for a child that hangs.
type childRunner struct {
	options *child.Options
	sockets string
	process atomic.Pointer[child.Process]
}

var _ runner.Runner = (*childRunner)(nil)

func (r *childRunner) Start(ctx context.Context) error {
	p, err := child.Start(ctx, r.options)
	if err != nil {
		return err
	}
	r.process.Store(p)
	return nil
}

func (r *childRunner) Wait(context.Context) error {
	p := r.process.Load()
	<-p.Done()
	return p.Err()
}

func (r *childRunner) Kill(context.Context) error {
	if p := r.process.Load(); p != nil {
		p.Stop(0)
	}
	return nil
}

func (r *childRunner) Stdout() io.ReadCloser { return r.process.Load().Stdout() }

// Stderr is empty: the child drains it.
func (r *childRunner) Stderr() io.ReadCloser { return io.NopCloser(strings.NewReader("")) }

func (r *childRunner) Name() string { return "worker" }

func (r *childRunner) ID() string {
	if p := r.process.Load(); p != nil {
		return strconv.Itoa(p.PID())
	}
	return ""
}

func (r *childRunner) Diagnose(context.Context) string { return "" }

// PluginToHost gives the address that the host connects to: only the worker's own socket.
func (r *childRunner) PluginToHost(network, address string) (string, string, error) {
	if network != "unix" || filepath.Dir(address) != filepath.Clean(r.sockets) {
		return "", "", fmt.Errorf("the worker names the address %q of network %q, which is not its own", address, network)
	}
	info, err := os.Lstat(address)
	if err != nil {
		return "", "", err
	}
	if info.Mode().Type() != os.ModeSocket {
		return "", "", errors.New("the worker's address is no socket")
	}
	return network, address, nil
}

func (r *childRunner) HostToPlugin(network, address string) (string, string, error) {
	return network, address, nil
}
