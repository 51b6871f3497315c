package foldertools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/toolhost/toolhost/host"
)

func infoTool() *host.Tool {
	return &host.Tool{
		Name:  "folder_info",
		Title: "Facts about a file or folder",
		Description: "Tells what stands at a path without giving its content: file, folder or link; size in bytes; time of the last change; type; " +
			"for text the number of lines and the kind of line ends, for PNG, JPEG and GIF the size in pixels, for a folder how many entries it has. " +
			"Use it before reading a file that may be large or binary.",
		InputSchema: json.RawMessage(`{
  "type": "object",
  "properties": {
    "path": {"type": "string", "format": "file-path", "minLength": 1, "maxLength": 4096,
      "description": "The file or folder, relative to the agent's folder."}
  },
  "required": ["path"],
  "additionalProperties": false
}`),
		Annotations: reads.annotations(),
		Policy:      reads.policy(),
		Handler:     handler(info),
	}
}

type infoArgs struct{ Path string }

// facts are the lines of an answer of folder_info.
type facts struct{ lines []string }

func (f *facts) add(name, format string, args ...any) {
	f.lines = append(f.lines, name+": "+fmt.Sprintf(format, args...))
}

func info(ctx context.Context, f folder, args infoArgs) (*host.Result, error) {
	at, err := f.Lstat(args.Path)
	if err != nil {
		return nil, f.explain(args.Path, err)
	}
	out := &facts{}
	out.add("path", "%s", f.show(args.Path))
	if at.Mode()&fs.ModeSymlink != 0 {
		target, err := f.ReadLink(args.Path)
		if err != nil {
			return nil, f.explain(args.Path, err)
		}
		out.add("link to", "%s", printable(target))
		if at, err = f.Stat(args.Path); err != nil {
			why := fmt.Errorf("%q leads to nothing", f.rel(args.Path))
			if !errors.Is(err, fs.ErrNotExist) {
				why = f.explain(args.Path, err)
			}
			out.add("target", "cannot be reached: %s", why)
			return host.TextResult(strings.Join(out.lines, "\n")), nil
		}
	}
	out.add("kind", "%s", kind(at.Mode()))
	switch {
	case at.IsDir():
		entries, err := f.ReadDir(args.Path)
		if err != nil {
			return nil, f.explain(args.Path, err)
		}
		folders := 0
		for _, e := range entries {
			if e.IsDir() {
				folders++
			}
		}
		out.add("entries", "%d (%s, %s)", len(entries), count(folders, "folder"), count(len(entries)-folders, "file"))
	case at.Mode().IsRegular():
		out.add("size", "%s", count(at.Size(), "byte"))
	}
	out.add("modified", "%s", at.ModTime().UTC().Format(time.RFC3339))
	out.add("mode", "%s", at.Mode().Perm())
	if at.Mode().IsRegular() {
		if err := out.content(ctx, f, args.Path); err != nil {
			return nil, f.explain(args.Path, err)
		}
	}
	return host.TextResult(strings.Join(out.lines, "\n")), nil
}

// content adds what the bytes of a regular file tell.
func (out *facts) content(ctx context.Context, f folder, name string) error {
	file, sample, err := f.open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	if len(sample) == 0 {
		out.add("type", "empty")
		return nil
	}
	kind := mimeType(name, sample)
	out.add("type", "%s", kind)
	if isBinary(sample) || isUTF16(sample) || strings.HasPrefix(kind, "image/") {
		// A picture's size may stand behind much metadata; a megabyte is where that ends.
		if c, _, err := image.DecodeConfig(io.LimitReader(io.MultiReader(bytes.NewReader(sample), file), 1<<20)); err == nil {
			out.add("pixels", "%d×%d", c.Width, c.Height)
		}
		return nil
	}
	return out.text(ctx, io.MultiReader(bytes.NewReader(sample), file))
}

// text adds the number of lines and their ends.
func (out *facts) text(ctx context.Context, r io.Reader) error {
	chunk := make([]byte, 64<<10)
	var scanned int64
	lines, returns := 0, 0
	var last byte
	for scanned < maxScan {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		n, err := r.Read(chunk)
		if n > 0 {
			b := chunk[:n]
			lines += bytes.Count(b, []byte("\n"))
			returns += bytes.Count(b, []byte("\r\n"))
			if last == '\r' && b[0] == '\n' {
				returns++
			}
			last = b[n-1]
			scanned += int64(n)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
	}
	ends := "LF"
	switch {
	case lines == 0:
		ends = "none"
	case returns == lines:
		ends = "CRLF"
	case returns > 0:
		ends = "mixed LF and CRLF"
	}
	if last != '\n' {
		lines++
	}
	if scanned >= maxScan {
		out.add("lines", "at least %d (counted in the first %d bytes)", lines, maxScan)
	} else {
		out.add("lines", "%d", lines)
	}
	out.add("line ends", "%s", ends)
	return nil
}
