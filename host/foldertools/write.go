package foldertools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/toolhost/toolhost/host"
)

func writeTool() *host.Tool {
	return &host.Tool{
		Name:  "folder_write",
		Title: "Write a file",
		Description: "Writes a whole text file: creates it, with the folders above it, or replaces all that it had. Says which of the two, and how many bytes. " +
			"Use it for new files and complete rewrites; to change a part of a file use folder_edit. " +
			"With overwrite false an existing file is left as it is and the call fails.",
		InputSchema: json.RawMessage(`{
  "type": "object",
  "properties": {
    "path": {"type": "string", "format": "file-path", "minLength": 1, "maxLength": 4096,
      "description": "The file to write, relative to the agent's folder. Folders that are missing are made."},
    "content": {"type": "string",
      "description": "The complete text of the file, written as it is in UTF-8; end it with a line break where the file should have one."},
    "overwrite": {"type": "boolean", "default": true,
      "description": "Whether a file that exists may be replaced."}
  },
  "required": ["path", "content"],
  "additionalProperties": false
}`),
		Annotations: replaces.annotations(),
		Policy:      replaces.policy(),
		Handler:     handler(write),
	}
}

type writeArgs struct {
	Path, Content string
	Overwrite     bool
}

func write(_ context.Context, f folder, args writeArgs) (*host.Result, error) {
	if strings.HasSuffix(args.Path, "/") {
		return nil, fmt.Errorf("%q ends with a slash; give the path of a file", args.Path)
	}
	before, err := f.file(args.Path)
	exists := err == nil
	perm := fs.FileMode(0o644)
	switch {
	case exists && !args.Overwrite:
		return nil, fmt.Errorf("%q exists already (%s) and overwrite is false; nothing was written", f.show(args.Path), count(before.Size(), "byte"))
	case exists:
		perm = before.Mode().Perm()
	default:
		if _, err := f.Stat(args.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, f.explain(args.Path, err)
		} else if err == nil {
			return nil, fmt.Errorf("%q is no regular file and cannot be replaced", f.show(args.Path))
		}
		if err := f.makeParent(args.Path); err != nil {
			return nil, err
		}
	}
	if err := f.WriteFile(args.Path, []byte(args.Content), perm); err != nil {
		return nil, f.explain(args.Path, err)
	}
	size, lines := count(len(args.Content), "byte"), count(lineCount(args.Content), "line")
	if exists {
		return host.TextResult(fmt.Sprintf("replaced %s (%s, %s; it had %s)", f.show(args.Path), size, lines, count(before.Size(), "byte"))), nil
	}
	return host.TextResult(fmt.Sprintf("created %s (%s, %s)", f.show(args.Path), size, lines)), nil
}

// makeParent makes the folders above a path.
func (f folder) makeParent(name string) error {
	dir := path.Dir(filepath.ToSlash(name))
	if dir == "." || dir == "/" {
		return nil
	}
	if _, err := f.MkdirAll(dir, 0o755); err != nil {
		return f.explain(dir, err)
	}
	return nil
}

func lineCount(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
