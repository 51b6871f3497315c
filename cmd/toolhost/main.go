// Command toolhost serves the tools of plugin folders to AI agents over MCP, and calls
// them from the command line.
//
//	toolhost call count_words path=README.md
//	toolhost serve --plugins ./plugins --folder ~/notes
//
// `toolhost --help` and docs/command-line.md say the rest.
package main

import (
	"context"
	"os"

	_ "github.com/toolhost/toolhost/internal/garbage" // collects it less often
	"github.com/toolhost/toolhost/runtimes/worker"
)

func main() {
	worker.Main()
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
