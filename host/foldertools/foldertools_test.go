package foldertools_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/host/foldertools"
	"github.com/toolhost/toolhost/internal/schema"
)

// work is an agent's folder, beside which lies something that it must not reach.
type work struct {
	t      *testing.T
	folder string
	host   *host.Host
}

func newWork(t *testing.T, files map[string]string) *work {
	t.Helper()
	top := t.TempDir()
	w := &work{t: t, folder: filepath.Join(top, "folder")}
	if err := os.Mkdir(w.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(top, "secret.txt"), []byte("TOP SECRET\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		w.write(name, text)
	}
	w.host = host.New(&host.Options{Folder: w.folder})
	t.Cleanup(func() { _ = w.host.Close(t.Context()) })
	conflicts, err := w.host.Replace("toolhost", host.BuiltIn, foldertools.Tools())
	if err != nil || len(conflicts) > 0 {
		t.Fatal(err, conflicts)
	}
	return w
}

func (w *work) path(name string) string { return filepath.Join(w.folder, filepath.FromSlash(name)) }

func (w *work) write(name, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func (w *work) read(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// call gives all texts of the result, one after the other.
func (w *work) call(tool, args string) (text string, result *host.Result) {
	w.t.Helper()
	result, err := w.host.Call(w.t.Context(), &host.Call{Tool: tool, Args: json.RawMessage(args)})
	if err != nil {
		w.t.Fatalf("%s: %v", tool, err)
	}
	for i, c := range result.Content {
		if i > 0 {
			text += "\n⏎"
		}
		text += c.Text()
	}
	return text, result
}

// answer is one call and what it must say: the whole text, or with matches, a regular expression.
type answer struct {
	name, tool, args string
	want             string
	matches          string
	fails            bool
}

func (w *work) check(answers []answer) {
	w.t.Helper()
	for _, a := range answers {
		w.t.Run(a.name, func(t *testing.T) {
			text, result := w.call(a.tool, a.args)
			if result.IsError != a.fails {
				t.Fatalf("failed is %v, want %v: %s", result.IsError, a.fails, text)
			}
			if strings.Contains(text, "TOP SECRET") {
				t.Fatalf("it reads outside the folder: %s", text)
			}
			if a.matches == "" && text != a.want {
				t.Errorf("got\n%s\nwant\n%s", text, a.want)
			}
			if !regexp.MustCompile(a.matches).MatchString(text) {
				t.Errorf("got\n%s\nwant a match of\n%s", text, a.matches)
			}
		})
	}
}

func TestToolsAreStatedWell(t *testing.T) {
	for _, tool := range foldertools.Tools() {
		a := tool.Annotations
		if a == nil || a.ReadOnlyHint == nil || a.DestructiveHint == nil || a.IdempotentHint == nil || a.OpenWorldHint == nil {
			t.Errorf("%s does not state every annotation", tool.Name)
		} else if *a.ReadOnlyHint == tool.Policy.FS.Write.Folder {
			t.Errorf("%s says read-only %v and may write %v", tool.Name, *a.ReadOnlyHint, tool.Policy.FS.Write.Folder)
		}
		var s schemaNode
		if err := json.Unmarshal(tool.InputSchema, &s); err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
		s.check(t, tool.Name)
		compiled, err := schema.Compile(tool.InputSchema)
		if err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
		for _, f := range compiled.Lint() {
			t.Errorf("%s%s: %s", tool.Name, f.Pointer, f.Message)
		}
	}
}

type schemaNode struct {
	Type                 string
	Description          string
	Format               string
	Properties           map[string]schemaNode
	Items                *schemaNode
	AdditionalProperties *bool
}

func (s schemaNode) check(t *testing.T, at string) {
	if s.Type == "object" && (s.AdditionalProperties == nil || *s.AdditionalProperties) {
		t.Errorf("%s takes unknown properties", at)
	}
	for name, p := range s.Properties {
		if p.Description == "" {
			t.Errorf("%s.%s has no description", at, name)
		}
		if isPath := name == "path" || name == "from" || name == "to"; isPath != (p.Format != "") {
			t.Errorf("%s.%s has the format %q", at, name, p.Format)
		}
		p.check(t, at+"."+name)
	}
	if s.Items != nil {
		s.Items.check(t, at+"[]")
	}
}

func TestList(t *testing.T) {
	w := newWork(t, map[string]string{
		"b.txt": "12345", "a/one.go": "x", "a/deep/two.go": "", "node_modules/x/index.js": "", ".git/config": "", "odd\nname": "y",
	})
	link(t, "../secret.txt", w.path("out"))
	w.write("a/.ssh/config", "x")
	if err := os.Mkdir(w.path("empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(w.path("pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.check([]answer{
		{name: "default", tool: "folder_list", args: ``, want: ".: 8 entries\n.git/\na/\nb.txt  5 bytes\nempty/\nnode_modules/\n\"odd\\nname\"  1 byte\nout  link to ../secret.txt\npipe  named pipe"},
		{name: "tree", tool: "folder_list", args: `{"depth":3,"path":"./"}`, matches: `(?s)^\.: 12 entries\n\.git/\na/\na/\.ssh/\na/deep/\na/deep/two\.go  0 bytes\na/one\.go  1 byte\n.*\nnode_modules/\n"odd.*\[folders named \.git, node_modules were passed over; set includeIgnored to true to enter them\]$`},
		{name: "ignored too", tool: "folder_list", args: `{"depth":2,"includeIgnored":true}`, matches: `(?s)\.git/config.*node_modules/x/\n`},
		{name: "inside noise", tool: "folder_list", args: `{"path":"node_modules"}`, want: "node_modules: 1 entry\nx/"},
		{name: "limit", tool: "folder_list", args: `{"limit":2}`, want: ".: 8 entries\n.git/\na/\n[6 more entries not shown; list a deeper path, or raise limit (at most 5000)]"},
		{name: "integer as 3.0", tool: "folder_list", args: `{"limit":3.0,"path":"a"}`, want: "a: 3 entries\n.ssh/\ndeep/\none.go  1 byte"},
		{name: "absolute", tool: "folder_list", args: fmt.Sprintf(`{"path":%q}`, w.path("a/deep")), want: "a/deep: 1 entry\ntwo.go  0 bytes"},
		{name: "empty", tool: "folder_list", args: `{"path":"empty"}`, want: "empty is empty"},
		{name: "file", tool: "folder_list", args: `{"path":"b.txt"}`, fails: true, want: `"b.txt" is a file, not a folder; folder_info and folder_read are for files`},
		{name: "closed by the host", tool: "folder_list", args: `{"path":"a/.ssh"}`, fails: true, matches: `^looking at "a/\.ssh" is not allowed`},
		{name: "missing", tool: "folder_list", args: `{"path":"emtpy"}`, fails: true, want: `"emtpy" does not exist; did you mean "empty"?`},
		{name: "above", tool: "folder_list", args: `{"path":".."}`, fails: true, matches: `outside the agent's folder`},
		{name: "through a link out", tool: "folder_list", args: `{"path":"out"}`, fails: true, matches: `outside the agent's folder`},
		{name: "NUL", tool: "folder_list", args: `{"path":"a\u0000b"}`, fails: true, matches: `a\\x00b`},
		{name: "unknown property", tool: "folder_list", args: `{"dir":"a"}`, fails: true, matches: `/dir: unknown property`},
		{name: "limit beyond", tool: "folder_list", args: `{"limit":1e9}`, fails: true, matches: `/limit`},
	})
}

func link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

func TestRead(t *testing.T) {
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewRGBA(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	w := newWork(t, map[string]string{
		"three.txt": "one\ntwo\nthree\n", "crlf.txt": "a\r\nb", "empty": "", "x.bin": "a\x00b", "utf16.txt": "\xff\xfea\x00",
		"latin.txt": "caf\xe9\n", "late-nul.txt": strings.Repeat("x", 9000) + "\x00", "pic.dat": picture.String(),
		"big.png":   picture.String() + strings.Repeat("\x00", 800<<10),
		"lines.txt": strings.Repeat("\n", 12000), "wide.txt": strings.Repeat("é", 100_000), "fat.txt": strings.Repeat(strings.Repeat("x", 99)+"\n", 2000),
		"server.key": "KEY",
	})
	link(t, "../secret.txt", w.path("out"))
	link(t, "three.txt", w.path("in"))
	if err := syscall.Mkfifo(w.path("pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	sparse, err := os.Create(w.path("sparse.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sparse.WriteString(strings.Repeat("y", 10000) + "\n"); err != nil {
		t.Fatal(err)
	}
	if err := sparse.Truncate(1 << 40); err != nil {
		t.Fatal(err)
	}
	sparse.Close()
	w.check([]answer{
		{name: "whole", tool: "folder_read", args: `{"path":"three.txt"}`, want: "one\ntwo\nthree\n"},
		{name: "line ends stay", tool: "folder_read", args: `{"path":"crlf.txt"}`, want: "a\r\nb"},
		{name: "range", tool: "folder_read", args: `{"path":"three.txt","startLine":2,"endLine":2}`, want: "two\n\n⏎[lines 2 to 2 of 3]"},
		{name: "range to the end", tool: "folder_read", args: `{"path":"three.txt","startLine":2,"endLine":99}`, want: "two\nthree\n\n⏎[lines 2 to 3 of 3]"},
		{name: "whole by range", tool: "folder_read", args: `{"path":"three.txt","startLine":1,"endLine":3}`, want: "one\ntwo\nthree\n"},
		{name: "numbered", tool: "folder_read", args: `{"path":"three.txt","startLine":2,"lineNumbers":true}`, want: "2\ttwo\n3\tthree\n\n⏎[lines 2 to 3 of 3]"},
		{name: "beyond", tool: "folder_read", args: `{"path":"three.txt","startLine":4}`, fails: true, want: `startLine 4 is beyond the end: "three.txt" has 3 lines`},
		{name: "backwards", tool: "folder_read", args: `{"path":"three.txt","startLine":3,"endLine":2}`, fails: true, want: "endLine 2 comes before startLine 3"},
		{name: "through a link", tool: "folder_read", args: `{"path":"in"}`, want: "one\ntwo\nthree\n"},
		{name: "empty", tool: "folder_read", args: `{"path":"empty"}`, want: "[the file is empty]"},
		{name: "binary", tool: "folder_read", args: `{"path":"x.bin"}`, fails: true, want: `"x.bin" is binary (application/octet-stream, 3 bytes), not text`},
		{name: "utf-16", tool: "folder_read", args: `{"path":"utf16.txt"}`, fails: true, matches: `UTF-16`},
		{name: "latin 1", tool: "folder_read", args: `{"path":"latin.txt"}`, want: "caf\ufffd\n\n⏎[bytes that are no UTF-8 text are shown as \ufffd]"},
		{name: "a late NUL", tool: "folder_read", args: `{"path":"late-nul.txt"}`, matches: "x\ufffd\n⏎\\[bytes that"},
		{name: "many lines", tool: "folder_read", args: `{"path":"lines.txt"}`, matches: `^\n+\n⏎\[lines 1 to 5000 of 12000; go on with startLine 5001\]$`},
		{name: "many lines, the rest", tool: "folder_read", args: `{"path":"lines.txt","startLine":10001,"lineNumbers":true}`, matches: `(?s)^10001\t\n.*12000\t\n\n⏎\[lines 10001 to 12000 of 12000\]$`},
		{name: "whole lines up to the limit", tool: "folder_read", args: `{"path":"fat.txt"}`, matches: `x\n\n⏎\[lines 1 to 1310 of 2000; go on with startLine 1311\]$`},
		{name: "one long line", tool: "folder_read", args: `{"path":"wide.txt"}`, matches: "^é+\n⏎\\[line 1 of 1, cut after 131072 bytes; "},
		{name: "folder", tool: "folder_read", args: `{"path":"."}`, fails: true, want: `"." is a folder, not a file; folder_list shows what is in it`},
		{name: "near", tool: "folder_read", args: `{"path":"thre.txt"}`, fails: true, want: `"thre.txt" does not exist; did you mean "three.txt"?`},
		{name: "missing", tool: "folder_read", args: `{"path":"nope/none.txt"}`, fails: true, want: `"nope/none.txt" does not exist; folder_list and folder_find show what does`},
		{name: "below a file", tool: "folder_read", args: `{"path":"three.txt/x"}`, fails: true, matches: `three.txt/x`},
		{name: "link out", tool: "folder_read", args: `{"path":"out"}`, fails: true, matches: `outside the agent's folder`},
		{name: "up", tool: "folder_read", args: `{"path":"../secret.txt"}`, fails: true, matches: `outside the agent's folder`},
		{name: "pipe", tool: "folder_read", args: `{"path":"pipe"}`, fails: true, want: `"pipe" is a named pipe, not a regular file; it cannot be read or written`},
		{name: "private key", tool: "folder_read", args: `{"path":"server.key"}`, fails: true, matches: `not allowed`},
		{name: "huge", tool: "folder_read", args: `{"path":"sparse.txt","endLine":1}`, matches: `y\n\n⏎\[lines 1 to 1 of more than \d+\]$`},
		{name: "far into the huge", tool: "folder_read", args: `{"path":"sparse.txt","startLine":50}`, fails: true, matches: `startLine 50 of "sparse.txt" is too far`},
		{name: "too large a picture", tool: "folder_read", args: `{"path":"big.png"}`, fails: true, matches: `too large to show`},
	})

	text, result := w.call("folder_read", `{"path":"pic.dat"}`)
	if want := fmt.Sprintf("pic.dat: image/png, %d bytes, 3×2 pixels\n⏎", picture.Len()); text != want || result.IsError {
		t.Errorf("the picture's caption is %q, want %q", text, want)
	}
	if data, kind, ok := result.Content[1].Data(); !ok || kind != "image/png" || !bytes.Equal(data, picture.Bytes()) {
		t.Errorf("the picture came as %v %q, %d bytes", ok, kind, len(data))
	}
}

func TestFind(t *testing.T) {
	w := newWork(t, map[string]string{
		"a.go": "", "src/b.go": "", "src/deep/c.go": "", "src/deep/c.ts": "", "README.md": "", "node_modules/p/d.go": "", ".git/e.go": "",
	})
	link(t, ".", w.path("src/loop"))
	w.check([]answer{
		{name: "any depth", tool: "folder_find", args: `{"pattern":"*.go"}`, want: "a.go\nsrc/b.go\nsrc/deep/c.go\n[folders named .git, node_modules were passed over; set includeIgnored to true to enter them]"},
		{name: "below a path", tool: "folder_find", args: `{"pattern":"*.{go,ts}","path":"src/deep"}`, want: "src/deep/c.go\nsrc/deep/c.ts"},
		{name: "with slashes", tool: "folder_find", args: `{"pattern":"./src/*.go"}`, matches: `^src/b\.go\n\[`},
		{name: "named noise", tool: "folder_find", args: `{"pattern":"node_modules/**/*.go"}`, matches: `^node_modules/p/d\.go\n\[folders named \.git were`},
		{name: "everything", tool: "folder_find", args: `{"pattern":"*.go","includeIgnored":true}`, want: ".git/e.go\na.go\nnode_modules/p/d.go\nsrc/b.go\nsrc/deep/c.go"},
		{name: "folders", tool: "folder_find", args: `{"pattern":"d*","type":"folder"}`, matches: `^src/deep/\n\[`},
		{name: "limit", tool: "folder_find", args: `{"pattern":"**","path":"src","type":"any","limit":2}`, want: "src/b.go\nsrc/deep/\n[3 more matches not shown; narrow the pattern, or raise limit (at most 5000)]"},
		{name: "none", tool: "folder_find", args: `{"pattern":"*.rs","path":"src"}`, want: `nothing below src matches "*.rs"`},
		{name: "bad glob", tool: "folder_find", args: `{"pattern":"a["}`, fails: true, matches: `^pattern "a\[" is no valid glob`},
		{name: "absolute glob", tool: "folder_find", args: `{"pattern":"/etc/*"}`, fails: true, matches: `a pattern is relative`},
		{name: "glob that goes up", tool: "folder_find", args: `{"pattern":"../*"}`, fails: true, matches: `cannot go up`},
		{name: "file", tool: "folder_find", args: `{"pattern":"*","path":"a.go"}`, fails: true, want: `path "a.go" is a file, not a folder`},
	})
}

// TestLongNames checks that answers fit the host's limit where names are as long as can be.
func TestLongNames(t *testing.T) {
	files := map[string]string{}
	for i := range 1500 {
		files[fmt.Sprintf("%04d%s", i, strings.Repeat("\\", 240))] = "match"
	}
	w := newWork(t, files)
	for tool, args := range map[string]string{
		"folder_list": `{"limit":5000}`, "folder_find": `{"pattern":"*","limit":5000}`,
		"folder_search": `{"pattern":"match","filesOnly":true,"limit":1000}`,
	} {
		if text, result := w.call(tool, args); result.IsError || !regexp.MustCompile(`more .* not shown|stopped before the end`).MatchString(text) {
			t.Errorf("%s: failed %v, %d bytes, %.300q", tool, result.IsError, len(text), text)
		}
	}
}

func TestWithoutFolder(t *testing.T) {
	h := host.New(nil)
	t.Cleanup(func() { _ = h.Close(t.Context()) })
	if _, err := h.Replace("toolhost", host.BuiltIn, foldertools.Tools()); err != nil {
		t.Fatal(err)
	}
	for tool, args := range map[string]string{
		"folder_list": `{}`, "folder_read": `{"path":"/etc/passwd"}`, "folder_find": `{"pattern":"*"}`, "folder_search": `{"pattern":"x"}`,
		"folder_info": `{"path":"/"}`, "folder_write": `{"path":"x","content":""}`, "folder_move": `{"from":"a","to":"b"}`,
		"folder_edit": `{"path":"/etc/hostname","edits":[{"oldText":"a","newText":"b"}]}`,
	} {
		result, err := h.Call(t.Context(), &host.Call{Tool: tool, Args: json.RawMessage(args)})
		if err != nil {
			t.Fatal(err)
		}
		if text := result.Content[0].Text(); !result.IsError || !strings.Contains(text, "folder") {
			t.Errorf("%s without a folder: failed %v, %q", tool, result.IsError, text)
		}
	}
}

func TestSearch(t *testing.T) {
	w := newWork(t, map[string]string{
		"a.txt": "one\ntwo\nthree\nfour\nfive\nsix two\nseven\n", "b/b.md": "Two (2)\r\ntwo\r\n", "bin": "two\x00", "node_modules/x.js": "two",
		"long.txt": strings.Repeat("a", 5000) + "needle" + strings.Repeat("b", 5000), "mark.txt": "\xff\xfetwo",
		"huge.txt": strings.Repeat("two \n", 4<<20), "many.csv": strings.Repeat("many\n", 300), "quiet.pem": "two",
	})
	link(t, "../secret.txt", w.path("out.txt"))
	if err := syscall.Mkfifo(w.path("pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	const noted = `[2 files passed over: binary]` + "\n" + `[1 file passed over: larger than 16777216 bytes]` + "\n" + `[1 file passed over: not readable]` + "\n" + `[folders named node_modules were passed over; set includeIgnored to true to enter them]`
	w.check([]answer{
		{name: "plain", tool: "folder_search", args: `{"pattern":"^two$"}`, want: "a.txt\n2: two\n\nb/b.md\n2: two\n\n2 matching lines in 2 of 4 files\n" + noted},
		{name: "context", tool: "folder_search", args: `{"pattern":"two","path":"a.txt","context":1}`, want: "a.txt\n1- one\n2: two\n3- three\n--\n5- five\n6: six two\n7- seven\n\n2 matching lines in 1 of 1 file"},
		{name: "context that meets", tool: "folder_search", args: `{"pattern":"two|four","path":"a.txt","context":2}`, want: "a.txt\n1- one\n2: two\n3- three\n4: four\n5- five\n6: six two\n7- seven\n\n3 matching lines in 1 of 1 file"},
		{name: "literal and case", tool: "folder_search", args: `{"pattern":"TWO (2)","literal":true,"ignoreCase":true,"include":["*.md"]}`, matches: `^b/b\.md\n1: Two \(2\)\n\n1 matching line in 1 of 1 file\n`},
		{name: "exclude", tool: "folder_search", args: `{"pattern":"two","include":["*.txt","*.md"],"exclude":["b/**","huge*"]}`, matches: `^a\.txt\n2: two\n6: six two\n\n2 matching lines in 1 of 2 files\n\[1 file passed over: binary\]`},
		{name: "files only", tool: "folder_search", args: `{"pattern":"two","filesOnly":true}`, want: "a.txt: 2 matching lines\nb/b.md: 1 matching line\n\n3 matching lines in 2 of 4 files\n" + noted},
		{name: "files only, limit", tool: "folder_search", args: `{"pattern":"two","filesOnly":true,"limit":1}`, matches: `^a\.txt: 2 matching lines\n\n3 matching lines in 2 of 4 files\n\[1 more matching file not shown; `},
		{name: "long line", tool: "folder_search", args: `{"pattern":"needle","path":"long.txt"}`, matches: `^long\.txt\n1: …a{100}needleb{294}…\n`},
		{name: "limit", tool: "folder_search", args: `{"pattern":"many","path":"many.csv"}`, matches: `(?s)\n100: many\n\n300 matching lines in 1 of 1 file\n\[200 more matching lines not shown; `},
		{name: "limit over files", tool: "folder_search", args: `{"pattern":"two|many","include":["*.txt","*.csv"],"limit":3}`, matches: `(?s)^a\.txt\n2: two\n6: six two\n\nmany\.csv\n1: many\n\n302 matching lines in 2 of 3 files\n\[299 more`},
		{name: "nothing", tool: "folder_search", args: `{"pattern":"absent","path":"b"}`, want: `no line matches "absent" in 1 file of b`},
		{name: "in noise when asked", tool: "folder_search", args: `{"pattern":"two","path":"node_modules"}`, matches: `^node_modules/x\.js\n1: two\n`},
		{name: "lookahead", tool: "folder_search", args: `{"pattern":"a(?=b)"}`, fails: true, matches: "^pattern \"a\\(\\?=b\\)\" is no regular expression in RE2 syntax \\(invalid or unsupported Perl syntax: `\\(\\?=`\\); there is no lookaround"},
		{name: "open bracket", tool: "folder_search", args: `{"pattern":"f("}`, fails: true, matches: "missing closing \\).*set literal to true"},
		{name: "too large a pattern", tool: "folder_search", args: `{"pattern":"(\\pL{30}){30}x{999}y{999}(abcdefghij){500}(klmnopqrst){500}"}`, fails: true, matches: `too large once its repetitions`},
		{name: "bad include", tool: "folder_search", args: `{"pattern":"x","include":["{a"]}`, fails: true, matches: `^include "\{a" is no valid glob`},
		{name: "large file", tool: "folder_search", args: `{"pattern":"x","path":"huge.txt"}`, fails: true, matches: `"huge.txt" has 20971520 bytes; files of up to 16777216 bytes are searched`},
		{name: "pipe", tool: "folder_search", args: `{"pattern":"x","path":"pipe"}`, fails: true, matches: `named pipe`},
		{name: "link out", tool: "folder_search", args: `{"pattern":"SECRET","path":"out.txt"}`, fails: true, matches: `outside the agent's folder`},
	})
}

func TestInfo(t *testing.T) {
	w := newWork(t, map[string]string{"a.md": "x\r\ny\r\n", "mixed": "a\nb\r\nc", "empty": "", "x.bin": "\x00\x01", "d/one": "", "d/two/three": "", "BM": "BM is no picture", "page.md": "<h1>x</h1>"})
	link(t, "a.md", w.path("in"))
	link(t, "gone", w.path("dangling"))
	link(t, "../secret.txt", w.path("out"))
	if err := syscall.Mkfifo(w.path("pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	const when = `\nmodified: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\nmode: `
	w.check([]answer{
		{name: "text", tool: "folder_info", args: `{"path":"a.md"}`, matches: `^path: a\.md\nkind: file\nsize: 6 bytes` + when + `-rw-r--r--\ntype: text/markdown\nlines: 2\nline ends: CRLF$`},
		{name: "text that begins like a picture", tool: "folder_info", args: `{"path":"BM"}`, matches: `type: text/plain\nlines: 1\nline ends: none$`},
		{name: "Markdown that begins like HTML", tool: "folder_info", args: `{"path":"page.md"}`, matches: `type: text/markdown`},
		{name: "mixed", tool: "folder_info", args: `{"path":"mixed"}`, matches: `type: text/plain\nlines: 3\nline ends: mixed LF and CRLF$`},
		{name: "empty", tool: "folder_info", args: `{"path":"empty"}`, matches: `size: 0 bytes.*` + when + `.*\ntype: empty$`},
		{name: "binary", tool: "folder_info", args: `{"path":"x.bin"}`, matches: `type: application/octet-stream$`},
		{name: "folder", tool: "folder_info", args: `{"path":"d"}`, matches: `^path: d\nkind: folder\nentries: 2 \(1 folder, 1 file\)` + when},
		{name: "link", tool: "folder_info", args: `{"path":"in"}`, matches: `^path: in\nlink to: a\.md\nkind: file\nsize: 6 bytes`},
		{name: "pipe", tool: "folder_info", args: `{"path":"pipe"}`, matches: `kind: named pipe` + when},
		{name: "link out", tool: "folder_info", args: `{"path":"out"}`, matches: `^path: out\nlink to: \.\./secret\.txt\ntarget: cannot be reached: .*outside the agent's folder`},
		{name: "dangling", tool: "folder_info", args: `{"path":"dangling"}`, want: "path: dangling\nlink to: gone\ntarget: cannot be reached: \"dangling\" leads to nothing"},
		{name: "missing", tool: "folder_info", args: `{"path":"A.md"}`, fails: true, want: `"A.md" does not exist; did you mean "a.md"?`},
	})
}

func TestWrite(t *testing.T) {
	w := newWork(t, map[string]string{"a.txt": "old", "run.sh": "#!/bin/sh\n"})
	if err := os.Chmod(w.path("run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	link(t, "../secret.txt", w.path("out"))
	link(t, "../new.txt", w.path("dangling-out"))
	if err := syscall.Mkfifo(w.path("pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.check([]answer{
		{name: "create", tool: "folder_write", args: `{"path":"x/y/n.txt","content":"a\nb"}`, want: "created x/y/n.txt (3 bytes, 2 lines)"},
		{name: "replace", tool: "folder_write", args: `{"path":"a.txt","content":""}`, want: "replaced a.txt (0 bytes, 0 lines; it had 3 bytes)"},
		{name: "keep mode", tool: "folder_write", args: `{"path":"run.sh","content":"é\n"}`, want: "replaced run.sh (3 bytes, 1 line; it had 10 bytes)"},
		{name: "not over", tool: "folder_write", args: `{"path":"run.sh","content":"z","overwrite":false}`, fails: true, want: `"run.sh" exists already (3 bytes) and overwrite is false; nothing was written`},
		{name: "folder", tool: "folder_write", args: `{"path":"x","content":"z"}`, fails: true, matches: `"x" is a folder`},
		{name: "slash", tool: "folder_write", args: `{"path":"x/","content":"z"}`, fails: true, matches: `ends with a slash`},
		{name: "below a file", tool: "folder_write", args: `{"path":"a.txt/b","content":"z"}`, fails: true, matches: `a\.txt/b`},
		{name: "pipe", tool: "folder_write", args: `{"path":"pipe","content":"z"}`, fails: true, matches: `pipe`},
		{name: "agent instructions", tool: "folder_write", args: `{"path":"sub/CLAUDE.md","content":"z"}`, fails: true, matches: `not allowed`},
		{name: "git", tool: "folder_write", args: `{"path":".git/hooks/pre-commit","content":"z"}`, fails: true, matches: `not allowed`},
		{name: "deep in git", tool: "folder_write", args: `{"path":"new/.git/config","content":"z"}`, fails: true, matches: `not allowed`},
		{name: "new", tool: "folder_write", args: `{"path":"w.txt","content":"z","overwrite":false}`, want: "created w.txt (1 byte, 1 line)"},
		{name: "up", tool: "folder_write", args: `{"path":"../up.txt","content":"z"}`, fails: true, matches: `outside the agent's folder`},
		{name: "link out", tool: "folder_write", args: `{"path":"out","content":"z"}`, fails: true, matches: `outside the agent's folder`},
		{name: "dangling link out", tool: "folder_write", args: `{"path":"dangling-out","content":"z"}`, fails: true, matches: `outside the agent's folder`},
	})
	if got := w.read("x/y/n.txt"); got != "a\nb" {
		t.Errorf("the new file has %q", got)
	}
	if info, err := os.Stat(w.path("run.sh")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the script lost its mode: %v %v", info.Mode(), err)
	}
	for _, name := range []string{"../up.txt", "../new.txt", "sub", ".git", "new"} {
		if _, err := os.Lstat(w.path(name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
}

func TestEdit(t *testing.T) {
	w := newWork(t, map[string]string{
		"a.txt": "one\ntwo\nthree\ntwo\n", "crlf.txt": "a\r\nb\r\nc\r\n", "mixed.txt": "a\r\nb\nc\r\n", "latin.txt": "caf\xe9 one\n",
		"code.go": "func f() {\n\treturn 1\n}\n\nfunc g() {\n\treturn 2\n}\n", "empty": "", "bin": "a\x00", "aaa": "aaa",
	})
	w.check([]answer{
		{name: "one", tool: "folder_edit", args: `{"path":"a.txt","edits":[{"oldText":"three","newText":"3"}]}`, want: "edited a.txt: 1 replacement\n--- a.txt\n+++ a.txt\n@@ -1,4 +1,4 @@\n one\n two\n-three\n+3\n two"},
		{name: "all", tool: "folder_edit", args: `{"path":"a.txt","edits":[{"oldText":"two","newText":"2","replaceAll":true},{"oldText":"one\n","newText":""}]}`, want: "edited a.txt: 3 replacements\n--- a.txt\n+++ a.txt\n@@ -1,4 +1,3 @@\n-one\n-two\n+2\n 3\n-two\n+2"},
		{name: "dry run", tool: "folder_edit", args: `{"path":"a.txt","dryRun":true,"edits":[{"oldText":"3","newText":"4"}]}`, matches: `^dry run: a\.txt would change by 1 replacement; nothing was written\n---`},
		{name: "crlf", tool: "folder_edit", args: `{"path":"crlf.txt","edits":[{"oldText":"a\nb","newText":"x\ny\nz"}]}`, matches: `^edited crlf\.txt`},
		{name: "mixed", tool: "folder_edit", args: `{"path":"mixed.txt","edits":[{"oldText":"a\nb\n","newText":"x\n"}]}`, fails: true, matches: `not found`},
		{name: "mixed, in the crlf part", tool: "folder_edit", args: `{"path":"mixed.txt","edits":[{"oldText":"c\n","newText":"d\ne\n"}]}`, matches: `^edited`},
		{name: "bytes stay", tool: "folder_edit", args: `{"path":"latin.txt","edits":[{"oldText":"one","newText":"two"}]}`, matches: `^edited`},
		{name: "twice", tool: "folder_edit", args: `{"path":"code.go","edits":[{"oldText":"\treturn","newText":"x"}]}`, fails: true, want: `the edit does not apply to "code.go", which stays unchanged: oldText is in the file more than once (lines 2, 6); add the lines around it so that it names one place, or set replaceAll to true`},
		{name: "overlapping", tool: "folder_edit", args: `{"path":"aaa","edits":[{"oldText":"aa","newText":"b"}]}`, fails: true, matches: `more than once \(lines 1, 1\)`},
		{name: "white space", tool: "folder_edit", args: `{"path":"code.go","edits":[{"oldText":"    return 1","newText":"x"}]}`, fails: true, matches: `line 2 differs in white space only: "\\treturn 1", not "    return 1"; copy it verbatim$`},
		{name: "white space further down", tool: "folder_edit", args: `{"path":"code.go","edits":[{"oldText":"func g() {\n  return 2\n}","newText":"x"}]}`, fails: true, matches: `its first line matches at line 5, but line 6 of the file has other white space`},
		{name: "other line", tool: "folder_edit", args: `{"path":"code.go","edits":[{"oldText":"\treturn 2\n}\n","newText":"ok\n"},{"oldText":"func g() {\n\treturn 2","newText":"x"}]}`, fails: true, matches: `^edit 2 of 2 does not apply to "code\.go", which stays unchanged: oldText was not found: its first line matches at line 5, but line 6 of the file is "ok", not "\\treturn 2"$`},
		{name: "beyond the end", tool: "folder_edit", args: `{"path":"aaa","edits":[{"oldText":"aaa\nb","newText":"x"}]}`, fails: true, matches: `the file ends there`},
		{name: "nearest", tool: "folder_edit", args: `{"path":"code.go","edits":[{"oldText":"func h() {","newText":"x"}]}`, fails: true, matches: `the nearest line is line 1: "func f\(\) \{"`},
		{name: "nothing like it", tool: "folder_edit", args: `{"path":"code.go","edits":[{"oldText":"zzz","newText":"x"}]}`, fails: true, matches: `nor a line like it`},
		{name: "the same", tool: "folder_edit", args: `{"path":"code.go","edits":[{"oldText":"f","newText":"f"}]}`, fails: true, matches: `oldText and newText are the same`},
		{name: "there and back", tool: "folder_edit", args: `{"path":"aaa","edits":[{"oldText":"aaa","newText":"b"},{"oldText":"b","newText":"aaa"}]}`, want: "the edits cancel each other out; aaa stays unchanged"},
		{name: "empty file", tool: "folder_edit", args: `{"path":"empty","edits":[{"oldText":"a","newText":"b"}]}`, fails: true, matches: `the file is empty; use folder_write`},
		{name: "empty oldText", tool: "folder_edit", args: `{"path":"aaa","edits":[{"oldText":"","newText":"b"}]}`, fails: true, matches: `/edits/0/oldText`},
		{name: "other spelling", tool: "folder_edit", args: `{"path":"aaa","edits":[{"oldText":"a","new_text":"b"}]}`, fails: true, matches: `/edits/0/new_text: unknown property; did you mean "newText"\?`},
		{name: "binary", tool: "folder_edit", args: `{"path":"bin","edits":[{"oldText":"a","newText":"b"}]}`, fails: true, matches: `"bin" is binary`},
		{name: "missing", tool: "folder_edit", args: `{"path":"cod.go","edits":[{"oldText":"a","newText":"b"}]}`, fails: true, matches: `did you mean "code.go"`},
		{name: "growing without end", tool: "folder_edit", args: fmt.Sprintf(`{"path":"aaa","edits":[{"oldText":"a","newText":%q,"replaceAll":true},{"oldText":"a","newText":%[1]q,"replaceAll":true},{"oldText":"a","newText":%[1]q,"replaceAll":true}]}`, strings.Repeat("a", 1000)), fails: true, matches: `^edit 3 of 3 .*would grow above`},
	})
	for name, want := range map[string]string{
		"a.txt": "2\n3\n2\n", "crlf.txt": "x\r\ny\r\nz\r\nc\r\n", "mixed.txt": "a\r\nb\nd\r\ne\r\n", "latin.txt": "caf\xe9 two\n", "aaa": "aaa",
		"code.go": "func f() {\n\treturn 1\n}\n\nfunc g() {\n\treturn 2\n}\n",
	} {
		if got := w.read(name); got != want {
			t.Errorf("%s has %q, want %q", name, got, want)
		}
	}
}

func TestEditLargeDiff(t *testing.T) {
	w := newWork(t, map[string]string{"big.txt": strings.Repeat("a\nb\nc\nd\ne\nf\ng\nh\n", 40_000)})
	text, result := w.call("folder_edit", `{"path":"big.txt","edits":[{"oldText":"a","newText":"x","replaceAll":true}]}`)
	if result.IsError || !regexp.MustCompile(`\[\d+ more changes not shown, since the diff is too long\]$`).MatchString(text) || len(text) > 120<<10 {
		t.Errorf("failed %v, %d bytes, end %q", result.IsError, len(text), text[max(0, len(text)-200):])
	}
	if got := w.read("big.txt"); strings.Count(got, "x") != 40_000 {
		t.Errorf("%d of 40000 places were changed", strings.Count(got, "x"))
	}
	w.write("wide.txt", strings.Repeat("w", 1<<20)+"!")
	text, result = w.call("folder_edit", `{"path":"wide.txt","edits":[{"oldText":"!","newText":"?"}]}`)
	if result.IsError || !strings.HasSuffix(text, "[the rest of the diff is not shown, since it is too long]") {
		t.Errorf("failed %v, end %q", result.IsError, text[max(0, len(text)-200):])
	}
}

func TestMove(t *testing.T) {
	w := newWork(t, map[string]string{"a.txt": "A", "b.txt": "BB", "d/in.txt": "x", "e/f.txt": "", "g/CLAUDE.md": "rules", "h.txt": "h", strings.Repeat("q/", 300) + "x": ""})
	link(t, "a.txt", w.path("link"))
	w.check([]answer{
		{name: "onto a file", tool: "folder_move", args: `{"from":"a.txt","to":"b.txt"}`, fails: true, want: `"b.txt" exists already (2 bytes); set overwrite to true to replace it, or choose another name`},
		{name: "link", tool: "folder_move", args: `{"from":"link","to":"link2"}`, want: "moved link link to link2"},
		{name: "rename", tool: "folder_move", args: `{"from":"a.txt","to":"new/deep/a.txt"}`, want: "moved file a.txt to new/deep/a.txt"},
		{name: "overwrite", tool: "folder_move", args: `{"from":"new/deep/a.txt","to":"b.txt","overwrite":true}`, want: "moved file new/deep/a.txt to b.txt, replacing a file of 2 bytes"},
		{name: "folder", tool: "folder_move", args: `{"from":"d","to":"moved/d"}`, want: "moved folder d to moved/d"},
		{name: "into a folder", tool: "folder_move", args: `{"from":"b.txt","to":"e","overwrite":true}`, fails: true, want: `"e" is a folder; to move into it give the full new path, such as "e/b.txt"`},
		{name: "slash", tool: "folder_move", args: `{"from":"b.txt","to":"newer/"}`, fails: true, want: `"newer/" ends with a slash; give the full new path, such as "newer/b.txt"`},
		{name: "folder onto a file", tool: "folder_move", args: `{"from":"e","to":"b.txt","overwrite":true}`, fails: true, want: `"b.txt" is a file; a folder cannot take its place`},
		{name: "into itself", tool: "folder_move", args: `{"from":"e","to":"e/sub"}`, fails: true, want: `folder "e" cannot be moved into itself ("e/sub")`},
		{name: "same", tool: "folder_move", args: `{"from":"h.txt","to":"./h.txt"}`, fails: true, want: `"h.txt" and "h.txt" are the same file; nothing was moved`},
		{name: "missing", tool: "folder_move", args: `{"from":"hh.txt","to":"z"}`, fails: true, want: `"hh.txt" does not exist; did you mean "h.txt"?`},
		{name: "too many levels", tool: "folder_move", args: `{"from":"q","to":"r"}`, fails: true, want: `"q": a path in it is longer, or has more levels, than can be worked on at once`},
		{name: "out", tool: "folder_move", args: `{"from":"h.txt","to":"../h.txt"}`, fails: true, matches: `outside the agent's folder`},
		{name: "to agent instructions", tool: "folder_move", args: `{"from":"h.txt","to":"AGENTS.md"}`, fails: true, matches: `not allowed`},
		{name: "of agent instructions", tool: "folder_move", args: `{"from":"g/CLAUDE.md","to":"x.md"}`, fails: true, matches: `not allowed`},
	})
	if got := w.read("b.txt"); got != "A" {
		t.Errorf("b.txt has %q", got)
	}
	if got := w.read("moved/d/in.txt"); got != "x" {
		t.Errorf("the moved folder's file has %q", got)
	}
	if got := w.read("h.txt"); got != "h" {
		t.Errorf("h.txt has %q", got)
	}
}
