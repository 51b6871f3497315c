package permissions

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadFileLimit(t *testing.T) {
	f := grant(t, everything(), lay(t, map[string]string{"ten": "0123456789", "empty": ""})).FS()
	for limit, want := range map[int64]string{0: "0123456789", 10: "0123456789", 11: "0123456789", 9: "EFBIG", 1: "EFBIG"} {
		got, err := f.ReadFile("ten", limit)
		if err != nil {
			got = []byte(outcome(err))
			var large *TooLargeError
			if !errors.As(err, &large) || large.Limit != limit || large.Size < 10 {
				t.Errorf("%v", err)
			}
		}
		if string(got) != want {
			t.Errorf("limit %d: %q, want %q", limit, got, want)
		}
	}
	if got, err := f.ReadFile("empty", 1); err != nil || got == nil || len(got) != 0 {
		t.Error(got, err)
	}
	// A file may be longer than it says, and grow while it is read.
	if _, err := readAll(strings.NewReader(strings.Repeat("x", 5000)), 0, 4000); outcome(err) != "EFBIG" {
		t.Error(err)
	}
	if data, err := readAll(strings.NewReader(strings.Repeat("x", 5000)), 10, 5000); err != nil || len(data) != 5000 {
		t.Error(len(data), err)
	}
}

func TestReadDir(t *testing.T) {
	top := lay(t, map[string]string{"b": "1", "B": "", "a/x": "", "ä": "", ".env": "secret", "z.pem": "", "link": "-> a", "aa": ""})
	p := everything()
	p.FS.Read.Deny = []string{"**/.env"}
	f := grant(t, p, top).FS()
	entries, err := f.ReadDir(".")
	if got := entryNames(entries); got != ".env B a aa b link z.pem ä" || err != nil {
		t.Error(got, err)
	}
	for _, e := range entries {
		info, err := e.Info()
		want := "ok"
		if e.Name() == ".env" {
			want = "ok" // it may be written, so it may be looked at
		}
		if outcome(err) != want {
			t.Errorf("%s: %v", e.Name(), err)
		}
		if err == nil && (info.Name() != e.Name() || info.Mode().Type() != e.Type() || info.IsDir() != e.IsDir()) {
			t.Errorf("%s: %v %v", e.Name(), info.Mode(), e.Type())
		}
	}
	p.FS.Write = Access{}
	f = grant(t, p, top).FS()
	entries, err = f.ReadDir(top)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := entries[0].Info(); outcome(err) != "denied" {
		t.Error(err)
	}
	entries, err = f.ReadDir("link")
	if got := entryNames(entries); got != "x" || err != nil {
		t.Error(got, err)
	}
	for name, want := range map[string]string{"b": "ENOTDIR", "none": "ENOENT", "..": "denied"} {
		if _, err := f.ReadDir(name); outcome(err) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLinksAsTheyAre(t *testing.T) {
	top := lay(t, map[string]string{"f/a": "A", "f/link": "-> a", "f/out": "-> ../outside", "f/d/": "", "f/dlink": "-> d", "outside/": ""})
	f := grant(t, everything(), filepath.Join(top, "f")).FS()
	for _, name := range []string{"link", "out", "dlink"} {
		if info, err := f.Lstat(name); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if info, err := f.Lstat("dlink/"); err != nil || !info.IsDir() {
		t.Error(err)
	}
	if target, err := f.ReadLink("link"); target != "a" || err != nil {
		t.Error(target, err)
	}
	if _, err := f.ReadLink("a"); outcome(err) != "EINVAL" {
		t.Error(err)
	}
	if _, err := f.Stat("out"); outcome(err) != "denied" {
		t.Error(err)
	}
	if real, err := f.RealPath("dlink/../link"); real != filepath.Join(top, "f/a") || err != nil {
		t.Error(real, err)
	}
	if _, err := f.RealPath("none"); outcome(err) != "ENOENT" {
		t.Error(err)
	}
}

func TestAccess(t *testing.T) {
	top := lay(t, map[string]string{"a": "", "d/": "", ".env": "", "CLAUDE.md": ""})
	p := everything()
	p.FS.Read.Deny = []string{".env"}
	f := grant(t, p, top).FS()
	for _, tt := range []struct {
		name        string
		read, write bool
		want        string
	}{
		{"a", false, false, "ok"},
		{"a", true, true, "ok"},
		{"d", true, true, "ok"},
		{"none", false, false, "ENOENT"},
		{".env", true, false, "denied"},
		{".env", false, true, "ok"},
		{"CLAUDE.md", true, false, "ok"},
		{"CLAUDE.md", false, true, "denied"},
		{"../x", false, false, "denied"},
	} {
		if err := f.Access(tt.name, tt.read, tt.write); outcome(err) != tt.want {
			t.Errorf("%s %v %v: %v, want %s", tt.name, tt.read, tt.write, err, tt.want)
		}
	}
}

func TestWalkDir(t *testing.T) {
	top := lay(t, map[string]string{"a": "", "d/x": "", "d/e/y": "", "loop": "-> .", "secret/s": "", "z/": "", "dlink": "-> d"})
	f := grant(t, &Policy{FS: FSPolicy{Read: Access{Folder: true, Deny: []string{"secret"}}}}, top).FS()
	walk := func(root string, fn func(name string) error) string {
		var seen []string
		err := f.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				seen = append(seen, name+"!"+outcome(err))
				return nil
			}
			seen = append(seen, name)
			if fn != nil {
				return fn(name)
			}
			return nil
		})
		if err != nil {
			seen = append(seen, "error "+err.Error())
		}
		return strings.Join(seen, " ")
	}
	for root, want := range map[string]string{
		".":        ". a d d/e d/e/y d/x dlink loop secret z",
		"d":        "d d/e d/e/y d/x",
		"d/":       "d/ d/e d/e/y d/x",
		"./d":      "./d ./d/e ./d/e/y ./d/x",
		"dlink":    "dlink dlink/e dlink/e/y dlink/x",
		"a":        "a",
		"none":     "none!ENOENT",
		"../x":     "../x!denied",
		"secret":   "secret!denied",
		top + "/d": top + "/d " + top + "/d/e " + top + "/d/e/y " + top + "/d/x",
	} {
		if got := walk(root, nil); got != want {
			t.Errorf("%s: %s, want %s", root, got, want)
		}
	}
	if got := walk(".", func(name string) error {
		if name == "d" {
			return fs.SkipDir
		}
		return nil
	}); got != ". a d dlink loop secret z" {
		t.Error(got)
	}
	if got := walk(".", func(name string) error {
		if name == "d/e/y" {
			return fs.SkipDir
		}
		return nil
	}); got != ". a d d/e d/e/y d/x dlink loop secret z" {
		t.Error(got)
	}
	if got := walk(".", func(name string) error {
		if name == "d/e" {
			return fs.SkipAll
		}
		return nil
	}); got != ". a d d/e" {
		t.Error(got)
	}
	if got := walk(".", func(name string) error {
		if name == "d/e" {
			return errors.New("stop")
		}
		return nil
	}); got != ". a d d/e error stop" {
		t.Error(got)
	}
}

func TestWalkDirIsAsTheStandardLibrarys(t *testing.T) {
	top := lay(t, map[string]string{"a": "", "d/x": "", "d/e/y": "", "d.x/z": "", "d-e/": "", "l": "-> d"})
	f := grant(t, everything(), top).FS()
	collect := func(list *[]string) fs.WalkDirFunc {
		return func(name string, d fs.DirEntry, err error) error {
			*list = append(*list, name+" "+d.Type().String())
			return err
		}
	}
	var ours, theirs []string
	if err := f.WalkDir(".", collect(&ours)); err != nil {
		t.Fatal(err)
	}
	if err := fs.WalkDir(os.DirFS(top), ".", collect(&theirs)); err != nil {
		t.Fatal(err)
	}
	if a, b := strings.Join(ours, "\n"), strings.Join(theirs, "\n"); a != b {
		t.Errorf("ours:\n%s\ntheirs:\n%s", a, b)
	}
}

func TestMessages(t *testing.T) {
	top := lay(t, map[string]string{"f/a": "", "f/.env": ""})
	folder := filepath.Join(top, "f")
	p := func(fsp FSPolicy) *FS { return grant(t, &Policy{FS: fsp}, folder).FS() }
	const named = `"permissions": {"fs": {"%s": {"folder": true}}} in the plugin's manifest would allow it; only the user can grant that, by changing the manifest and agreeing to it (toolhost consent approve)`
	// Where the manifest has no rule "parameter", that one may be all that is missing.
	line := strings.Replace(named, "allow it;", `allow it ("parameter" instead of "folder" is enough where the arguments of the call name it);`, 1)
	for _, tt := range []struct {
		err  error
		want string
	}{
		{second(p(FSPolicy{}).ReadFile("a", 0)), `reading "a" is not allowed: the plugin's manifest declares no permission for it. ` + strings.Replace(line, "%s", "read", 1)},
		{p(FSPolicy{}).WriteFile("a", nil, 0), `writing "a" is not allowed: the plugin's manifest declares no permission for it. ` + strings.Replace(line, "%s", "write", 1)},
		{second(p(FSPolicy{}).ReadDir(".")), `listing "." is not allowed: the plugin's manifest declares no permission for it. ` + strings.Replace(line, "%s", "read", 1)},
		{second(p(FSPolicy{List: &Access{}}).ReadDir(".")), `listing "." is not allowed: the plugin's manifest declares no permission for it. ` + strings.Replace(line, "%s", "list", 1)},
		{second(p(FSPolicy{Read: Access{Parameter: true}}).ReadFile("a", 0)), `reading "a" is not allowed: the arguments of this call do not name it. ` + strings.Replace(named, "%s", "read", 1)},
		{second(p(FSPolicy{Read: Access{Paths: []string{"*.md"}}}).ReadFile("a", 0)), `reading "a" is not allowed: the manifest's globs ("*.md") do not match it. ` + strings.Replace(line, "%s", "read", 1)},
		{second(p(FSPolicy{Read: Access{Folder: true, Deny: []string{"**/.env"}}}).ReadFile(".env", 0)), `reading ".env" is not allowed: the manifest's deny rule "**/.env" closes it`},
		{second(p(FSPolicy{Read: Access{Folder: true}}).ReadFile("x.pem", 0)), `reading "x.pem" is not allowed: the host's own rule "**/*.pem" closes it to every tool`},
		{second(p(FSPolicy{}).ReadFile("../x", 0)), `reading "../x" is not allowed: it lies outside the agent's folder, and nothing there can be granted`},
		{&DeniedError{Op: "env", Target: "HOME", Rule: `"permissions": {"env": ["HOME"]}`}, `reading the environment variable "HOME" is not allowed: the plugin's manifest declares no permission for it. "permissions": {"env": ["HOME"]} in the plugin's manifest would allow it; only the user can grant that, by changing the manifest and agreeing to it (toolhost consent approve)`},
		{&DeniedError{Op: "store"}, `store is not allowed: the plugin's manifest declares no permission for it`},
	} {
		if tt.err == nil || tt.err.Error() != tt.want {
			t.Errorf("got  %v\nwant %s", tt.err, tt.want)
		}
	}
	err := second(p(FSPolicy{}).ReadFile(strings.Repeat("ä", 2000), 0))
	if len(err.Error()) > 1000 {
		t.Errorf("%d bytes of message", len(err.Error()))
	}
}
