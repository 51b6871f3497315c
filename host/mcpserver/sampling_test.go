package mcpserver

//lint:file-ignore SA1019 Clients of the older revisions offer sampling still.

import (
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/host"
)

func TestSampling(t *testing.T) {
	tool := toolNamed("complete", func(ctx context.Context, c *host.Call) (*host.Result, error) {
		if c.Complete == nil {
			return host.TextResult("no model"), nil
		}
		text, err := c.Complete(ctx, &host.Prompt{Text: "say it", Images: []host.PromptImage{{MIMEType: "image/png", Data: []byte("pixels")}}})
		return host.TextResult(text), err
	})
	type answer = func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error)
	for _, c := range []struct {
		name, revision string
		answer         answer
		want           string
	}{
		{"offered", "2025-11-25", func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			image, said := r.Params.Messages[0].Content.(*mcp.ImageContent), r.Params.Messages[1].Content.(*mcp.TextContent).Text
			if len(r.Params.Messages) != 2 || image.MIMEType != "image/png" || string(image.Data) != "pixels" {
				return nil, errors.New("another image")
			}
			return &mcp.CreateMessageResult{Role: "assistant", Model: "m", Content: &mcp.TextContent{Text: "did " + said}}, nil
		}, "did say it"},
		{"refused", "2025-11-25", func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return nil, errors.New("the user said no")
		}, "asking the agent's model"},
		{"an image", "2025-11-25", func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return &mcp.CreateMessageResult{Role: "assistant", Model: "m", Content: &mcp.ImageContent{Data: []byte("x"), MIMEType: "image/png"}}, nil
		}, "without a text"},
		{"not offered", "2025-11-25", nil, "no model"},
		{"stateless", "2026-07-28", func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			return nil, errors.New("never asked")
		}, "no model"},
	} {
		for _, over := range []string{"memory", "stdio", "http"} {
			t.Run(c.name+"/"+over, func(t *testing.T) {
				s := New(newHost(t, tool), nil)
				t.Cleanup(s.Close)
				client := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, &mcp.ClientOptions{CreateMessageHandler: c.answer})
				session, err := client.Connect(t.Context(), transportOver(t, s, over), &mcp.ClientSessionOptions{ProtocolVersion: c.revision})
				if err != nil {
					t.Fatal(err)
				}
				r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "complete"})
				if err != nil {
					t.Fatal(err)
				}
				if text := r.Content[0].(*mcp.TextContent).Text; !strings.Contains(text, c.want) {
					t.Errorf("got %q, want %q", text, c.want)
				}
				if err := session.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// transportOver gives a client's transport to the server. What serves ends with the test.
func transportOver(t *testing.T, s *Server, over string) mcp.Transport {
	t.Helper()
	switch over {
	case "memory":
		theirs, ours := mcp.NewInMemoryTransports()
		served, err := s.MCP().Connect(t.Context(), ours, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = served.Wait() }) // it ends with its client
		return theirs
	case "stdio":
		in, toServer := io.Pipe()
		fromServer, out := io.Pipe()
		served := make(chan error, 1)
		go func() { served <- s.ServeStdio(t.Context(), in, out) }()
		t.Cleanup(func() {
			if err := <-served; err != nil {
				t.Error(err)
			}
		})
		return &mcp.IOTransport{Reader: fromServer, Writer: toServer}
	default:
		h := s.Handler(nil)
		web := httptest.NewServer(h)
		t.Cleanup(func() {
			h.Close(t.Context())
			web.Close()
		})
		return &mcp.StreamableClientTransport{Endpoint: web.URL}
	}
}
