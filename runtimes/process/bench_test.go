package process_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// against makes calls of both in turns, so that what else the machine does hits both, and
// reports the best round of each with their ratio, and the median of the ratios of all rounds,
// which says more where the machine is busy: a best round is luck there.
func against(b *testing.B, ours, bare func()) {
	b.Helper()
	const batch = 20
	best := [2]time.Duration{1 << 62, 1 << 62}
	var ratios []float64
	for range batch {
		ours()
		bare()
	}
	for b.Loop() {
		var took [2]time.Duration
		for i, call := range []func(){ours, bare} {
			began := time.Now()
			for range batch {
				call()
			}
			took[i] = time.Since(began) / batch
			best[i] = min(best[i], took[i])
		}
		ratios = append(ratios, float64(took[0])/float64(took[1]))
	}
	slices.Sort(ratios)
	b.ReportMetric(0, "ns/op") // of both together, which says nothing
	b.ReportMetric(float64(best[0])/1e3, "µs/call")
	b.ReportMetric(float64(best[1])/1e3, "µs/bare")
	b.ReportMetric(float64(best[0])/float64(best[1]), "ratio")
	b.ReportMetric(ratios[len(ratios)/2], "median-ratio")
}

// BenchmarkRPC compares a call of a go-plugin program with the same stream over bare gRPC.
func BenchmarkRPC(b *testing.B) {
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
	against(b, benchOpen(b, "go-plugin", "rpc"), func() {
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		stream, err := client.CallTool(ctx)
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
	})
}

// BenchmarkMCP compares a call of an MCP server with one by the client of the MCP SDK.
func BenchmarkMCP(b *testing.B) {
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
	against(b, benchOpen(b, "mcp", "mcp", "fine"), func() {
		if r, err := session.CallTool(b.Context(), &mcp.CallToolParams{Name: "text", Arguments: benchArgs}); err != nil || r.IsError {
			b.Fatal(r, err)
		}
	})
}

// BenchmarkStart is a plugin's first call, with the start of its confined process; the best
// one counts.
func BenchmarkStart(b *testing.B) {
	for protocol, args := range map[string][]string{"stdio": {"plugin"}, "go-plugin": {"rpc"}, "mcp": {"mcp", "fine"}} {
		b.Run(protocol, func(b *testing.B) {
			best := time.Duration(1 << 62)
			for b.Loop() {
				call := benchOpen(b, protocol, args...)
				began := time.Now()
				call()
				best = min(best, time.Since(began))
			}
			b.ReportMetric(float64(best)/1e6, "ms/best")
		})
	}
}

// BenchmarkFiles gives what opening a plugin costs by its files, of which a sum is made, and
// MB/s of them.
func BenchmarkFiles(b *testing.B) {
	for _, c := range []struct {
		name        string
		files, size int
	}{{"1 of 1 KB", 1, 1 << 10}, {"1000 of 10 KB", 1000, 10 << 10}, {"1 of 64 MB", 1, 64 << 20}} {
		b.Run(c.name, func(b *testing.B) {
			dir := b.TempDir()
			for i := range c.files {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%d", i)), make([]byte, c.size), 0o600); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(c.files * c.size))
			for b.Loop() {
				in, err := process.New(nil).Open(b.Context(), runtimes.Spec{
					Plugin: "bench", Dir: dir, Command: []string{"/bin/true"}, Policy: &permissions.Policy{Root: dir},
					Tools: []runtimes.Tool{{ID: "text"}}, Log: slog.New(slog.DiscardHandler),
				})
				if err != nil {
					b.Fatal(err)
				}
				if err := in.Close(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
