// Package plugin is for the authors of plugins in Go: it serves the calls of tools from a
// program of its own.
//
//	func main() {
//		plugin.Serve(&plugin.Config{Tools: map[string]plugin.Handler{
//			"greet": func(ctx context.Context, call *plugin.Call) (any, error) {
//				var args struct{ Name string }
//				if err := call.Decode(&args); err != nil {
//					return nil, err
//				}
//				return "Hello, " + args.Name, nil
//			},
//		}})
//	}
//
// The manifest of such a plugin has "runtime": "process", "protocol": "go-plugin" and, as
// its "command", the program. A [Handler] gets a [Call], and returns what the agent gets: a
// text, a [Result] with content blocks, or any other value, which goes out as JSON. The
// program may serve several calls at once.
//
// What the manifest has permissions for, a handler asks the host for through its call:
// [Call.Complete], [Call.Settings], [Call.Store], [Call.HTTP], [Call.Execute]. The program
// itself has no network.
package plugin

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	pb "github.com/toolhost/toolhost/runtimes/process/plugin/pluginpb"
)

// The handshake of go-plugin. The host sets the variable [CookieKey] to [CookieValue]: a
// program that does not find it was started by a person, who wants to be told so. The
// version of the protocol is 1, and the name of the service, for its health, [ServiceName].
const (
	CookieKey   = "TOOLHOST_PLUGIN_PROTOCOL"
	CookieValue = "toolhost.plugin.v1"
	ServiceName = "toolhost"
	Version     = 1
)

// MaxMessage is how many bytes one message may have.
const MaxMessage = 4 << 20

// Config says what a program serves.
type Config struct {
	// Tools are the handlers by the ids of their tools, as in the manifest. One goroutine
	// for each call calls them.
	Tools map[string]Handler
}

// Serve serves calls until the host ends the program. It is called once, by main, which
// has nothing more to do when it returns.
func Serve(config *Config) {
	tools := maps.Clone(config.Tools)
	if err := check(tools); err != nil {
		fmt.Fprintln(os.Stderr, "plugin.Serve:", err)
		os.Exit(2)
	}
	if os.Getenv(CookieKey) != CookieValue {
		fmt.Fprintf(os.Stderr, "This program is a plugin of toolhost with the tools %v.\n", slices.Sorted(maps.Keys(tools)))
		fmt.Fprintln(os.Stderr, `It is not run by hand: give its folder to "toolhost call --plugins".`)
		os.Exit(2)
	}
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: goplugin.HandshakeConfig{ProtocolVersion: Version, MagicCookieKey: CookieKey, MagicCookieValue: CookieValue},
		VersionedPlugins: map[int]goplugin.PluginSet{
			Version: {ServiceName: &service{server: &server{tools: tools, stderr: os.Stderr}}},
		},
		GRPCServer: func(options []grpc.ServerOption) *grpc.Server {
			const call = MaxMessage + 64<<10 // arguments of the largest size, and what is around them
			return grpc.NewServer(append(options, grpc.MaxRecvMsgSize(call), grpc.InitialWindowSize(1<<20), grpc.InitialConnWindowSize(1<<20))...)
		},
		Logger: hclog.NewNullLogger(),
	})
}

func check(tools map[string]Handler) error {
	if len(tools) == 0 {
		return fmt.Errorf("there are no tools")
	}
	for id, h := range tools {
		if h == nil {
			return fmt.Errorf("the tool %q has no handler", id)
		}
	}
	return nil
}

// service tells go-plugin how to serve.
type service struct {
	goplugin.NetRPCUnsupportedPlugin
	server *server
}

var _ goplugin.GRPCPlugin = (*service)(nil)

func (s *service) GRPCServer(_ *goplugin.GRPCBroker, r *grpc.Server) error {
	pb.RegisterPluginServer(r, s.server)
	return nil
}

// GRPCClient gives a client of the service.
func (s *service) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, c *grpc.ClientConn) (any, error) {
	return pb.NewPluginClient(c), nil
}
