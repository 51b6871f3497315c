package foldertools

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"

	"github.com/toolhost/toolhost/host"
)

func listTool() *host.Tool {
	return &host.Tool{
		Name:  "folder_list",
		Title: "List a folder",
		Description: "Lists what is in a folder: one line per entry with its path, and the size of files; folders end with a slash. " +
			"Use it to see what is there before reading. With depth above 1 it shows the tree below as well, without the inside of folders such as .git and node_modules. " +
			"To look for files by name use folder_find, by content folder_search.",
		InputSchema: json.RawMessage(`{
  "type": "object",
  "properties": {
    "path": {"type": "string", "format": "directory-path", "minLength": 1, "maxLength": 4096, "default": ".",
      "description": "The folder to list, relative to the agent's folder, which is the default."},
    "depth": {"type": "integer", "minimum": 1, "maximum": 20, "default": 1,
      "description": "How many levels to show; 1 is the folder's own entries."},
    "includeIgnored": {"type": "boolean", "default": false,
      "description": "Whether to show the inside of folders such as .git, node_modules and .venv too when depth is above 1."},
    "limit": {"type": "integer", "minimum": 1, "maximum": 5000, "default": 500,
      "description": "How many entries to show at most."}
  },
  "additionalProperties": false
}`),
		Annotations: reads.annotations(),
		Policy:      reads.policy(),
		Handler:     handler(list),
	}
}

type listArgs struct {
	Path           string
	Depth          integer
	IncludeIgnored bool
	Limit          integer
}

func list(ctx context.Context, f folder, args listArgs) (*host.Result, error) {
	info, err := f.Stat(args.Path)
	if err != nil {
		return nil, f.explain(args.Path, err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%q is a %s, not a folder; folder_info and folder_read are for files", f.rel(args.Path), kind(info.Mode()))
	}
	var lines []string
	total, size := 0, 0
	// At depth 1 nothing is entered, so that there is no noise to pass over.
	w := walk{folder: f, root: args.Path, all: args.IncludeIgnored || args.Depth == 1, depth: int(args.Depth)}
	err = w.each(ctx, func(name, rel string, d fs.DirEntry) error {
		if total++; total <= int(args.Limit) && size <= maxPaths {
			line := f.listLine(name, rel, d)
			lines, size = append(lines, line), size+len(line)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	head := fmt.Sprintf("%s: %s", f.show(args.Path), count(total, "entry"))
	if total == 0 {
		head = fmt.Sprintf("%s is empty", f.show(args.Path))
	}
	out := append([]string{head}, lines...)
	if total > len(lines) {
		out = append(out, fmt.Sprintf("[%s not shown; list a deeper path, or raise limit (at most 5000)]", count(total-len(lines), "more entry")))
	}
	return host.TextResult(strings.Join(append(out, w.notes()...), "\n")), nil
}

func (f folder) listLine(name, rel string, d fs.DirEntry) string {
	shown := printable(rel)
	switch mode := d.Type(); {
	case mode.IsDir():
		return shown + "/"
	case mode&fs.ModeSymlink != 0:
		target, err := f.ReadLink(name)
		if err != nil {
			return shown + "  link"
		}
		return shown + "  link to " + printable(target)
	case !mode.IsRegular():
		return shown + "  " + kind(mode)
	}
	info, err := d.Info()
	if err != nil {
		return shown
	}
	return shown + "  " + count(info.Size(), "byte")
}
