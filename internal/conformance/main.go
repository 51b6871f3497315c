// Command conformance serves, over HTTP, the tools that the official MCP conformance suite
// asks of a server, from a host as any other program has it.
//
//	conformance 127.0.0.1:3910
package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/host/mcpserver"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: conformance ADDRESS")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, addr string) error {
	h := host.New(nil)
	defer h.Close(context.WithoutCancel(ctx))
	server := mcpserver.New(h, &mcpserver.Options{Name: "conformance", Version: "1"})
	defer server.Close()
	if _, err := h.Replace("fixtures", host.HostTool, fixtures(h, server)); err != nil {
		return err
	}
	handler := server.Handler(nil)
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	web := &http.Server{Addr: addr, Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan error, 1)
	go func() { served <- web.ListenAndServe() }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	ended, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	handler.Close(ended)
	return web.Shutdown(ended)
}

const (
	png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	wav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
)

const dialect = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object",
	"$defs": {"address": {"$anchor": "addressDef", "type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
	"properties": {
		"name": {"type": "string"},
		"address": {"$ref": "#/$defs/address"},
		"contactMethod": {"type": "string", "enum": ["phone", "email"]},
		"phone": {"type": "string"},
		"email": {"type": "string"}
	},
	"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
	"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
	"then": {"required": ["phone"]},
	"else": {"required": ["email"]},
	"additionalProperties": false
}`

// fixtures are the tools that the suite calls, by the names that it knows.
func fixtures(h *host.Host, server *mcpserver.Server) []*host.Tool {
	envelope := func(blocks string) host.HandlerFunc {
		return func(context.Context, *host.Call) (*host.Result, error) {
			return host.ValueResult(json.RawMessage(`{"content":[` + blocks + `]}`)), nil
		}
	}
	text := func(s string) host.HandlerFunc {
		return func(context.Context, *host.Call) (*host.Result, error) { return host.TextResult(s), nil }
	}
	image, err := base64.StdEncoding.DecodeString(png)
	if err != nil {
		panic(err) // it is written above
	}
	resource := `{"type":"resource","resource":{"uri":"test://embedded-resource","mimeType":"text/plain","text":"This is an embedded resource content."}}`
	tools := map[string]host.HandlerFunc{
		"test_simple_text": text("This is a simple text response for testing."),
		"test_image_content": func(context.Context, *host.Call) (*host.Result, error) {
			return &host.Result{Content: []host.Content{host.Image(image, "image/png")}}, nil
		},
		"test_audio_content":          envelope(`{"type":"audio","data":"` + wav + `","mimeType":"audio/wav"}`),
		"test_embedded_resource":      envelope(resource),
		"test_multiple_content_types": envelope(`{"type":"text","text":"Several:"},{"type":"image","data":"` + png + `","mimeType":"image/png"},` + resource),
		"test_error_handling": func(context.Context, *host.Call) (*host.Result, error) {
			//lint:ignore ST1005 the suite looks for these words
			return nil, errors.New("This tool intentionally returns an error for testing")
		},
		"test_tool_with_progress": func(ctx context.Context, c *host.Call) (*host.Result, error) {
			// The host sends at most four messages a second.
			return said(ctx, 300*time.Millisecond, c.Progress)
		},
		"test_tool_with_logging": func(ctx context.Context, _ *host.Call) (*host.Result, error) {
			return said(ctx, 50*time.Millisecond, func(message string) { server.LogMessage("info", "fixtures", message) })
		},
		"test_logging_tool": func(ctx context.Context, _ *host.Call) (*host.Result, error) {
			return said(ctx, 10*time.Millisecond, func(message string) { server.LogMessage("info", "fixtures", message) })
		},
		"test_streaming_elicitation": text("This server asks for nothing."),
	}
	tools["test_trigger_tool_change"] = func(context.Context, *host.Call) (*host.Result, error) {
		name := fmt.Sprintf("test_changed_%d", time.Now().UnixNano())
		_, err := h.Replace("changes", host.HostTool, []*host.Tool{tool(name, text("changed"))})
		return host.TextResult("The list has changed."), err
	}
	var all []*host.Tool
	for name, handle := range tools {
		all = append(all, tool(name, handle))
	}
	checked := tool("json_schema_2020_12_tool", text("The arguments fit."))
	checked.InputSchema = json.RawMessage(dialect)
	return append(all, checked)
}

func tool(name string, handle host.HandlerFunc) *host.Tool {
	return &host.Tool{Name: name, Description: "A fixture of the conformance suite.", InputSchema: json.RawMessage(`{"type":"object","properties":{}}`), Handler: handle}
}

// said says three messages.
func said(ctx context.Context, every time.Duration, say func(string)) (*host.Result, error) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for _, message := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		say(message)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return host.TextResult("All is said."), nil
}
