package foldertools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"github.com/toolhost/toolhost/host"
)

const (
	maxEdited = 16 << 20  // of a file before and after
	maxDiff   = 100 << 10 // of the answer
)

func editTool() *host.Tool {
	return &host.Tool{
		Name:  "folder_edit",
		Title: "Edit a file",
		Description: "Changes parts of a text file by exact replacement and answers with a unified diff. " +
			"Each edit replaces oldText, which must be in the file exactly once (copy it verbatim, with enough lines around it to be unique), by newText; with replaceAll it replaces every occurrence. " +
			"Edits apply in order, each to the result of the ones before. Either all of them apply or the file stays as it was. Line ends of the file (LF or CRLF) are kept. " +
			"With dryRun nothing is written and the diff shows what would change. Read the file first; for new files use folder_write.",
		InputSchema: json.RawMessage(`{
  "type": "object",
  "properties": {
    "path": {"type": "string", "format": "file-path", "minLength": 1, "maxLength": 4096,
      "description": "The file to edit, relative to the agent's folder. It must exist."},
    "edits": {
      "type": "array", "minItems": 1, "maxItems": 200,
      "description": "The replacements, applied in order.",
      "items": {
        "type": "object",
        "properties": {
          "oldText": {"type": "string", "minLength": 1,
            "description": "The text to replace, exactly as it is in the file, white space included."},
          "newText": {"type": "string",
            "description": "The text to put in its place; empty removes it."},
          "replaceAll": {"type": "boolean", "default": false,
            "description": "Whether to replace every occurrence instead of the only one."}
        },
        "required": ["oldText", "newText"],
        "additionalProperties": false
      }
    },
    "dryRun": {"type": "boolean", "default": false,
      "description": "Whether to show the diff only, without writing."}
  },
  "required": ["path", "edits"],
  "additionalProperties": false
}`),
		Annotations: changes.annotations(),
		Policy:      changes.policy(),
		Handler:     handler(edit),
	}
}

type editArgs struct {
	Path   string
	Edits  []replacement
	DryRun bool
}

type replacement struct {
	OldText, NewText string
	ReplaceAll       bool
}

func edit(ctx context.Context, f folder, args editArgs) (*host.Result, error) {
	info, err := f.file(args.Path)
	if err != nil {
		return nil, err
	}
	data, err := f.ReadFile(args.Path, maxEdited)
	if errors.Is(err, syscall.EFBIG) {
		return nil, fmt.Errorf("%q has %s; files of up to %d bytes can be edited", f.rel(args.Path), count(info.Size(), "byte"), maxEdited)
	}
	if err != nil {
		return nil, f.explain(args.Path, err)
	}
	if isBinary(data) || isUTF16(data) {
		return nil, f.binaryError(args.Path, info, data)
	}
	before := string(data)
	after, all, replaced := before, []change(nil), 0
	for i, e := range args.Edits {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		place := fmt.Sprintf("edit %d of %d", i+1, len(args.Edits))
		if len(args.Edits) == 1 {
			place = "the edit"
		}
		text, changes, err := e.apply(after)
		if err != nil {
			return nil, fmt.Errorf("%s does not apply to %q, which stays unchanged: %w", place, f.rel(args.Path), err)
		}
		after, all, replaced = text, compose(all, changes), replaced+len(changes)
	}
	shown := f.show(args.Path)
	diff := unifiedDiff(shown, before, after, all)
	switch {
	case diff == "":
		return host.TextResult(fmt.Sprintf("the edits cancel each other out; %s stays unchanged", shown)), nil
	case args.DryRun:
		return host.TextResult(fmt.Sprintf("dry run: %s would change by %s; nothing was written\n%s", shown, count(replaced, "replacement"), diff)), nil
	}
	if err := f.WriteFile(args.Path, []byte(after), info.Mode().Perm()); err != nil {
		return nil, f.explain(args.Path, err)
	}
	return host.TextResult(fmt.Sprintf("edited %s: %s\n%s", shown, count(replaced, "replacement"), diff)), nil
}

// apply makes the edit's replacements in a text, and gives the places that changed.
func (e replacement) apply(text string) (string, []change, error) {
	old, replace := e.OldText, e.NewText
	if ends := strings.Count(text, "\r\n"); ends > 0 && ends == strings.Count(text, "\n") {
		// A model writes LF whatever the file has; a file of CRLF keeps its line ends.
		old, replace = toCRLF(old), toCRLF(replace)
	} else if ends > 0 && !strings.Contains(text, old) && strings.Contains(text, toCRLF(old)) {
		old, replace = toCRLF(old), toCRLF(replace)
	}
	if old == replace {
		return "", nil, errors.New("oldText and newText are the same")
	}
	first := strings.Index(text, old)
	if first < 0 {
		return "", nil, notFound(text, old)
	}
	if !e.ReplaceAll && strings.Contains(text[first+1:], old) {
		return "", nil, fmt.Errorf("oldText is in the file more than once (lines %s); add the lines around it so that it names one place, or set replaceAll to true", occurrences(text, old))
	}
	size := len(text)
	var b strings.Builder
	var changes []change
	for at := 0; ; {
		i := strings.Index(text[at:], old)
		if i < 0 || !e.ReplaceAll && len(changes) > 0 {
			b.WriteString(text[at:])
			break
		}
		if size += len(replace) - len(old); size > maxEdited {
			return "", nil, fmt.Errorf("the file would grow above %d bytes", maxEdited)
		}
		b.WriteString(text[at : at+i])
		c := change{oldFrom: at + i, oldTo: at + i + len(old), newFrom: b.Len()}
		b.WriteString(replace)
		c.newTo = b.Len()
		changes = append(changes, c)
		at = c.oldTo
	}
	return b.String(), changes, nil
}

func toCRLF(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}

// occurrences gives the numbers of the lines where old starts, at most ten.
func occurrences(text, old string) string {
	var lines []string
	line, from := 1, 0
	for at := strings.Index(text, old); at >= 0; {
		if len(lines) == 10 {
			return strings.Join(lines, ", ") + ", …"
		}
		line += strings.Count(text[from:at], "\n")
		from = at
		lines = append(lines, strconv.Itoa(line))
		next := strings.Index(text[at+1:], old)
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return strings.Join(lines, ", ")
}
