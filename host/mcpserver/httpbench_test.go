package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/host"
)

// BenchmarkHTTP measures a call over HTTP: of a tool written in Go through a host and this
// server, and, for comparison, of a bare handler of the SDK; "turns" compares the two.
func BenchmarkHTTP(b *testing.B) {
	for _, stateless := range []bool{false, true} {
		for _, size := range []int{20, 10_000} {
			era := "2025-11-25"
			if stateless {
				era = statelessRevision
			}
			for _, server := range []string{"host", "sdk"} {
				b.Run(fmt.Sprintf("%s/%dB/%s", era, size, server), func(b *testing.B) {
					call := benchServer(b, server, stateless).caller(b, stateless, size)
					b.ReportAllocs()
					for b.Loop() {
						call()
					}
				})
			}
			b.Run(fmt.Sprintf("%s/%dB/turns", era, size), func(b *testing.B) {
				takeTurns(b,
					benchServer(b, "host", stateless).caller(b, stateless, size),
					benchServer(b, "sdk", stateless).caller(b, stateless, size))
			})
		}
	}
}

// turn is how many calls in a row one of two servers gets: enough for the garbage that they leave
// to be collected meanwhile, most of the time.
const turn = 200

// takeTurns compares two servers in one run: they take turns, and "host/sdk" is the ratio
// of the medians.
func takeTurns(b *testing.B, ours, theirs func()) {
	servers := [2]func(){ours, theirs}
	var took [2][]time.Duration
	first := 0
	for b.Loop() {
		first = 1 - first // whoever comes second finds everything warm
		for _, i := range []int{first, 1 - first} {
			start := time.Now()
			for range turn {
				servers[i]()
			}
			took[i] = append(took[i], time.Since(start)/turn)
		}
	}
	median := func(of []time.Duration) float64 {
		slices.Sort(of)
		return float64(of[len(of)/2].Nanoseconds())
	}
	host, sdk := median(took[0]), median(took[1])
	b.ReportMetric(host/1000, "µs/host")
	b.ReportMetric(sdk/1000, "µs/sdk")
	b.ReportMetric(host/sdk, "host/sdk")
	b.ReportMetric(0, "ns/op")
}

// caller gives a function that makes a call of so many bytes and reads its answer.
func (w *wired) caller(b *testing.B, stateless bool, size int) func() {
	id := ""
	if !stateless {
		id = w.session(b)
	}
	args := fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", size))
	return func() {
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
