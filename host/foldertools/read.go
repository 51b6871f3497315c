package foldertools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // for the size of a picture
	_ "image/jpeg"
	_ "image/png"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/host"
)

const (
	// maxText and maxLines bound one answer of folder_read. With every byte escaped in
	// JSON and every line numbered it still stays below the host's default limit.
	maxText  = 128 << 10
	maxLines = 5000
	// maxScan is how far into a file lines are counted.
	maxScan = 256 << 20
	// maxImage is the largest picture that fits the host's default limit as base64.
	maxImage = 750 << 10
)

func readTool() *host.Tool {
	return &host.Tool{
		Name:  "folder_read",
		Title: "Read a file",
		Description: "Reads a text file (UTF-8) or shows a picture (PNG, JPEG, GIF, WebP up to 750 KiB). " +
			"Text comes verbatim, at most 128 KiB or 5000 lines at a time; a note after it says which lines came and how to get the next ones. " +
			"Give startLine and endLine for a part of a long file. Other binary files are refused; folder_info tells what they are.",
		InputSchema: json.RawMessage(`{
  "type": "object",
  "properties": {
    "path": {"type": "string", "format": "file-path", "minLength": 1, "maxLength": 4096,
      "description": "The file to read, relative to the agent's folder."},
    "startLine": {"type": "integer", "minimum": 1, "maximum": 1000000000, "default": 1,
      "description": "The first line to read; lines count from 1."},
    "endLine": {"type": "integer", "minimum": 1, "maximum": 1000000000,
      "description": "The last line to read, included; without it, up to the end of the file."},
    "lineNumbers": {"type": "boolean", "default": false,
      "description": "Whether to put its number and a tab before each line. Leave it off when the text is to be copied into folder_edit."}
  },
  "required": ["path"],
  "additionalProperties": false
}`),
		Annotations: reads.annotations(),
		Policy:      reads.policy(),
		Handler:     handler(read),
	}
}

type readArgs struct {
	Path               string
	StartLine, EndLine integer
	LineNumbers        bool
}

func read(ctx context.Context, f folder, args readArgs) (*host.Result, error) {
	if args.EndLine > 0 && args.EndLine < args.StartLine {
		return nil, fmt.Errorf("endLine %d comes before startLine %d", args.EndLine, args.StartLine)
	}
	info, err := f.file(args.Path)
	if err != nil {
		return nil, err
	}
	file, sample, err := f.open(args.Path)
	if err != nil {
		return nil, f.explain(args.Path, err)
	}
	defer file.Close()
	rest := io.MultiReader(bytes.NewReader(sample), file)

	if kind := mimeType(args.Path, sample); slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind) {
		return f.picture(args.Path, kind, rest)
	}
	if isBinary(sample) || isUTF16(sample) {
		return nil, f.binaryError(args.Path, info, sample)
	}
	lines := lineReader{first: int(args.StartLine), last: int(args.EndLine)}
	if err := lines.read(ctx, rest); err != nil {
		return nil, f.explain(args.Path, err)
	}
	return lines.result(f.rel(args.Path), args.LineNumbers)
}

// picture gives a picture as an image block after a caption.
func (f folder) picture(name, mimeType string, r io.Reader) (*host.Result, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxImage+1))
	if err != nil {
		return nil, f.explain(name, err)
	}
	if len(data) > maxImage {
		return nil, fmt.Errorf("%q is a picture (%s) of more than %d bytes, too large to show; folder_info tells its size", f.rel(name), mimeType, maxImage)
	}
	caption := fmt.Sprintf("%s: %s, %s", f.show(name), mimeType, count(len(data), "byte"))
	if c, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil {
		caption += fmt.Sprintf(", %d×%d pixels", c.Width, c.Height)
	}
	return &host.Result{Content: []host.Content{host.Text(caption), host.Image(data, mimeType)}}, nil
}

// lineReader takes a range of lines out of a stream and counts all of them.
type lineReader struct {
	first, last int // last 0 is the end

	text  []byte // of the range, whole lines where possible
	full  bool   // no more fits into text
	cut   bool   // text ends in the middle of its only line
	lines int    // in the stream, as far as it was read
	more  bool   // the stream goes on beyond maxScan
}

func (l *lineReader) read(ctx context.Context, r io.Reader) error {
	chunk := make([]byte, 64<<10)
	var scanned int64
	line, atStart := 1, true // of the next byte
	for {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		n, err := r.Read(chunk)
		for b := chunk[:n]; len(b) > 0; {
			end := bytes.IndexByte(b, '\n') + 1
			atStart = end > 0
			if end == 0 {
				end = len(b)
			}
			if line >= l.first && (l.last == 0 || line <= l.last) {
				l.take(b[:end])
			}
			if b = b[end:]; atStart {
				line++
			}
		}
		l.lines = line
		if atStart {
			l.lines--
		}
		if scanned += int64(n); scanned >= maxScan {
			l.more = true
			return nil
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// take adds a part of a line, and goes back to whole lines where it does not fit.
func (l *lineReader) take(part []byte) {
	if l.full {
		return
	}
	l.text = append(l.text, part...)
	if len(l.text) <= maxText && bytes.Count(part, []byte("\n")) == 0 {
		return
	}
	if len(l.text) <= maxText && bytes.Count(l.text, []byte("\n")) < maxLines {
		return
	}
	l.full = true
	if len(l.text) <= maxText {
		return
	}
	if whole := bytes.LastIndexByte(l.text[:maxText], '\n') + 1; whole > 0 {
		l.text = l.text[:whole]
		return
	}
	l.cut = true
	l.text = []byte(cutText(string(l.text), maxText))
}

func (l *lineReader) result(name string, numbered bool) (*host.Result, error) {
	total := strconv.Itoa(l.lines)
	if l.more {
		total = "more than " + total
	}
	switch {
	case l.lines == 0:
		return host.TextResult("[the file is empty]"), nil
	case l.lines < l.first && l.more:
		return nil, fmt.Errorf("startLine %d of %q is too far into the file; only the first %d bytes (%d lines) can be read", l.first, name, maxScan, l.lines)
	case l.lines < l.first:
		return nil, fmt.Errorf("startLine %d is beyond the end: %q has %s", l.first, name, count(l.lines, "line"))
	}
	text, changed := cleanText(l.text)
	last := l.first + strings.Count(text, "\n")
	if strings.HasSuffix(text, "\n") {
		last--
	}
	var notes []string
	switch {
	case l.cut:
		notes = append(notes, fmt.Sprintf("[line %d of %s, cut after %d bytes; folder_search shows the places in it that match a pattern]", l.first, total, len(text)))
	case l.full && last < l.lines && (l.last == 0 || last < l.last):
		notes = append(notes, fmt.Sprintf("[lines %d to %d of %s; go on with startLine %d]", l.first, last, total, last+1))
	case l.first > 1 || last < l.lines:
		notes = append(notes, fmt.Sprintf("[lines %d to %d of %s]", l.first, last, total))
	}
	if changed {
		notes = append(notes, "[bytes that are no UTF-8 text are shown as \ufffd]")
	}
	if numbered {
		text = number(text, l.first)
	}
	result := host.TextResult(text)
	if len(notes) > 0 {
		result.Content = append(result.Content, host.Text(strings.Join(notes, "\n")))
	}
	return result, nil
}

// number puts line numbers before the lines of a text.
func number(text string, first int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strconv.Itoa(first))
		b.WriteByte('\t')
		b.WriteString(line)
		first++
	}
	return b.String()
}
