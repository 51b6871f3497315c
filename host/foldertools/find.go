package foldertools

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"github.com/toolhost/toolhost/host"
)

func findTool() *host.Tool {
	return &host.Tool{
		Name:  "folder_find",
		Title: "Find files by name",
		Description: "Finds files whose path matches a glob, such as *.md, src/**/*.{ts,tsx} or **/README*. Gives one path per line in path order, usable as they are in the other folder tools. " +
			"A pattern without a slash matches names at any depth. Case counts. Folders such as .git and node_modules are not entered unless the pattern names them or includeIgnored is true. " +
			"To look for text inside files use folder_search.",
		InputSchema: json.RawMessage(`{
  "type": "object",
  "properties": {
    "pattern": {"type": "string", "minLength": 1, "maxLength": 1000,
      "description": "A glob for the path below the folder: * and ? stay within a name, ** goes across folders, {a,b} is either, [a-z] is one of."},
    "path": {"type": "string", "format": "directory-path", "minLength": 1, "maxLength": 4096, "default": ".",
      "description": "The folder to look in, relative to the agent's folder, which is the default."},
    "type": {"type": "string", "enum": ["file", "folder", "any"], "default": "file",
      "description": "What to find. Links count as files."},
    "includeIgnored": {"type": "boolean", "default": false,
      "description": "Whether to enter folders such as .git, node_modules and .venv."},
    "limit": {"type": "integer", "minimum": 1, "maximum": 5000, "default": 200,
      "description": "How many paths to give at most."}
  },
  "required": ["pattern"],
  "additionalProperties": false
}`),
		Annotations: reads.annotations(),
		Policy:      reads.policy(),
		Handler:     handler(find),
	}
}

type findArgs struct {
	Pattern, Path, Type string
	IncludeIgnored      bool
	Limit               integer
}

func find(ctx context.Context, f folder, args findArgs) (*host.Result, error) {
	pattern, err := newGlob("pattern", []string{args.Pattern})
	if err != nil {
		return nil, err
	}
	info, err := f.Stat(args.Path)
	if err != nil {
		return nil, f.explain(args.Path, err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("path %q is a %s, not a folder", f.rel(args.Path), kind(info.Mode()))
	}
	var lines []string
	total, size := 0, 0
	w := walk{folder: f, root: args.Path, all: args.IncludeIgnored, asked: pattern.asked()}
	err = w.each(ctx, func(name, rel string, d fs.DirEntry) error {
		if args.Type != "any" && d.IsDir() != (args.Type == "folder") || !pattern.match(rel) {
			return nil
		}
		if total++; total > int(args.Limit) || size > maxPaths {
			return nil
		}
		line := f.show(name)
		if d.IsDir() {
			line += "/"
		}
		lines, size = append(lines, line), size+len(line)
		return nil
	})
	if err != nil {
		return nil, err
	}
	switch {
	case total == 0:
		lines = []string{fmt.Sprintf("nothing below %s matches %q", f.show(args.Path), args.Pattern)}
	case total > len(lines):
		lines = append(lines, fmt.Sprintf("[%s not shown; narrow the pattern, or raise limit (at most 5000)]", count(total-len(lines), "more match")))
	}
	return host.TextResult(strings.Join(append(lines, w.notes()...), "\n")), nil
}
