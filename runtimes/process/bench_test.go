package process_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/child"
	"github.com/toolhost/toolhost/internal/rpcchild"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/permissions/sandbox"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/process"
	author "github.com/toolhost/toolhost/runtimes/process/plugin"
	pb "github.com/toolhost/toolhost/runtimes/process/plugin/pluginpb"
)

var benchArgs = json.RawMessage(`{"text":"twenty bytes of text"}`)

// benchOpen opens a plugin that is this test binary, and gives a function that makes a call.
func benchOpen(b *testing.B, protocol string, args ...string) func() {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	policy := &permissions.Policy{Root: dir}
	in, err := process.New(nil).Open(b.Context(), runtimes.Spec{
		Plugin: "bench", Dir: dir, Protocol: protocol, Command: append([]string{self}, args...), Policy: policy,
		Tools: []runtimes.Tool{{ID: "text"}}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = in.Close(context.Background()) })
	grant, err := policy.Resolve(b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	return func() {
		r, err := in.Handler("text").Handle(b.Context(), &host.Call{ID: "c", Tool: "text", Args: benchArgs, Grant: grant})
		if err != nil || r.IsError {
			b.Fatal(r, err)
		}
	}
}

// BenchmarkRPC compares a call of a go-plugin program with the same stream over bare gRPC.
func BenchmarkRPC(b *testing.B) {
	b.Run("toolhost", func(b *testing.B) {
		call := benchOpen(b, "go-plugin", "rpc")
		call()
		for b.Loop() {
			call()
		}
	})
	b.Run("bare", func(b *testing.B) {
		self, err := os.Executable()
		if err != nil {
			b.Fatal(err)
		}
		c, err := rpcchild.Start(b.Context(), &rpcchild.Options{
			Child:  child.Options{Argv: []string{self, "rpc"}, Rules: &sandbox.Rules{System: true, Temp: true}},
			Cookie: [2]string{author.CookieKey, author.CookieValue}, Version: author.Version, Service: author.ServiceName,
		})
		if err != nil {
			b.Fatal(err)
		}
		defer c.Stop(time.Second)
		client := pb.NewPluginClient(c.Connection())
		for b.Loop() {
			stream, err := client.CallTool(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			if err := stream.Send(&pb.ToPlugin{Message: &pb.ToPlugin_Call{Call: &pb.Call{Id: "c", Tool: "text", Arguments: benchArgs}}}); err != nil {
				b.Fatal(err)
			}
			if m, err := stream.Recv(); err != nil || m.GetResult().GetText() == "" {
				b.Fatal(m, err)
			}
			if err := stream.CloseSend(); err != nil {
				b.Fatal(err)
			}
			if _, err := stream.Recv(); err != io.EOF {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkMCP compares a call of an MCP server with one by the client of the MCP SDK.
func BenchmarkMCP(b *testing.B) {
	b.Run("toolhost", func(b *testing.B) {
		call := benchOpen(b, "mcp", "mcp", "fine")
		call()
		for b.Loop() {
			call()
		}
	})
	b.Run("bare", func(b *testing.B) {
		self, err := os.Executable()
		if err != nil {
			b.Fatal(err)
		}
		client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
		session, err := client.Connect(b.Context(), &mcp.CommandTransport{Command: exec.Command(self, "mcp", "fine")}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		if err != nil {
			b.Fatal(err)
		}
		defer session.Close()
		for b.Loop() {
			if r, err := session.CallTool(b.Context(), &mcp.CallToolParams{Name: "text", Arguments: benchArgs}); err != nil || r.IsError {
				b.Fatal(r, err)
			}
		}
	})
}

// BenchmarkStart is a plugin's first call, with the start of its confined process.
func BenchmarkStart(b *testing.B) {
	for protocol, args := range map[string][]string{"stdio": {"plugin"}, "go-plugin": {"rpc"}, "mcp": {"mcp", "fine"}} {
		b.Run(protocol, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				call := benchOpen(b, protocol, args...)
				b.StartTimer()
				call()
			}
		})
	}
}
