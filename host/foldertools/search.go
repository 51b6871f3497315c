package foldertools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"regexp/syntax"
	"strings"
	"syscall"

	"github.com/toolhost/toolhost/host"
)

const (
	maxSearchedFile = 16 << 20  // a larger file is passed over
	maxSearched     = 512 << 20 // bytes of all files of one call
	maxMatchedLine  = 256 << 10 // of a line that is matched
	maxShownLine    = 400       // of a line that is shown
	maxSearchText   = 128 << 10 // of the answer
	// maxProgram bounds a compiled pattern: matching costs its size times the text's.
	maxProgram = 10_000
)

func searchTool() *host.Tool {
	return &host.Tool{
		Name:  "folder_search",
		Title: "Search in files",
		Description: "Searches the text files of a folder (or one file) for lines that match a regular expression in RE2 syntax, or a fixed text with literal. " +
			"Gives path, line number and line, with context lines if asked. Matches are within a line. Binary files, files above 16 MiB, and folders such as .git and node_modules are passed over. " +
			"To find files by name use folder_find.",
		InputSchema: json.RawMessage(`{
  "type": "object",
  "properties": {
    "pattern": {"type": "string", "minLength": 1, "maxLength": 1000,
      "description": "What to look for: an RE2 regular expression (no lookaround, no backreferences), or a text when literal is true."},
    "path": {"type": "string", "format": "file-path", "minLength": 1, "maxLength": 4096, "default": ".",
      "description": "The folder or file to search, relative to the agent's folder, which is the default."},
    "include": {"type": "array", "maxItems": 20, "items": {"type": "string", "minLength": 1, "maxLength": 1000},
      "description": "Globs of which a file must match one, such as [\"*.go\", \"docs/**/*.md\"]. A glob without a slash matches names at any depth."},
    "exclude": {"type": "array", "maxItems": 20, "items": {"type": "string", "minLength": 1, "maxLength": 1000},
      "description": "Globs of files to leave out."},
    "literal": {"type": "boolean", "default": false,
      "description": "Whether pattern is a fixed text instead of a regular expression."},
    "ignoreCase": {"type": "boolean", "default": false,
      "description": "Whether upper and lower case are the same."},
    "context": {"type": "integer", "minimum": 0, "maximum": 20, "default": 0,
      "description": "How many lines to show before and after each match."},
    "filesOnly": {"type": "boolean", "default": false,
      "description": "Whether to give only the paths of files that match, each with its number of matching lines."},
    "includeIgnored": {"type": "boolean", "default": false,
      "description": "Whether to enter folders such as .git, node_modules and .venv."},
    "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100,
      "description": "How many matching lines (with filesOnly: files) to show at most."}
  },
  "required": ["pattern"],
  "additionalProperties": false
}`),
		Annotations: reads.annotations(),
		Policy:      reads.policy(),
		Handler:     handler(search),
	}
}

type searchArgs struct {
	Pattern, Path                                  string
	Include, Exclude                               []string
	Literal, IgnoreCase, FilesOnly, IncludeIgnored bool
	Context, Limit                                 integer
}

func (a searchArgs) regexp() (*regexp.Regexp, error) {
	pattern := a.Pattern
	if a.Literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	if a.IgnoreCase {
		pattern = "(?i)" + pattern
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		why := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return nil, fmt.Errorf("pattern %q is no regular expression in RE2 syntax (%s); there is no lookaround and no backreference, and a character such as ( or [ that is meant itself needs a backslash, or set literal to true", a.Pattern, why)
	}
	if prog, err := syntax.Compile(parsed.Simplify()); err != nil || len(prog.Inst) > maxProgram {
		return nil, fmt.Errorf("pattern %q is too large once its repetitions are written out; use smaller counts", a.Pattern)
	}
	return regexp.Compile(pattern)
}

func search(ctx context.Context, f folder, args searchArgs) (*host.Result, error) {
	pattern, err := args.regexp()
	if err != nil {
		return nil, err
	}
	include, err := newGlob("include", args.Include)
	if err != nil {
		return nil, err
	}
	exclude, err := newGlob("exclude", args.Exclude)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat(args.Path)
	if err != nil {
		return nil, f.explain(args.Path, err)
	}
	s := &searcher{folder: f, pattern: pattern, context: int(args.Context), limit: int(args.Limit), filesOnly: args.FilesOnly}
	var notes []string
	if info.IsDir() {
		w := walk{folder: f, root: args.Path, all: args.IncludeIgnored, asked: include.asked()}
		err = w.each(ctx, func(name, rel string, d fs.DirEntry) error {
			if !d.Type().IsRegular() || len(include) > 0 && !include.match(rel) || exclude.match(rel) {
				return nil
			}
			if s.bytes > maxSearched || s.out.Len() > maxSearchText {
				s.stopped = true
				return fs.SkipAll
			}
			return s.file(ctx, name)
		})
		notes = w.notes()
	} else {
		var one fs.FileInfo
		if one, err = f.file(args.Path); err == nil {
			if one.Size() > maxSearchedFile {
				return nil, fmt.Errorf("%q has %d bytes; files of up to %d bytes are searched", f.rel(args.Path), one.Size(), maxSearchedFile)
			}
			err = s.file(ctx, args.Path)
		}
	}
	if err != nil {
		return nil, err
	}
	return host.TextResult(strings.Join(append(s.answer(args.Pattern, f.show(args.Path)), notes...), "\n")), nil
}

// searcher collects what matches.
type searcher struct {
	folder    folder
	pattern   *regexp.Regexp
	context   int
	limit     int
	filesOnly bool

	out                                   strings.Builder
	bytes                                 int64 // read
	files, shown, matched                 int   // files searched; lines (or files) shown and found
	matchedFiles                          int
	binary, large, unreadable, overlength int
	stopped                               bool
}

// file searches one file.
func (s *searcher) file(ctx context.Context, name string) error {
	data, err := s.folder.ReadFile(name, maxSearchedFile)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, syscall.EFBIG):
		s.large++
		return nil
	case err != nil:
		s.unreadable++
		return nil
	}
	s.bytes += int64(len(data))
	if isBinary(data) || isUTF16(data) {
		s.binary++
		return nil
	}
	s.files++
	var hits []hit
	found := 0
	for at, n := 0, 1; at < len(data); n++ {
		if n&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line, next := lineAt(data, at)
		if len(line) > maxMatchedLine {
			s.overlength++
			line = line[:maxMatchedLine]
		}
		if s.pattern.Match(line) {
			if found++; !s.filesOnly && s.shown+len(hits) < s.limit {
				hits = append(hits, hit{n, at})
			}
		}
		at = next
	}
	if found == 0 {
		return nil
	}
	s.matchedFiles++
	s.matched += found
	if s.filesOnly {
		if s.matchedFiles <= s.limit {
			fmt.Fprintf(&s.out, "%s: %s\n", s.folder.show(name), count(found, "matching line"))
			s.shown++
		}
		return nil
	}
	if len(hits) > 0 {
		s.write(name, data, hits)
	}
	return nil
}

// hit is a line that matches: its number, and where it starts.
type hit struct{ line, at int }

// lineAt gives the line that starts at an offset, without its end, and where the next one starts.
func lineAt(data []byte, at int) (line []byte, next int) {
	line, next = data[at:], len(data)
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line, next = line[:i], at+i+1
	}
	return bytes.TrimSuffix(line, []byte("\r")), next
}

// write adds the lines that match and their context: "12: " before a match, "13- "
// before context, "--" between parts that are not neighbours.
func (s *searcher) write(name string, data []byte, hits []hit) {
	if s.out.Len() > 0 {
		s.out.WriteByte('\n')
	}
	s.out.WriteString(s.folder.show(name) + "\n")
	written := hit{1, 0} // the first line that is not written yet
	for i, h := range hits {
		if s.out.Len() > maxSearchText {
			s.stopped = true
			return
		}
		from := h
		for from.line > written.line && h.line-from.line < s.context {
			from = hit{from.line - 1, bytes.LastIndexByte(data[:from.at-1], '\n') + 1}
		}
		if s.context > 0 && i > 0 && from.line > written.line {
			s.out.WriteString("--\n")
		}
		last := h.line + s.context
		if i+1 < len(hits) {
			last = min(last, hits[i+1].line-1)
		}
		for from.line <= last && from.at < len(data) {
			line, next := lineAt(data, from.at)
			mark := "-"
			if from.line == h.line {
				mark = ":"
			}
			fmt.Fprintf(&s.out, "%d%s %s\n", from.line, mark, s.line(line, from.line == h.line))
			from = hit{from.line + 1, next}
		}
		written = from
		s.shown++
	}
}

// line gives a line for the answer, a long one cut around its match.
func (s *searcher) line(line []byte, hit bool) string {
	from := 0
	if len(line) > maxShownLine && hit {
		if at := s.pattern.FindIndex(line[:min(len(line), maxMatchedLine)]); at != nil {
			from = max(0, min(at[0]-maxShownLine/4, len(line)-maxShownLine))
		}
	}
	to := min(len(line), from+maxShownLine)
	text, _ := cleanText(line[from:to])
	if from > 0 {
		text = "…" + text
	}
	if to < len(line) {
		text += "…"
	}
	return text
}

// answer gives the lines of the answer.
func (s *searcher) answer(pattern, where string) []string {
	out := []string{}
	if text := strings.TrimSuffix(s.out.String(), "\n"); text != "" {
		out = append(out, text, "")
	}
	if s.matched == 0 {
		out = append(out, fmt.Sprintf("no line matches %q in %s of %s", pattern, count(s.files, "file"), where))
	} else {
		out = append(out, fmt.Sprintf("%s in %d of %s", count(s.matched, "matching line"), s.matchedFiles, count(s.files, "file")))
	}
	found, unit := s.matched, "matching line"
	if s.filesOnly {
		found, unit = s.matchedFiles, "matching file"
	}
	if found > s.shown {
		out = append(out, fmt.Sprintf("[%s not shown; narrow the pattern, path or include, or raise limit (at most 1000)]", count(found-s.shown, "more "+unit)))
	}
	if s.stopped {
		out = append(out, "[stopped before the end, since there is too much; narrow the pattern, path or include]")
	}
	for _, passed := range []struct {
		n    int
		unit string
		why  string
	}{
		{s.binary, "file", "binary"},
		{s.large, "file", fmt.Sprintf("larger than %d bytes", maxSearchedFile)},
		{s.unreadable, "file", "not readable"},
	} {
		if passed.n > 0 {
			out = append(out, fmt.Sprintf("[%s passed over: %s]", count(passed.n, passed.unit), passed.why))
		}
	}
	if s.overlength > 0 {
		out = append(out, fmt.Sprintf("[%s searched in the first %d bytes only]", count(s.overlength, "very long line"), maxMatchedLine))
	}
	return out
}
