package process

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/permissions/sandbox"
)

// staging gives a renamer of a call with these arguments, what stands for each of them, and
// the folder of what is written freely.
func staging(t testing.TB, withContext bool, args ...string) (n *renamer, stands []string, out, folder string) {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(folder, "docs"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("docs", filepath.Join(folder, "link")); err != nil {
		t.Fatal(err)
	}
	policy := &permissions.Policy{Root: t.TempDir(), FS: permissions.FSPolicy{Write: permissions.Access{Parameter: true, Paths: []string{"out/**"}}}}
	var named []permissions.Argument
	for _, a := range args {
		named = append(named, permissions.Argument{Pointer: "/" + a, Value: a, Marked: true})
	}
	grant, err := policy.Resolve(folder, named)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(grant.Revoke)
	stage, err := sandbox.NewStage(grant, named, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stage.Close() })
	for _, a := range args {
		stands = append(stands, stage.Arguments()["/"+a])
	}
	if slices.Contains(stands, "") {
		t.Fatalf("not all arguments are staged: %q", stands)
	}
	_, out, _ = strings.Cut(stage.Env()[0], "=")
	in := &instance{runtime: New(&Options{Context: withContext})}
	return in.renamer(stage, folder), stands, out, folder
}

func TestRenamer(t *testing.T) {
	args := []string{"new \"file\".txt", "docs/", "link/ü.md", "."}
	for len(args) < 12 { // the tenth stands beside the first by its name
		args = append(args, strings.Repeat("n", len(args)))
	}
	for _, withContext := range []bool{false, true} {
		n, at, out, folder := staging(t, withContext, args...)
		known := func(name string) string {
			if withContext {
				return name
			}
			return filepath.Join(folder, name)
		}
		for text, want := range map[string]string{
			"wrote " + at[0] + ".":                    "wrote " + known(`new "file".txt`) + ".",
			at[1] + ", " + at[1] + "/a/b":             known("docs") + ", " + known("docs") + "/a/b",
			at[2]:                                     known("link/ü.md"),
			at[3] + "|":                               known(".") + "|",
			at[10] + at[11]:                           known("nnnnnnnnnn") + known("nnnnnnnnnnn"),
			at[0] + ".tmp":                            known(`new "file".txt`) + ".tmp",
			filepath.Dir(at[2]) + "/x|":               known("link/x") + "|",
			filepath.Dir(at[2]) + "|":                 known("link") + "|",
			out + "/out/a.txt":                        folder + "/out/a.txt",
			"file://" + filepath.Dir(at[4]) + "/nnnn": "file://" + folder + "/nnnn",
			"/tmp/other/0/" + filepath.Base(at[1]):    "/tmp/other/0/docs",
			"nothing of it":                           "nothing of it",
		} {
			if got := n.text(text); got != want {
				t.Errorf("%q: got %q, want %q", text, got, want)
			}
			for _, raw := range []string{string(quote(text)), strings.ReplaceAll(string(quote(text)), "/", `\/`), `{"a":[` + string(quote(text)) + `]}`, `{` + string(quote(text)) + `:1}`} {
				var value, expected any
				got := n.json(json.RawMessage(raw))
				wanted := strings.ReplaceAll(string(plain(json.RawMessage(raw))), quoted(text), quoted(want))
				if json.Unmarshal(got, &value) != nil || json.Unmarshal([]byte(wanted), &expected) != nil || string(quote(value)) != string(quote(expected)) {
					t.Errorf("%s: got %s, want %s", raw, got, wanted)
				}
			}
		}
	}
}

func quote(v any) []byte {
	raw, _ := json.Marshal(v)
	return raw
}

// A program may say the name of its stage as often as it likes, and where it likes.
func TestRenamerHoldsOut(t *testing.T) {
	long := strings.Repeat("deep/", 200) + "x"
	n, at, _, folder := staging(t, false, long)
	flood := strings.Repeat(at[0][:len(at[0])-1], 10_000)
	if got := n.text(flood); got != flood {
		t.Errorf("%d bytes became %d", len(flood), len(got))
	}
	if got := n.json(quote(flood)); len(got) != len(flood)+2 {
		t.Errorf("%d bytes became %d", len(flood), len(got))
	}
	if got := n.text("in " + at[0]); got != "in "+filepath.Join(folder, long) {
		t.Errorf("got %q", got)
	}
	var none *renamer
	failure := errors.New("x")
	if none.text("a") != "a" || string(none.json(json.RawMessage("1"))) != "1" || none.result(nil) != nil || none.failure(failure) != failure || n.failure(failure) != failure {
		t.Error("what has no stage was changed")
	}
}

func TestRenamerRenamesAll(t *testing.T) {
	n, at, _, folder := staging(t, false, "a.txt")
	file := filepath.Join(folder, "a.txt")
	path, want := string(quote(at[0])), string(quote(file))
	var block host.Content
	link := `{"type":"resource_link","uri":` + string(quote("file://"+at[0])) + `,"name":` + path + `}`
	if err := block.UnmarshalJSON([]byte(link)); err != nil {
		t.Fatal(err)
	}
	picture := host.Image([]byte("\x89PNG\r\n\x1a\n"), "image/png")
	got := n.result(&host.Result{
		Content: []host.Content{host.Text("in " + at[0]), block, picture}, IsError: true,
		Structured: json.RawMessage(`{"a":` + path + `}`), Meta: json.RawMessage(`{` + path + `:1}`), Value: json.RawMessage(path),
	})
	linked, _ := got.Content[1].MarshalJSON()
	if got.Content[0].Text() != "in "+file || string(linked) != strings.ReplaceAll(link, at[0], file) || !got.IsError ||
		string(got.Structured) != `{"a":`+want+`}` || string(got.Meta) != `{`+want+`:1}` || string(got.Value) != want {
		t.Errorf("got %s, %+v", linked, got)
	}
	same, _ := picture.MarshalJSON()
	if now, _ := got.Content[2].MarshalJSON(); !bytes.Equal(now, same) {
		t.Errorf("the picture is %s", now)
	}
	err := n.failure(&Failure{What: "it broke " + at[0], Tail: at[0] + "\n"})
	if text := err.Error(); strings.Contains(text, at[0]) || strings.Count(text, file) != 2 {
		t.Errorf("got %q", text)
	}
	var out strings.Builder
	log := slog.New(slog.NewTextHandler(&out, nil))
	var said string
	ctx, told := n.told(context.Background(), &host.Call{Progress: func(m string) { said = m }}, log)
	told.Progress(at[0])
	told.Log.With("a", 1).WithGroup("g").Warn(at[0], "path", at[0], "n", 2, slog.Group("more", "path", at[0]))
	if text := out.String(); said != file || strings.Contains(text, at[0]) || strings.Count(text, file) != 3 || !strings.Contains(text, "g.more.path=") {
		t.Errorf("said %q, logged %s", said, text)
	}
	if renamerOf(ctx) != n || renamerOf(context.Background()) != nil {
		t.Error("the context of a call does not have its renamer")
	}
}

// FuzzRenamer renames in what a program says: valid JSON stays valid, and says the same as
// its texts renamed one by one.
func FuzzRenamer(f *testing.F) {
	n, at, out, _ := staging(f, true, "a \"b\"\\.txt", "docs")
	for _, text := range []string{at[0], at[1] + "/x", out, `\\` + at[0], "\\" + at[1], "\"" + at[0] + "\"", "\x00" + out} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "?")
		for _, s := range []string{text, strings.ReplaceAll(text, "@", at[0]), strings.ReplaceAll(text, "@", at[1])} {
			var got string
			if err := json.Unmarshal(n.json(quote(s)), &got); err != nil || got != n.text(s) {
				t.Errorf("%q: got %q, %v, want %q", s, got, err, n.text(s))
			}
		}
	})
}
