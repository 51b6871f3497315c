package worker

import (
	"context"
	"errors"
	"os"
	"runtime/debug"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/toolhost/toolhost/internal/child"
	pb "github.com/toolhost/toolhost/runtimes/worker/workerpb"
)

const (
	// argument is the only argument of a worker process. With it alone, without the
	// handshake in the environment, a program goes on as if it did not know it.
	argument = "toolhost-node-worker"

	// protocolVersion changes with the protocol.
	protocolVersion = 1

	serviceName = "worker"

	// maxStack is how deep Go code may nest in a worker, in bytes. The engine's own
	// functions recurse without a limit; this ends the process early, before the stack
	// fills the memory.
	maxStack = 64 << 20

	// garbage is how much of it a worker lets stand, in percent of what is in use: what the
	// worker may use has a limit of its own, below which collecting is only work.
	garbage = 400
)

// handshake tells a process that it was started to be a worker.
var handshake = goplugin.HandshakeConfig{
	ProtocolVersion:  protocolVersion,
	MagicCookieKey:   "TOOLHOST_NODE_WORKER",
	MagicCookieValue: "2f6c1d9be7a24f0cb1f3a5d08c7e6b94",
}

// Main must be called at the very beginning of main in every program that opens plugins
// with a [Runtime], also in a test's TestMain. In a process that was started to be a worker
// it serves calls and does not return; else it does nothing but what process.Main does.
func Main() {
	child.Main()
	if len(os.Args) != 2 || os.Args[1] != argument || os.Getenv(handshake.MagicCookieKey) != handshake.MagicCookieValue {
		return
	}
	debug.SetMaxStack(maxStack)
	debug.SetGCPercent(garbage)
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig: handshake,
		Plugins:         goplugin.PluginSet{serviceName: &service{server: newServer()}},
		GRPCServer: func(options []grpc.ServerOption) *grpc.Server {
			// What comes from the host has its limits there.
			const unlimited = 1<<31 - 1
			return grpc.NewServer(append(options, grpc.MaxRecvMsgSize(unlimited), grpc.InitialWindowSize(window), grpc.InitialConnWindowSize(window))...)
		},
		Logger: hclog.NewNullLogger(),
	})
	os.Exit(0)
}

// window is how many bytes are on their way unread, on one stream and in all.
const window = 1 << 20

// service lets go-plugin serve a server of ours.
type service struct {
	goplugin.NetRPCUnsupportedPlugin
	server pb.WorkerServer
}

var _ goplugin.GRPCPlugin = (*service)(nil)

// GRPCServer registers the server.
func (s *service) GRPCServer(_ *goplugin.GRPCBroker, server *grpc.Server) error {
	pb.RegisterWorkerServer(server, s.server)
	return nil
}

// GRPCClient is for a host, which a worker is not.
func (s *service) GRPCClient(context.Context, *goplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("a worker is no host")
}
