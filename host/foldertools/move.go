package foldertools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/toolhost/toolhost/host"
)

func moveTool() *host.Tool {
	return &host.Tool{
		Name:  "folder_move",
		Title: "Move or rename",
		Description: "Moves or renames a file or a folder inside the agent's folder; folders above the new place are made. " +
			"Both are full paths: to move into a folder, end the new path with the name. A file that is at the new place stays unless overwrite is true; a folder is never replaced.",
		InputSchema: json.RawMessage(`{
  "type": "object",
  "properties": {
    "from": {"type": "string", "format": "file-path", "minLength": 1, "maxLength": 4096,
      "description": "The file or folder to move, relative to the agent's folder."},
    "to": {"type": "string", "format": "file-path", "minLength": 1, "maxLength": 4096,
      "description": "Its new path, name included, relative to the agent's folder."},
    "overwrite": {"type": "boolean", "default": false,
      "description": "Whether a file at the new path may be replaced."}
  },
  "required": ["from", "to"],
  "additionalProperties": false
}`),
		Annotations: changes.annotations(),
		Policy:      changes.policy(),
		Handler:     handler(move),
	}
}

type moveArgs struct {
	From, To  string
	Overwrite bool
}

func move(_ context.Context, f folder, args moveArgs) (*host.Result, error) {
	from, err := f.Lstat(args.From)
	if err != nil {
		return nil, f.explain(args.From, err)
	}
	replaced, undo := "", func() {}
	to, err := f.Lstat(args.To)
	switch {
	case err == nil && os.SameFile(from, to):
		return nil, fmt.Errorf("%q and %q are the same %s; nothing was moved", f.rel(args.From), f.rel(args.To), kind(from.Mode()))
	case err == nil && to.IsDir():
		return nil, fmt.Errorf("%q is a folder; to move into it give the full new path, such as %q", f.rel(args.To), f.rel(args.To+"/"+from.Name()))
	case err == nil && from.IsDir():
		return nil, fmt.Errorf("%q is a %s; a folder cannot take its place", f.rel(args.To), kind(to.Mode()))
	case err == nil && !args.Overwrite:
		return nil, fmt.Errorf("%q exists already (%s); set overwrite to true to replace it, or choose another name", f.rel(args.To), count(to.Size(), "byte"))
	case err == nil:
		replaced = fmt.Sprintf(", replacing a %s of %s", kind(to.Mode()), count(to.Size(), "byte"))
	case !errors.Is(err, fs.ErrNotExist):
		return nil, f.explain(args.To, err)
	case strings.HasSuffix(args.To, "/"):
		return nil, fmt.Errorf("%q ends with a slash; give the full new path, such as %q", args.To, f.rel(args.To+from.Name()))
	default:
		if undo, err = f.makeParent(args.To); err != nil {
			return nil, err
		}
	}
	if err := f.Rename(args.From, args.To); err != nil {
		undo()
		return nil, f.explainMove(args, from.IsDir(), err)
	}
	return host.TextResult(fmt.Sprintf("moved %s %s to %s%s", kind(from.Mode()), f.show(args.From), f.show(args.To), replaced)), nil
}

func (f folder) explainMove(args moveArgs, isDir bool, err error) error {
	var link *os.LinkError
	if errors.As(err, &link) {
		err = &fs.PathError{Op: link.Op, Path: link.Old, Err: link.Err}
	}
	switch {
	case isDir && errors.Is(err, syscall.EINVAL):
		return fmt.Errorf("folder %q cannot be moved into itself (%q)", f.rel(args.From), f.rel(args.To))
	case errors.Is(err, syscall.EXDEV):
		return fmt.Errorf("%q and %q are on different file systems; read the file and write it to its new place instead", f.rel(args.From), f.rel(args.To))
	}
	return f.explain(args.From, err)
}
