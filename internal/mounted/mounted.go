// Package mounted offers the tools of other MCP servers, those that the user's
// configuration names, as tools of a host.
//
//	servers, err := mounted.New(h, map[string]mounted.Config{
//		"git": {Command: "uvx", Args: []string{"mcp-server-git"}},
//	}, &mounted.Options{Folder: folder, Log: log})
//	servers.Start()
//	defer servers.Close()
//
// The tool "log" of the server "git" is git__log. Tools of plugins cannot have such a
// name. Calls go through the host like any other: its limits, its checks of arguments,
// its log.
//
// A server is started in the background, and again after it has ended, at longer and
// longer intervals. Meanwhile its tools stay, and calls of them fail with what is known.
// The user has named the server himself, so it runs as he does and is not confined; but
// it ends with this program, with all that it has started.
package mounted

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/host"
)

// Options of the servers; the zero value is usable.
type Options struct {
	Folder  string       // the working directory of programs whose configuration names none
	Version string       // of this program, for the servers
	Log     *slog.Logger // nil drops
}

// Servers are the mounted servers of a host.
type Servers struct {
	all  []*server
	base context.Context
	stop context.CancelFunc
	wait sync.WaitGroup
}

// Status is how a server is.
type Status struct {
	Name  string
	State string // "starting", "ready", "failed" or "disabled"
	Tools int
	Err   string // why it is not ready; what is wrong with single tools, and with its entry
}

// New makes the servers of a configuration. The error names every one whose entry is wrong.
func New(h *host.Host, configs map[string]Config, options *Options) (*Servers, error) {
	var o Options
	if options != nil {
		o = *options
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Servers{}
	s.base, s.stop = context.WithCancel(context.Background())
	var wrong []error
	taken := map[string]bool{}
	for name := range configs {
		if prefix(name) == name { // whoever has a name that needs no change keeps it
			taken[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(configs)) {
		c := configs[name]
		if err := c.check(); err != nil && !c.Disabled {
			wrong = append(wrong, fmt.Errorf("the MCP server %q: %w", name, err))
			continue
		}
		for _, odd := range c.misspelt {
			o.Log.Warn("the entry of an MCP server has an unknown key", "plugin", owner(name), "err", odd)
		}
		p := prefix(name)
		for plain, n := p, 2; taken[p] && p != name; n++ {
			p = fmt.Sprint(plain, "_", n)
		}
		taken[p] = true
		s.all = append(s.all, &server{
			host: h, name: name, prefix: p, config: c, folder: o.Folder, version: o.Version,
			log: o.Log.With("plugin", owner(name)), tried: make(chan struct{}), progress: map[string]func(string){},
		})
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	return s, nil
}

// owner is the name by which the host knows the owner of a server's tools.
func owner(server string) string { return "mcp:" + server }

// Start starts the servers, in the background. It is called once.
func (s *Servers) Start() {
	for _, one := range s.all {
		if !one.config.Disabled {
			s.wait.Go(func() { one.run(s.base) })
		}
	}
}

// Await waits until each server has been tried once, or ctx ends.
func (s *Servers) Await(ctx context.Context) {
	for _, one := range s.all {
		if one.config.Disabled {
			continue
		}
		select {
		case <-one.tried:
		case <-ctx.Done():
			return
		}
	}
}

// Status tells of each server, by name.
func (s *Servers) Status() []Status {
	list := make([]Status, len(s.all))
	for i, one := range s.all {
		list[i] = one.status()
	}
	return list
}

// Close ends the servers and waits for them.
func (s *Servers) Close() {
	s.stop()
	s.wait.Wait()
}

// backoff gives how long to wait after a number of failures in a row.
func backoff(failures int) time.Duration {
	return min(time.Second<<min(failures-1, 10), time.Minute)
}
