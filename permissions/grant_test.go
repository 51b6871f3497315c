package permissions

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

func TestNothingIsAllowedByZeroValues(t *testing.T) {
	top := lay(t, map[string]string{"a": "x"})
	var nilPolicy *Policy
	fromNil, err := nilPolicy.Resolve(top, nil)
	if err != nil {
		t.Fatal(err)
	}
	for label, g := range map[string]*Grant{"nil": nil, "zero": {}, "nil policy": fromNil, "zero policy": grant(t, &Policy{}, top)} {
		for op, err := range everyAct(g.FS(), "a", "b") {
			if !errors.Is(err, ErrDenied) || !errors.Is(err, fs.ErrPermission) || !errors.Is(err, syscall.EACCES) {
				t.Errorf("%s grant, %s: %v", label, op, err)
			}
		}
		if _, ok := g.Env("PATH"); ok || len(g.EnvNames()) > 0 {
			t.Errorf("%s grant gives the environment", label)
		}
		g.Revoke()
	}
	for op, err := range everyAct(&FS{}, "a", "b") {
		if !errors.Is(err, ErrDenied) {
			t.Errorf("zero FS, %s: %v", op, err)
		}
	}
}

// everyAct does everything that can be done to a name.
func everyAct(f *FS, name, other string) map[string]error {
	first := func(_ any, err error) error { return err }
	return map[string]error{
		"ReadFile":   first(f.ReadFile(name, 1)),
		"WriteFile":  f.WriteFile(name, nil, 0),
		"AppendFile": f.AppendFile(name, nil, 0),
		"OpenFile":   first(f.OpenFile(name, 0, 0)),
		"ReadDir":    first(f.ReadDir(name)),
		"Stat":       first(f.Stat(name)),
		"Lstat":      first(f.Lstat(name)),
		"Access":     f.Access(name, true, false),
		"RealPath":   first(f.RealPath(name)),
		"ReadLink":   first(f.ReadLink(name)),
		"Mkdir":      f.Mkdir(name, 0),
		"MkdirAll":   first(f.MkdirAll(name+"/x", 0)),
		"MkdirTemp":  first(f.MkdirTemp(name)),
		"Remove":     f.Remove(name),
		"RemoveAll":  f.RemoveAll(name),
		"Rename":     f.Rename(name, other),
		"RenameTo":   f.Rename(other, name),
		"Link":       f.Link(name, other),
		"LinkTo":     f.Link(other, name),
		"Symlink":    f.Symlink(other, name),
		"Truncate":   f.Truncate(name, 0),
		"Chmod":      f.Chmod(name, 0o600),
		"Chtimes":    f.Chtimes(name, time.Now(), time.Now()),
		"WalkDir":    f.WalkDir(name, func(_ string, _ fs.DirEntry, err error) error { return err }),
	}
}

func TestEveryActIsDeniedOutside(t *testing.T) {
	top := lay(t, map[string]string{"folder/give": "x", "outside/secret": "SECRET", "outside/dir/x": "", "folder/out": "-> ../outside"})
	for _, spelled := range []string{"../outside/secret", filepath.Join(top, "outside/secret"), "out/secret", "../outside/dir", "../outside/none"} {
		f := grant(t, everything(), filepath.Join(top, "folder")).FS()
		for op, err := range everyAct(f, spelled, "give") {
			if !errors.Is(err, ErrDenied) {
				t.Errorf("%s %s: %v", op, spelled, err)
			}
		}
		if f.Exists(spelled) {
			t.Errorf("%s exists", spelled)
		}
	}
	if content(t, filepath.Join(top, "outside/secret")) != "SECRET" || content(t, filepath.Join(top, "folder/give")) != "x" {
		t.Error("something was changed")
	}
}

func TestMarkedArguments(t *testing.T) {
	top := lay(t, map[string]string{"folder/a": "A", "folder/out": "-> ../outside", "folder/loop": "-> loop", "outside/secret": "S", "plugin/own": "o"})
	folder := filepath.Join(top, "folder")
	parameter := FSPolicy{Read: Access{Parameter: true}}
	outside := []string{"../outside/secret", "../outside/none", filepath.Join(top, "outside/secret"), "out/secret", "out", "..", "/", "a\x00", "missing/../../x", strings.Repeat("a/", 3000), filepath.Join(top, "plugin/own")}
	for _, value := range outside {
		for _, fsp := range []FSPolicy{parameter, {Write: Access{Parameter: true}}, {List: &Access{Parameter: true}}} {
			_, err := (&Policy{FS: fsp, Root: filepath.Join(top, "plugin")}).Resolve(folder, []Argument{{Pointer: "/in/path", Value: value, Marked: true}})
			var a *ArgumentError
			if !errors.As(err, &a) || !strings.HasPrefix(err.Error(), "argument /in/path: ") || strings.Contains(err.Error(), "SECRET") {
				t.Errorf("%.40q: %v", value, err)
			}
		}
		g := grant(t, &Policy{FS: parameter}, folder, Argument{Value: value})
		if _, err := g.FS().ReadFile(value, 0); err == nil {
			t.Errorf("%.40q was granted", value)
		}
		// Without a rule about arguments their places do not matter.
		grant(t, everything(), folder, Argument{Value: value, Marked: true})
	}
	_, err := (&Policy{FS: parameter}).Resolve(folder, []Argument{{Pointer: "/path", Value: "../x", Marked: true}})
	if want := `argument /path: "../x" lies outside the agent's folder`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := (&Policy{FS: parameter}).Resolve("", []Argument{{Pointer: "/p", Value: "a", Marked: true}}); err == nil {
		t.Error("a call without a folder took a path")
	}
	for _, value := range []string{"", "a", "new/file", "loop", "a/x", "~/x"} {
		grant(t, &Policy{FS: parameter}, folder, Argument{Value: value, Marked: true})
	}
}

func TestTooManyArguments(t *testing.T) {
	args := slices.Repeat([]Argument{{Pointer: "/paths/0", Value: "a"}}, maxNamed+1)
	top := lay(t, map[string]string{"a": "A"})
	p := &Policy{FS: FSPolicy{Read: Access{Parameter: true}}}
	grant(t, p, top, args...)
	args[maxNamed].Marked = true
	if _, err := p.Resolve(top, args); err == nil {
		t.Error("no limit")
	}
}

// TestCostlyArguments names places by paths that go to and fro, which would take minutes.
func TestCostlyArguments(t *testing.T) {
	top := lay(t, map[string]string{"d/": "", "a": "A", "b": "B"})
	p := &Policy{FS: FSPolicy{Read: Access{Parameter: true}}}
	for _, costly := range []string{strings.Repeat("d/../", 800) + "a", strings.Repeat("../", 1300), "/" + strings.Repeat("x/", 2000)} {
		args := slices.Repeat([]Argument{{Pointer: "/paths/0", Value: costly}}, maxNamed-1)
		args = append([]Argument{{Pointer: "/first", Value: "b"}}, args...)
		f := grant(t, p, top, args...).FS()
		if got, err := readText(f, "b"); err != nil || got != "B" {
			t.Errorf("what was named first gave %q, %v", got, err)
		}
		if !strings.HasPrefix(costly, "d/") {
			continue // it lies outside
		}
		for i := range args {
			args[i].Marked = true
		}
		_, err := p.Resolve(top, args)
		var wrong *ArgumentError
		if !errors.As(err, &wrong) || !strings.Contains(wrong.Reason, "at most 100000 names together") {
			t.Errorf("got %v", err)
		}
	}
}

func TestGrantEndsWithItsCall(t *testing.T) {
	top := lay(t, map[string]string{"a": "A", "b": "B"})
	p := everything()
	p.Env = []string{"TOOLHOST_TEST_ENDS"}
	t.Setenv("TOOLHOST_TEST_ENDS", "x")
	g := grant(t, p, top)
	f := g.FS()
	open, err := f.OpenFile("a", syscall.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	staged, err := f.OpenFile("b", syscall.O_WRONLY|syscall.O_TRUNC|syscall.O_CREAT, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := staged.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	g.Revoke()
	g.Revoke()
	for op, err := range everyAct(f, "a", "b") {
		var d *DeniedError
		if !errors.As(err, &d) || d.Reason != "the call has ended" {
			t.Errorf("%s: %v", op, err)
		}
	}
	for op, err := range everyAct(g.FS(), "../x", "b") {
		var d *DeniedError
		if !errors.As(err, &d) || d.Reason != "the call has ended" {
			t.Errorf("%s: %v", op, err)
		}
	}
	buf := make([]byte, 1)
	for op, act := range map[string]func(*File) error{
		"Read":     func(f *File) error { _, err := f.Read(buf); return err },
		"ReadAt":   func(f *File) error { _, err := f.ReadAt(buf, 0); return err },
		"Write":    func(f *File) error { _, err := f.Write(buf); return err },
		"WriteAt":  func(f *File) error { _, err := f.WriteAt(buf, 0); return err },
		"Seek":     func(f *File) error { _, err := f.Seek(0, 0); return err },
		"Stat":     func(f *File) error { _, err := f.Stat(); return err },
		"Truncate": func(f *File) error { return f.Truncate(0) },
		"Sync":     (*File).Sync,
		"Close":    (*File).Close,
	} {
		for _, file := range []*File{open, staged} {
			if err := act(file); !errors.Is(err, ErrDenied) {
				t.Errorf("%s after the end: %v", op, err)
			}
		}
	}
	if got := content(t, filepath.Join(top, "b")); got != "B" {
		t.Errorf("half a file was moved into place: %q", got)
	}
	noLeftovers(t, top)
	if _, ok := g.Env("TOOLHOST_TEST_ENDS"); ok {
		t.Error("the environment is still given")
	}
}

func TestEnv(t *testing.T) {
	t.Setenv("TOOLHOST_TEST_A", "1")
	t.Setenv("TOOLHOST_TEST_B", "")
	t.Setenv("TOOLHOST_TEST_SECRET", "s")
	g := grant(t, &Policy{Env: []string{"TOOLHOST_TEST_B", "TOOLHOST_TEST_A", "TOOLHOST_TEST_UNSET", "TOOLHOST_TEST_A"}}, "")
	if v, ok := g.Env("TOOLHOST_TEST_A"); v != "1" || !ok {
		t.Error(v, ok)
	}
	if v, ok := g.Env("TOOLHOST_TEST_B"); v != "" || !ok {
		t.Error(v, ok)
	}
	if _, ok := g.Env("TOOLHOST_TEST_SECRET"); ok {
		t.Error("a variable was given that is not granted")
	}
	if got := strings.Join(g.EnvNames(), " "); got != "TOOLHOST_TEST_A TOOLHOST_TEST_B" {
		t.Error(got)
	}
}

func TestRevokeWhileInUse(t *testing.T) {
	top := lay(t, map[string]string{"a": "A", "d/b": "B"})
	for range 50 {
		g := grant(t, everything(), top)
		f := g.FS()
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					if _, err := f.ReadFile("d/b", 0); err != nil {
						if !errors.Is(err, ErrDenied) {
							t.Error(err)
						}
						return
					}
					file, err := f.OpenFile("a", syscall.O_WRONLY|syscall.O_TRUNC, 0)
					if err != nil {
						continue
					}
					_, _ = file.Write([]byte("A"))
					if err := file.Close(); err != nil && !errors.Is(err, ErrDenied) {
						t.Error(err)
					}
				}
			})
		}
		g.Revoke()
		wg.Wait()
	}
	noLeftovers(t, top)
	if content(t, filepath.Join(top, "a")) != "A" {
		t.Error("half a file")
	}
}

func TestFolderAsNamed(t *testing.T) {
	top := lay(t, map[string]string{"real/a": "", "link": "-> real"})
	g := grant(t, everything(), filepath.Join(top, "link"))
	if g.Folder() != filepath.Join(top, "link") {
		t.Error(g.Folder())
	}
	if real, err := g.FS().RealPath("a"); real != filepath.Join(top, "real/a") || err != nil {
		t.Error(real, err)
	}
	if (*Grant)(nil).Folder() != "" {
		t.Error("a nil grant has a folder")
	}
}
