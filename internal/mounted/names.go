package mounted

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/toolhost/toolhost/internal/lazyregexp"
)

const (
	// maxName is how long a tool's name may be, maxPrefix how long the server's part of it.
	maxName   = 64
	maxPrefix = 24
)

var unfit = lazyregexp.New(`[^A-Za-z0-9-]+|_+`)

// prefix gives the server's part of its tools' names: letters, digits, - and single _.
func prefix(server string) string {
	p := strings.Trim(unfit.ReplaceAllString(server, "_"), "_")
	if len(p) > maxPrefix {
		p = strings.Trim(p[:maxPrefix-5], "_") + "_" + short(server)
	}
	if p == "" {
		p = "server_" + short(server)
	}
	return p
}

var unfitTool = lazyregexp.New(`[^A-Za-z0-9_-]`)

// names gives tools their names: <server>__<tool>, within what clients take. Two tools
// never get one name, and a tool's name depends on no other tool's unless they clash.
func names(prefix string, tools []string) []string {
	out := make([]string, len(tools))
	taken := map[string]bool{}
	for i, tool := range tools {
		name := prefix + "__" + unfitTool.ReplaceAllString(tool, "_")
		if len(name) > maxName {
			name = name[:maxName-5] + "_" + short(tool)
		}
		for n := 2; taken[name]; n++ {
			end := fmt.Sprint("_", n)
			name = name[:min(len(name), maxName-len(end))] + end
		}
		taken[name] = true
		out[i] = name
	}
	return out
}

// short gives four letters that stand for a text.
func short(text string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(text)) // it never fails
	return fmt.Sprintf("%04x", h.Sum32()&0xffff)
}
