// Command toolhost serves the tools of plugin folders to AI agents over MCP, and calls
// them from the command line. `toolhost --help` says how.
package main

import (
	"context"
	"os"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
