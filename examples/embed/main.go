// Command embed shows a Go program that holds a host of its own: it offers one tool
// written in Go, loads a folder of plugins beside it, and makes the calls that an agent
// would make.
//
//	go run ./examples/embed --plugins examples/commonjs --folder examples/node-modules
//
// To serve the same host to agents over MCP, hand it to package host/mcpserver.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/loader"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/node"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "embed:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("embed", flag.ContinueOnError)
	flags.SetOutput(stderr)
	plugins := flags.String("plugins", "examples/commonjs", "a plugin folder, or a folder of plugin folders")
	folder := flags.String("folder", "examples/node-modules", "the folder in which tools work")
	if err := flags.Parse(args); err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))

	// The host holds the tools. Calls work in its folder, as far as each tool's
	// permissions go.
	h := host.New(&host.Options{Folder: *folder, Log: log})
	defer h.Close(context.WithoutCancel(ctx))

	// A tool of our own: this program's data, offered to agents. The schema is checked
	// before the handler runs, so the handler may rely on it.
	if _, err := h.Replace("shop", host.HostTool, []*host.Tool{ordersTool()}); err != nil {
		return err
	}

	// Plugins come after it, and cannot take its name. One that does not load is logged
	// and leaves the others alone.
	l := loader.New(h, map[string]runtimes.Runtime{"node": node.New(nil)}, &loader.Options{Dirs: []string{*plugins}, Log: log})
	defer l.Close(context.WithoutCancel(ctx))
	if err := l.LoadAll(ctx); err != nil {
		return err
	}

	for _, t := range h.Tools() {
		fmt.Fprintf(stdout, "%s (%s %s)\n", t.Name, t.Source, t.Owner)
	}
	for _, c := range []host.Call{
		{Tool: "orders_open", Args: json.RawMessage(`{"customer": "Ada"}`)},
		{Tool: "json_value", Args: json.RawMessage(`{"path": "package.json", "pointer": "/dependencies"}`)},
		{Tool: "json_value", Args: json.RawMessage(`{"path": "../../go.mod"}`)}, // refused: it lies outside the folder
	} {
		c.Agent = host.Agent{ID: "example", Name: "example"}
		result, err := h.Call(ctx, &c)
		if err != nil {
			return err // no such tool, or ctx has ended; a tool that fails says so in its result
		}
		fmt.Fprintf(stdout, "\n%s %s (failed: %v)\n", c.Tool, c.Args, result.IsError)
		for _, block := range result.Content {
			fmt.Fprintln(stdout, block.Text())
		}
	}
	return nil
}

func ordersTool() *host.Tool {
	orders := map[string][]string{"Ada": {"17: two lamps", "21: a desk"}}
	readOnly := true
	return &host.Tool{
		Name:        "orders_open",
		Title:       "Open orders",
		Description: "Lists the open orders of a customer. Use it to answer questions about deliveries.",
		InputSchema: json.RawMessage(`{
			"type": "object",
			"properties": {"customer": {"type": "string", "description": "The customer's name."}},
			"required": ["customer"],
			"additionalProperties": false
		}`),
		Annotations: &host.Annotations{ReadOnlyHint: &readOnly},
		Handler: host.HandlerFunc(func(ctx context.Context, c *host.Call) (*host.Result, error) {
			var args struct{ Customer string }
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return nil, err
			}
			open, known := orders[args.Customer]
			if !known {
				return nil, fmt.Errorf("there is no customer %q", args.Customer)
			}
			text := fmt.Sprintf("%d open orders", len(open))
			for _, o := range open {
				text += "\n" + o
			}
			return host.TextResult(text), nil
		}),
	}
}
