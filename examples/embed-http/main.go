// Command embed-http shows a web application that offers its tools to agents: MCP is one
// path of its http.ServeMux, beside its own pages.
//
//	go run ./examples/embed-http --addr 127.0.0.1:8090 --token "$(openssl rand -hex 16)"
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/host/mcpserver"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	addr := flag.String("addr", "127.0.0.1:8090", "where to serve")
	token := flag.String("token", "", "what agents must send; empty asks for none")
	flag.Parse()
	if err := run(ctx, *addr, *token); err != nil {
		fmt.Fprintln(os.Stderr, "embed-http:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, addr, token string) error {
	app, end, err := newApp(token)
	if err != nil {
		return err
	}
	// Answers are streams, so there is a limit for headers and none for answers.
	web := &http.Server{Addr: addr, Handler: app, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	served := make(chan error, 1)
	go func() { served <- web.ListenAndServe() }()
	select {
	case err := <-served:
		return errors.Join(err, end(ctx))
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	return errors.Join(end(last), web.Shutdown(last)) // in this order: streams end with the handler
}

// newApp gives the application, and the function that ends its tools.
func newApp(token string) (http.Handler, func(context.Context) error, error) {
	h := host.New(nil)
	if _, err := h.Replace("app", host.HostTool, []*host.Tool{visitorsTool()}); err != nil {
		return nil, nil, err
	}
	server := mcpserver.New(h, &mcpserver.Options{Name: "app", Version: "1.0.0"})
	agents := server.Handler(&mcpserver.HTTPOptions{Token: token})

	mux := http.NewServeMux()
	mux.Handle("/agents/mcp", agents)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, "The application's own page.")
	})
	return mux, func(ctx context.Context) error {
		agents.Close(ctx)
		server.Close()
		return h.Close(ctx)
	}, nil
}

func visitorsTool() *host.Tool {
	return &host.Tool{
		Name:        "visitors_count",
		Description: "Gives how many people visited the site on a day.",
		InputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {"day": {"type": "string", "format": "date", "description": "Such as 2026-11-30."}},
			"required": ["day"],
			"additionalProperties": false
		}`),
		Handler: host.HandlerFunc(func(_ context.Context, c *host.Call) (*host.Result, error) {
			var args struct{ Day string }
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return nil, err
			}
			return host.TextResult(fmt.Sprintf("%d visitors on %s", 1200+len(args.Day), args.Day)), nil
		}),
	}
}
