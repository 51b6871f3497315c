package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/host"
)

// BenchmarkCall measures a call of a tool written in Go: through a host and this
// server, and, for comparison, of a bare handler of the SDK on its own transport; "turns"
// compares the two. Both give back their arguments to a client that writes and reads lines
// over pipes in memory. The absolute times are the machine's.
func BenchmarkCall(b *testing.B) {
	for _, size := range []int{20, 10_000, 1_000_000} {
		servers := map[string]func(*testing.B) func(io.ReadCloser, io.WriteCloser) error{"host": serveHost, "sdk": serveSDK}
		for _, name := range []string{"host", "sdk"} {
			b.Run(fmt.Sprintf("%dB/%s", size, name), func(b *testing.B) {
				call := pipeCaller(b, servers[name](b), size)
				b.ReportAllocs()
				for b.Loop() {
					call()
				}
			})
		}
		b.Run(fmt.Sprintf("%dB/turns", size), func(b *testing.B) {
			takeTurns(b, pipeCaller(b, serveHost(b), size), pipeCaller(b, serveSDK(b), size))
		})
	}
}

// pipeCaller gives a function that makes a call of so many bytes and reads its answer.
func pipeCaller(b *testing.B, serve func(io.ReadCloser, io.WriteCloser) error, size int) func() {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- serve(inR, outW)
		outW.Close()
	}()
	b.Cleanup(func() {
		inW.Close()
		if err := <-served; err != nil {
			b.Error(err)
		}
	})
	out := bufio.NewReaderSize(outR, 64<<10)
	ask := func(line string) string {
		if _, err := io.WriteString(inW, line); err != nil {
			b.Fatal(err)
		}
		answer, err := out.ReadString('\n')
		if err != nil {
			b.Fatal(err)
		}
		return answer
	}
	ask(initialize + "\n")
	if _, err := io.WriteString(inW, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"); err != nil {
		b.Fatal(err)
	}
	call := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":%q}}}`+"\n", strings.Repeat("x", size))
	if answer := ask(call); len(answer) < size || strings.Contains(answer, "isError") {
		b.Fatalf("unexpected answer %.200s", answer)
	}
	return func() { ask(call) }
}

const echoSchema = `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`

func serveHost(b *testing.B) func(io.ReadCloser, io.WriteCloser) error {
	echo := toolNamed("echo", func(_ context.Context, c *host.Call) (*host.Result, error) {
		return host.TextResult(string(c.Args)), nil
	})
	echo.InputSchema = []byte(echoSchema)
	s := New(newHost(b, echo), nil)
	b.Cleanup(s.Close)
	return func(in io.ReadCloser, out io.WriteCloser) error {
		return s.ServeStdio(context.Background(), in, out)
	}
}

func serveSDK(*testing.B) func(io.ReadCloser, io.WriteCloser) error {
	s := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	tool := &mcp.Tool{Name: "echo", Description: "Echoes.", InputSchema: json.RawMessage(echoSchema)}
	s.AddTool(tool, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(req.Params.Arguments)}}}, nil
	})
	return func(in io.ReadCloser, out io.WriteCloser) error {
		return s.Run(context.Background(), &mcp.IOTransport{Reader: in, Writer: out})
	}
}

// BenchmarkList measures tools/list with a thousand tools.
func BenchmarkList(b *testing.B) {
	var tools []*host.Tool
	for i := range 1000 {
		tools = append(tools, toolNamed(fmt.Sprintf("tool_%04d", i), kit()[0].Handler.(host.HandlerFunc)))
		tools[i].InputSchema = []byte(echoSchema)
	}
	s := New(newHost(b, tools...), nil)
	b.Cleanup(s.Close)
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- s.ServeStdio(context.Background(), inR, outW)
		outW.Close()
	}()
	out := bufio.NewReaderSize(outR, 64<<10)
	ask := func(line string) {
		if _, err := io.WriteString(inW, line+"\n"); err != nil {
			b.Fatal(err)
		}
		if _, err := out.ReadString('\n'); err != nil {
			b.Fatal(err)
		}
	}
	ask(initialize)
	b.ReportAllocs()
	for b.Loop() {
		ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	}
	inW.Close()
	if err := <-served; err != nil {
		b.Fatal(err)
	}
}
