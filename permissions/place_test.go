package permissions

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestPaths(t *testing.T) {
	top := lay(t, map[string]string{
		"folder/a.md":                "inside",
		"folder/sub/b.md":            "deep",
		"folder/~/c":                 "tilde",
		"folder/$HOME":               "dollar",
		"folder/in.md":               "-> a.md",
		"folder/here":                "-> .",
		"folder/sub/up":              "-> ../a.md",
		"folder/abs.md":              "-> {top}/folder/a.md",
		"folder/round.md":            "-> ../folder/a.md",
		"folder/out.md":              "-> ../outside/secret",
		"folder/out-missing":         "-> ../outside/nothing",
		"folder/out":                 "-> ../outside",
		"folder/rootlink":            "-> /",
		"folder/environ":             "-> /proc/self/environ",
		"folder/chain":               "-> chain2",
		"folder/chain2":              "-> {top}/outside/secret",
		"folder/loop":                "-> loop",
		"folder/dangling":            "-> nowhere",
		"folder/slashed":             "-> a.md/",
		"folder/dirlink":             "-> sub/",
		"folder-private/secret":      "private",
		"outside/secret":             "SECRET",
		"outside/back":               "-> ../folder",
		"linked":                     "-> via",
		"via":                        "-> folder",
		"folder/" + name(250) + "/x": "long",
	})
	tests := []struct{ name, want string }{
		{"a.md", "inside"},
		{"./sub/../a.md", "inside"},
		{"sub//./b.md", "deep"},
		{"~/c", "tilde"},
		{"$HOME", "dollar"},
		{"in.md", "inside"},
		{"here/here/here/a.md", "inside"},
		{"sub/up", "inside"},
		{"here/sub/../a.md", "inside"},
		{"{top}/folder/a.md", "inside"},
		{"{top}//folder/./sub/b.md", "deep"},
		{"{top}/linked/a.md", "inside"},
		{"{top}/via/sub/b.md", "deep"},
		{"abs.md", "inside"},
		{"round.md", "inside"},
		{"../folder/a.md", "inside"},
		{"rootlink{top}/folder/a.md", "inside"},
		{"dirlink/b.md", "deep"},
		{name(250) + "/x", "long"},

		{"", "ENOENT"},
		{"missing", "ENOENT"},
		{"missing/x", "ENOENT"},
		{"missing/../a.md", "ENOENT"},
		{"dangling", "ENOENT"},
		{"sub", "EISDIR"},
		{".", "EISDIR"},
		{"a.md/", "ENOTDIR"},
		{"a.md/.", "ENOTDIR"},
		{"a.md/x", "ENOTDIR"},
		{"a.md/../a.md", "ENOTDIR"},
		{"slashed", "ENOTDIR"},
		{"loop", "ELOOP"},
		{"loop/x", "ELOOP"},
		{"a\x00b", "EINVAL"},
		{"/etc/\x00", "EINVAL"},
		{name(256), "ENAMETOOLONG"},
		{strings.Repeat("a/", 2100), "ENAMETOOLONG"},

		{"..", "denied"},
		{"/", "denied"},
		{"../outside/secret", "denied"},
		{"../outside/nothing", "denied"},
		{"../folder-private/secret", "denied"},
		{"{top}/folder-private/secret", "denied"},
		{"{top}/folder/../outside/secret", "denied"},
		{"{top}/outside/back/a.md", "denied"}, // a link outside is never followed
		{"out.md", "denied"},
		{"out-missing", "denied"},
		{"out/secret", "denied"},
		{"out/nothing", "denied"},
		{"out/back/a.md", "denied"},
		{"here/out/../outside/secret", "denied"},
		{"chain", "denied"},
		{"environ", "denied"},
		{"rootlink/etc/passwd", "denied"},
		{"rootlink{top}/outside/secret", "denied"},
		{"missing/../../outside/secret", "denied"},
		{"/proc/self/cwd/a.md", "denied"},
		{"/proc/self/root{top}/folder/a.md", "denied"},
	}
	for _, spelling := range []string{"folder", "linked"} {
		f := grant(t, everything(), filepath.Join(top, spelling)).FS()
		for _, tt := range tests {
			name := strings.ReplaceAll(tt.name, "{top}", top)
			if spelling == "folder" && (strings.HasPrefix(tt.name, "{top}/linked") || strings.HasPrefix(tt.name, "{top}/via")) {
				continue // not a spelling of the folder as it was named
			}
			got, err := readText(f, name)
			if err != nil {
				got = outcome(err)
				var p *os.PathError
				if errors.As(err, &p) && p.Path != name {
					t.Errorf("%s: the error names %q", tt.name, p.Path)
				}
				if strings.Contains(err.Error(), "escapes") {
					t.Errorf("%s: %v", tt.name, err)
				}
			}
			if got != tt.want {
				t.Errorf("folder %s, %s: got %q (%v), want %q", spelling, tt.name, got, err, tt.want)
			}
		}
	}
}

func name(length int) string { return strings.Repeat("n", length) }

// What lies outside must not be told by a difference between two answers.
func TestNothingOutsideIsRevealed(t *testing.T) {
	top := lay(t, map[string]string{"folder/a": "", "outside/there": "x", "outside/dir/": "", "outside/link": "-> there"})
	f := grant(t, everything(), filepath.Join(top, "folder")).FS()
	acts := map[string]func(string) error{
		"read":   func(n string) error { _, err := f.ReadFile(n, 1); return err },
		"stat":   func(n string) error { _, err := f.Stat(n); return err },
		"lstat":  func(n string) error { _, err := f.Lstat(n); return err },
		"list":   func(n string) error { _, err := f.ReadDir(n); return err },
		"write":  func(n string) error { return f.WriteFile(n, nil, 0) },
		"rename": func(n string) error { return f.Rename("a", n) },
		"mkdir":  func(n string) error { return f.Mkdir(n, 0) },
		"all":    func(n string) error { _, err := f.MkdirAll(n, 0); return err },
	}
	for label, act := range acts {
		for _, n := range []string{"there", "dir", "link", "there/x", "dir/../there", "there/../there"} {
			there := act("../outside/" + n)
			missing := act("../outside/" + strings.NewReplacer("there", "nowhere", "dir", "nowhere", "link", "nowhere").Replace(n))
			if there == nil || missing == nil || outcome(there) != "denied" || outcome(missing) != "denied" {
				t.Errorf("%s %s: %v, %v", label, n, there, missing)
				continue
			}
			a, b := new(DeniedError), new(DeniedError)
			errors.As(there, &a)
			errors.As(missing, &b)
			if a.Reason != b.Reason || a.Rule != b.Rule || a.Op != b.Op {
				t.Errorf("%s %s: %q and %q differ", label, n, there, missing)
			}
		}
	}
}

// The same within the folder: what was not granted answers alike, there or not.
func TestNothingUngrantedIsRevealed(t *testing.T) {
	top := lay(t, map[string]string{"named": "x", "other": "x", "dir/x": "", "loop": "-> loop", ".env": ""})
	f := grant(t, &Policy{FS: FSPolicy{Read: Access{Parameter: true}}}, top, Argument{Value: "named"}).FS()
	for _, n := range []string{"other", "dir/x", "dir", "dir/none", "loop", "loop/x", "none", "none/x", "other/x", ".env"} {
		if _, err := f.ReadFile(n, 0); outcome(err) != "denied" {
			t.Errorf("read %s: %v", n, err)
		}
		if _, err := f.Stat(n); outcome(err) != "denied" {
			t.Errorf("stat %s: %v", n, err)
		}
		if f.Exists(n) {
			t.Errorf("%s exists", n)
		}
	}
	if !f.Exists("named") {
		t.Error("what was named does not exist")
	}
}

func TestWalkIsBounded(t *testing.T) {
	// Each link holds many steps, and there are as many links as may be followed.
	files := map[string]string{"d/d/d/d/x": "end"}
	long := strings.Repeat("d/../", 800)
	for i := range 39 {
		files["l"+string(rune('A'+i))] = "-> " + long + "l" + string(rune('A'+i+1))
	}
	f := grant(t, everything(), lay(t, files)).FS()
	if _, err := f.Stat("lA"); outcome(err) != "ENAMETOOLONG" {
		t.Fatal(err)
	}
	if _, err := f.ReadFile("/"+strings.Repeat("../", 1300)+"x", 0); outcome(err) != "denied" {
		t.Fatal(err)
	}
}

func TestSystemFoldersAreClosed(t *testing.T) {
	f := grant(t, everything(), "/").FS()
	for _, n := range []string{"/proc/self/environ", "proc/version", "/sys/kernel", "/dev/null"} {
		if _, err := f.ReadFile(n, 0); outcome(err) != "denied" {
			t.Errorf("%s: %v", n, err)
		}
	}
	if _, err := f.Stat("/"); err != nil {
		t.Error(err)
	}
	f = grant(t, everything(), "/proc/self").FS()
	if _, err := f.ReadFile("environ", 0); outcome(err) != "denied" {
		t.Error(err)
	}
}

func TestMissingFolder(t *testing.T) {
	f := grant(t, everything(), filepath.Join(t.TempDir(), "none")).FS()
	if _, err := f.ReadFile("a", 0); outcome(err) != "ENOENT" {
		t.Error(err)
	}
	if err := f.WriteFile("a", nil, 0); outcome(err) != "ENOENT" {
		t.Error(err)
	}
	f = grant(t, everything(), "").FS()
	if _, err := f.ReadFile("a", 0); outcome(err) != "denied" {
		t.Error(err)
	}
}

func TestErrorsWrapErrno(t *testing.T) {
	f := grant(t, everything(), lay(t, map[string]string{"d/x": ""})).FS()
	_, err := f.ReadFile("none", 0)
	var p *os.PathError
	if !errors.As(err, &p) || p.Op != "open" || p.Path != "none" || p.Err != syscall.ENOENT || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%#v", err)
	}
	err = f.Rename("none", "other")
	var l *os.LinkError
	if !errors.As(err, &l) || l.Old != "none" || l.New != "other" || l.Err != syscall.ENOENT {
		t.Errorf("%#v", err)
	}
}
