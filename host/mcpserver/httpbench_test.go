package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/host"
)

// BenchmarkHTTP measures a call over HTTP: of a tool written in Go through a host and this
// server, and, for comparison, of a bare handler of the SDK. Compare the two in one run.
func BenchmarkHTTP(b *testing.B) {
	for _, stateless := range []bool{false, true} {
		for _, size := range []int{20, 10_000} {
			for _, server := range []string{"host", "sdk"} {
				era := "2025-11-25"
				if stateless {
					era = statelessRevision
				}
				b.Run(fmt.Sprintf("%s/%dB/%s", era, size, server), func(b *testing.B) {
					w := benchServer(b, server, stateless)
					id := ""
					if !stateless {
						id = w.session(b)
					}
					args := fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", size))
					b.ReportAllocs()
					for b.Loop() {
						res, err := w.client.Do(w.call(b.Context(), stateless, id, "1", "echo", args))
						if err != nil {
							b.Fatal(err)
						}
						n, err := io.Copy(io.Discard, res.Body)
						res.Body.Close()
						if err != nil || n < int64(size) || res.StatusCode != http.StatusOK {
							b.Fatalf("%s, %d bytes, %v", res.Status, n, err)
						}
					}
				})
			}
		}
	}
}

func benchServer(b *testing.B, server string, stateless bool) *wired {
	if server == "host" {
		echo := toolNamed("echo", func(_ context.Context, c *host.Call) (*host.Result, error) {
			return host.TextResult(string(c.Args)), nil
		})
		echo.InputSchema = []byte(echoSchema)
		return serveHTTP(b, newHost(b, echo), nil, nil)
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	tool := &mcp.Tool{Name: "echo", Description: "Echoes.", InputSchema: json.RawMessage(echoSchema)}
	s.AddTool(tool, func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(req.Params.Arguments)}}}, nil
	})
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: stateless}))
	b.Cleanup(func() {
		for session := range s.Sessions() {
			_ = session.Close()
		}
		web.CloseClientConnections()
		web.Close()
	})
	return &wired{url: web.URL, client: web.Client()}
}
