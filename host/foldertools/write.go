package foldertools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
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
	size, lines := count(len(args.Content), "byte"), count(lineCount(args.Content), "line")
	_, err := f.Stat(args.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := f.create(args.Path, args.Content, args.Overwrite); err != nil {
			return nil, err
		}
		return host.TextResult(fmt.Sprintf("created %s (%s, %s)", f.show(args.Path), size, lines)), nil
	case err != nil:
		return nil, f.explain(args.Path, err)
	}
	before, err := f.file(args.Path)
	if err != nil {
		return nil, err
	}
	had := count(before.Size(), "byte")
	if !args.Overwrite {
		return nil, fmt.Errorf("%q exists already (%s) and overwrite is false; nothing was written", f.rel(args.Path), had)
	}
	if err := f.WriteFile(args.Path, []byte(args.Content), before.Mode().Perm()); err != nil {
		return nil, f.explain(args.Path, err)
	}
	return host.TextResult(fmt.Sprintf("replaced %s (%s, %s; it had %s)", f.show(args.Path), size, lines, had)), nil
}

// create writes a new file with the folders above it. Where that fails no new folder is left.
func (f folder) create(name, content string, overwrite bool) (err error) {
	undo, err := f.makeParent(name)
	if err != nil {
		return err
	}
	if overwrite {
		err = f.WriteFile(name, []byte(content), 0o666)
	} else {
		err = f.writeNew(name, content)
	}
	if err != nil {
		undo()
		return f.explain(name, err)
	}
	return nil
}

// writeNew writes a file that must not exist, also where somebody makes it at the same moment.
func (f folder) writeNew(name, content string) error {
	file, err := f.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	_, err = file.Write([]byte(content))
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, f.Remove(name))
	}
	return nil
}

// makeParent makes the folders above a path; undo takes those that it made away again,
// as far as they are still empty.
func (f folder) makeParent(name string) (undo func(), err error) {
	// The path is not tidied: "a/.." is not "." where a is a link.
	slash := strings.LastIndexByte(filepath.ToSlash(name), '/')
	if slash <= 0 {
		return func() {}, nil
	}
	dir := name[:slash]
	first, err := f.MkdirAll(dir, 0o777)
	undo = func() {
		for first != "" && len(dir) >= len(first) {
			if f.Remove(dir) != nil {
				return
			}
			dir = strings.TrimRight(dir[:max(strings.LastIndexByte(filepath.ToSlash(dir), '/'), 0)], "/")
		}
	}
	if err != nil {
		undo()
		return nil, f.explain(dir, err)
	}
	return undo, nil
}

func lineCount(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
