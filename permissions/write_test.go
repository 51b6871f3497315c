package permissions

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestWrites(t *testing.T) {
	top := lay(t, map[string]string{"f/a": "old", "f/sub/": "", "f/link": "-> sub/target", "f/out": "-> ../outside", "f/dangling": "-> ../outside", "f/full/x": ""})
	folder := filepath.Join(top, "f")
	f := grant(t, everything(), folder).FS()
	if err := os.Chmod(filepath.Join(folder, "a"), 0o750); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(filepath.Join(folder, "a"))
	if err != nil {
		t.Fatal(err)
	}
	steps := []struct {
		label string
		err   error
		want  string
	}{
		{"replace", f.WriteFile("a", []byte("new"), 0o600), "ok"},
		{"make", f.WriteFile("sub/new", []byte("made"), 0o640), "ok"},
		{"through a link", f.WriteFile("link", []byte("linked"), 0), "ok"},
		{"into a folder", f.WriteFile("sub", nil, 0), "EISDIR"},
		{"the folder itself", f.WriteFile(".", nil, 0), "EISDIR"},
		{"a folder's spelling", f.WriteFile("fresh/", nil, 0), "EISDIR"},
		{"append to a folder's spelling", f.AppendFile("fresh/", nil, 0), "EISDIR"},
		{"no folder for it", f.WriteFile("none/x", nil, 0), "ENOENT"},
		{"a file for a folder", f.WriteFile("a/x", nil, 0), "ENOTDIR"},
		{"a link that leads out", f.WriteFile("out", nil, 0), "denied"},
		{"append", f.AppendFile("a", []byte("+"), 0), "ok"},
		{"append to a new file", f.AppendFile("sub/log", []byte("1"), 0), "ok"},
		{"append to a folder", f.AppendFile("sub", nil, 0), "EISDIR"},
		{"truncate", f.Truncate("sub/new", 2), "ok"},
		{"truncate below zero", f.Truncate("sub/new", -1), "EINVAL"},
		{"truncate nothing", f.Truncate("none", 0), "ENOENT"},
		{"mkdir", f.Mkdir("d", 0o700), "ok"},
		{"mkdir again", f.Mkdir("d", 0), "EEXIST"},
		{"mkdir over a link", f.Mkdir("out", 0), "EEXIST"},
		{"mkdir below nothing", f.Mkdir("x/y", 0), "ENOENT"},
		{"chmod", f.Chmod("sub/new", 0o4600), "ok"},
		{"chtimes", f.Chtimes("sub/new", time.Unix(1, 0), time.Unix(2, 0)), "ok"},
		{"remove a full folder", f.Remove("full"), "ENOTEMPTY"},
		{"remove", f.Remove("full/x"), "ok"},
		{"remove an empty folder", f.Remove("full"), "ok"},
		{"remove a link", f.Remove("dangling"), "ok"},
		{"remove nothing", f.Remove("none"), "ENOENT"},
		{"remove the folder", f.Remove("."), "denied"},
		{"remove it all", f.RemoveAll("."), "denied"},
		{"remove it by its path", f.RemoveAll(folder), "denied"},
		{"move the folder", f.Rename(".", "sub/e"), "denied"},
		{"symlink", f.Symlink("a", "s"), "denied"},
	}
	for _, s := range steps {
		if got := outcome(s.err); got != s.want {
			t.Errorf("%s: %s (%v), want %s", s.label, got, s.err, s.want)
		}
	}
	for name, want := range map[string]string{"a": "new+", "sub/new": "ma", "sub/target": "linked", "sub/log": "1"} {
		if got := content(t, filepath.Join(folder, name)); got != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
	}
	after, err := os.Stat(filepath.Join(folder, "a"))
	if err != nil || after.Mode() != 0o750 || os.SameFile(before, after) {
		t.Errorf("a was not replaced with its mode kept: %v %v", after.Mode(), err)
	}
	if info, err := os.Stat(filepath.Join(folder, "sub/new")); err != nil || info.Mode() != 0o600 || !info.ModTime().Equal(time.Unix(2, 0)) {
		t.Errorf("%v %v %v", info.Mode(), info.ModTime(), err)
	}
	if _, err := os.Lstat(filepath.Join(top, "outside")); err == nil {
		t.Error("something was made outside")
	}
	if _, err := os.Lstat(filepath.Join(folder, "link")); err != nil {
		t.Error("the link was replaced")
	}
	noLeftovers(t, top)
}

func TestMkdirAll(t *testing.T) {
	top := lay(t, map[string]string{"f/a": "", "f/in": "-> sub", "f/sub/": "", "f/out": "-> ../outside", "f/.git/": "", "outside/": ""})
	folder := filepath.Join(top, "f")
	f := grant(t, everything(), folder).FS()
	for _, tt := range []struct{ name, first, want string }{
		{"x/y/z", "x", "ok"},
		{"x/y/z", "", "ok"},
		{"x//y2/./w/", "x//y2", "ok"},
		{"in/deep/er", "in/deep", "ok"},
		{filepath.Join(folder, "abs/olute"), filepath.Join(folder, "abs"), "ok"},
		{"sub", "", "ok"},
		{".", "", "ok"},
		{"", "", "ENOENT"},
		{"a", "", "EEXIST"},
		{"a/b", "", "ENOTDIR"},
		{"out/x/y", "", "denied"},
		{"../x/y", "", "denied"},
		{".git/x/y", "", "denied"},
		{"new/.git/x", "", "denied"},
	} {
		first, err := f.MkdirAll(tt.name, 0)
		if outcome(err) != tt.want || first != tt.first {
			t.Errorf("%s: %q, %v; want %q, %s", tt.name, first, err, tt.first, tt.want)
		}
	}
	for _, name := range []string{"f/x/y/z", "f/x/y2/w", "f/sub/deep/er", "f/abs/olute"} {
		if info, err := os.Stat(filepath.Join(top, name)); err != nil || !info.IsDir() {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"outside/x", "x", "f/.git/x", "f/new"} {
		if _, err := os.Stat(filepath.Join(top, name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
	temp, err := f.MkdirTemp("sub/t-")
	if err != nil || !strings.HasPrefix(temp, "sub/t-") || len(temp) != len("sub/t-")+6 {
		t.Error(temp, err)
	}
}

func TestMissingFoldersAreMadeOnlyTowardsWhatMayBeWritten(t *testing.T) {
	top := lay(t, map[string]string{"a": ""})
	f := grant(t, &Policy{FS: FSPolicy{Write: Access{Paths: []string{"out/deep/**"}, Deny: []string{"out/deep/no"}}}}, top).FS()
	if first, err := f.MkdirAll("out/deep/x", 0); first != "out" || err != nil {
		t.Error(first, err)
	}
	for _, name := range []string{"out/deep/no/x", "other", "other/deep", "out/x"} {
		if _, err := f.MkdirAll(name, 0); outcome(err) != "denied" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHardLinks(t *testing.T) {
	top := lay(t, map[string]string{"f/a": "text", "f/b": "text", "outside/secret": "SECRET"})
	if err := os.Link(filepath.Join(top, "outside/secret"), filepath.Join(top, "f/hard")); err != nil {
		t.Fatal(err)
	}
	f := grant(t, everything(), filepath.Join(top, "f")).FS()
	for label, err := range map[string]error{
		"append":    f.AppendFile("hard", []byte("x"), 0),
		"truncate":  f.Truncate("hard", 0),
		"chmod":     f.Chmod("hard", 0),
		"chtimes":   f.Chtimes("hard", time.Now(), time.Now()),
		"open r+":   second(f.OpenFile("hard", os.O_RDWR, 0)),
		"open a":    second(f.OpenFile("hard", os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0)),
		"open w, c": second(f.OpenFile("hard", os.O_WRONLY|os.O_CREATE, 0)),
	} {
		if outcome(err) != "denied" || !strings.Contains(err.Error(), "hard link") {
			t.Errorf("%s: %v", label, err)
		}
	}
	if err := f.WriteFile("hard", []byte("mine"), 0); err != nil {
		t.Error(err)
	}
	if content(t, filepath.Join(top, "outside/secret")) != "SECRET" || content(t, filepath.Join(top, "f/hard")) != "mine" {
		t.Error("the file outside was changed, or the one inside was not")
	}
	if err := f.Link("a", "a2"); err != nil || content(t, filepath.Join(top, "f/a2")) != "text" {
		t.Error(err)
	}
	for to, want := range map[string]string{"b": "EEXIST", "CLAUDE.md": "denied", "../x": "denied", "none/x": "ENOENT"} {
		if err := f.Link("a", to); outcome(err) != want {
			t.Errorf("link to %s: %v", to, err)
		}
	}
	if err := f.Link("../outside/secret", "s"); outcome(err) != "denied" {
		t.Error(err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestSpecialFiles(t *testing.T) {
	top := lay(t, map[string]string{"f/a": "", "f/link": "-> pipe"})
	folder := filepath.Join(top, "f")
	if err := syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o666); err != nil {
		t.Fatal(err)
	}
	f := grant(t, everything(), folder).FS()
	// Each of these would wait for ever if it opened the pipe.
	for label, err := range map[string]error{
		"read":      second(f.ReadFile("pipe", 0)),
		"link":      second(f.ReadFile("link", 0)),
		"write":     f.WriteFile("pipe", nil, 0),
		"append":    f.AppendFile("pipe", nil, 0),
		"truncate":  f.Truncate("pipe", 0),
		"open r":    second(f.OpenFile("pipe", os.O_RDONLY, 0)),
		"open w":    second(f.OpenFile("pipe", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0)),
		"open rw":   second(f.OpenFile("pipe", os.O_RDWR, 0)),
		"access":    f.Access("pipe", true, true),
		"chmod":     f.Chmod("pipe", 0o600),
		"chtimes":   f.Chtimes("pipe", time.Now(), time.Now()),
		"hard link": f.Link("pipe", "pipe2"),
	} {
		if outcome(err) != "denied" || !strings.Contains(err.Error(), "a named pipe") {
			t.Errorf("%s: %v", label, err)
		}
	}
	if info, err := f.Stat("pipe"); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		t.Error(info, err)
	}
	if err := second(f.ReadDir("pipe")); outcome(err) != "ENOTDIR" {
		t.Error(err)
	}
	if _, err := f.ReadFile("pipe/x", 0); outcome(err) != "ENOTDIR" {
		t.Error(err)
	}
	if err := f.Remove("pipe"); err != nil {
		t.Error(err)
	}
}

func TestRename(t *testing.T) {
	layout := map[string]string{
		"f/a": "A", "f/b": "B", "f/d/x": "X", "f/d/y": "Y", "f/empty/": "", "f/full/z": "", "f/link": "-> a", "f/sub/": "", "f/.git/config": "",
		"f/w/workflows/ci.yml": "", "f/env/.env": "E", "f/certs/server.pem": "P", "f/zone/secret": "S", "f/keys/deep/id_rsa": "",
	}
	policy := everything()
	policy.FS.Read.Deny = []string{"zone/secret"}
	policy.FS.Write.Deny = []string{"**/.env"}
	for _, tt := range []struct{ from, to, want, is, holds string }{
		{"a", "c", "ok", "c", "A"},
		{"a", "b", "ok", "b", "A"},
		{"a", "sub/a", "ok", "sub/a", "A"},
		{"d", "sub/e", "ok", "sub/e/x", "X"},
		{"d", "empty", "ok", "empty/x", "X"},
		{"link", "sub/l", "ok", "a", "A"},
		{"d", "full", "ENOTEMPTY", "d/x", "X"},
		{"a", "d", "EISDIR", "a", "A"},
		{"d", "a", "ENOTDIR", "a", "A"},
		{"d", "d/in", "EINVAL", "d/x", "X"},
		{"a", "new/", "ENOTDIR", "a", "A"},
		{"none", "c", "ENOENT", "a", "A"},
		{"a", "none/c", "ENOENT", "a", "A"},
		{"a", "CLAUDE.md", "denied", "a", "A"},
		{"a", ".git/config", "denied", "a", "A"},
		{".git", "git", "denied", "a", "A"},
		{"d", ".git", "denied", "d/x", "X"},
		{"w", ".github", "denied", "a", "A"},
		{"env", "e2", "denied", "env/.env", "E"},
		{"env/.env", "open", "denied", "env/.env", "E"},
		{"zone", "open", "denied", "zone/secret", "S"},
		{"certs", "sub/certs", "ok", "sub/certs/server.pem", "P"},
		{"certs/server.pem", "server.txt", "denied", "certs/server.pem", "P"},
		{"a", "../x", "denied", "a", "A"},
		{"../x", "a", "denied", "a", "A"},
		{"a", ".", "denied", "a", "A"},
	} {
		folder := filepath.Join(lay(t, layout), "f")
		f := grant(t, policy, folder).FS()
		err := f.Rename(tt.from, tt.to)
		got := outcome(err)
		if got == "EEXIST" {
			got = "ENOTEMPTY"
		}
		if got != tt.want {
			t.Errorf("%s to %s: %v, want %s", tt.from, tt.to, err, tt.want)
		}
		if c := content(t, filepath.Join(folder, tt.is)); c != tt.holds {
			t.Errorf("%s to %s: %s holds %q", tt.from, tt.to, tt.is, c)
		}
	}
	f := grant(t, &Policy{FS: FSPolicy{Write: Access{Folder: true}}}, filepath.Join(lay(t, layout), "f")).FS()
	if err := f.Rename("a", "c"); outcome(err) != "denied" {
		t.Errorf("moved without a right to read: %v", err)
	}
}

func TestRemoveAll(t *testing.T) {
	top := lay(t, map[string]string{
		"f/d/x": "", "f/d/deep/er/y": "", "f/d/link": "-> ../../outside", "f/one": "", "f/link": "-> d2", "f/d2/x": "",
		"f/repo/.git/config": "C", "f/repo/src/a": "A", "f/locked/deep/.env": "E", "f/locked/a": "A", "outside/keep": "K",
	})
	folder := filepath.Join(top, "f")
	policy := everything()
	policy.FS.Write.Deny = []string{"**/.env"}
	f := grant(t, policy, folder).FS()
	for name, want := range map[string]string{"d": "ok", "one": "ok", "none": "ok", "link": "ok", "repo": "denied", "locked": "denied", "../outside": "denied"} {
		if err := f.RemoveAll(name); outcome(err) != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	for name, want := range map[string]string{"f/repo/src/a": "A", "f/repo/.git/config": "C", "f/locked/a": "A", "f/locked/deep/.env": "E", "outside/keep": "K"} {
		if got := content(t, filepath.Join(top, name)); got != want {
			t.Errorf("%s holds %q", name, got)
		}
	}
	entries, err := f.ReadDir(".")
	if got := entryNames(entries); got != "d2 locked repo" || err != nil {
		t.Error(got, err)
	}
	// By a glob that does not cover what is in a folder, the folder cannot be emptied.
	f = grant(t, &Policy{FS: FSPolicy{Write: Access{Paths: []string{"d*"}}}}, folder).FS()
	if err := f.RemoveAll("d2"); outcome(err) != "denied" {
		t.Error(err)
	}
}

// TestWriteFailsWhole runs its work in a process of its own: the limit on the size of
// files that makes the write fail holds for everything that the process writes.
func TestWriteFailsWhole(t *testing.T) {
	const inside = "TOOLHOST_TEST_SMALL_FILES"
	if os.Getenv(inside) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestWriteFailsWhole$")
		cmd.Env = append(os.Environ(), inside+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	top := lay(t, map[string]string{"a": "old"})
	f := grant(t, everything(), top).FS()
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 4096, Max: 4096}); err != nil {
		t.Fatal(err)
	}
	if err := f.WriteFile("a", make([]byte, 100_000), 0); err == nil {
		t.Error("a write over the limit went well")
	}
	if got := content(t, filepath.Join(top, "a")); got != "old" {
		t.Errorf("%.20q", got)
	}
	noLeftovers(t, top)
}

func TestReadOnlyFilesStaySo(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Log("the superuser may write everything; only the mode is checked")
	}
	top := lay(t, map[string]string{"a": "old"})
	if err := os.Chmod(filepath.Join(top, "a"), 0o444); err != nil {
		t.Fatal(err)
	}
	f := grant(t, everything(), top).FS()
	err := f.WriteFile("a", []byte("new"), 0)
	if os.Geteuid() != 0 && outcome(err) != "EACCES" {
		t.Errorf("a read-only file was replaced: %v", err)
	}
	if info, err := os.Stat(filepath.Join(top, "a")); err != nil || info.Mode().Perm() != 0o444 {
		t.Error(info.Mode(), err)
	}
}

func TestOpenFile(t *testing.T) {
	top := lay(t, map[string]string{"f/a": "abcdef", "f/d/": "", "f/link": "-> a", "f/dangling": "-> none", "f/out": "-> ../x"})
	folder := filepath.Join(top, "f")
	f := grant(t, everything(), folder).FS()
	open := func(name string, flag int) *File {
		t.Helper()
		file, err := f.OpenFile(name, flag, 0)
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	for _, tt := range []struct {
		name string
		flag int
		want string
	}{
		{"none", os.O_RDONLY, "ENOENT"},
		{"none", os.O_RDWR, "ENOENT"},
		{"none", os.O_WRONLY | os.O_TRUNC, "ENOENT"},
		{"a", os.O_WRONLY | os.O_CREATE | os.O_EXCL, "EEXIST"},
		{"dangling", os.O_WRONLY | os.O_CREATE | os.O_EXCL, "EEXIST"},
		{"out", os.O_WRONLY | os.O_CREATE, "denied"},
		{"d", os.O_RDWR, "EISDIR"},
		{"d", os.O_WRONLY | os.O_CREATE | os.O_TRUNC, "EISDIR"},
		{"a", os.O_RDONLY | os.O_TRUNC, "EINVAL"},
		{"a", os.O_RDONLY | os.O_CREATE, "EINVAL"},
		{"a", os.O_RDONLY | 1<<30, "EINVAL"},
		{".git/x", os.O_WRONLY | os.O_CREATE, "denied"},
	} {
		file, err := f.OpenFile(tt.name, tt.flag, 0)
		if outcome(err) != tt.want || file != nil {
			t.Errorf("%s %#x: %v, want %s", tt.name, tt.flag, err, tt.want)
		}
	}
	if got := content(t, filepath.Join(folder, "a")); got != "abcdef" {
		t.Errorf("opening alone changed it to %q", got)
	}

	w := open("a", os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	for _, text := range []string{"12", "34"} {
		if n, err := w.Write([]byte(text)); n != 2 || err != nil {
			t.Fatal(n, err)
		}
	}
	if got := content(t, filepath.Join(folder, "a")); got != "abcdef" {
		t.Errorf("half a file shows: %q", got)
	}
	if at, err := w.Seek(0, 0); at != 0 || err != nil {
		t.Fatal(at, err)
	}
	buf := make([]byte, 8)
	if n, err := w.Read(buf); string(buf[:n]) != "1234" || err != nil {
		t.Error(n, err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := content(t, filepath.Join(folder, "a")); got != "1234" {
		t.Errorf("%q", got)
	}
	if err := w.Close(); outcome(err) != "EBADF" {
		t.Error(err)
	}
	if _, err := w.Read(buf); outcome(err) != "EBADF" {
		t.Error(err)
	}

	rw := open("link", os.O_RDWR)
	if _, err := rw.WriteAt([]byte("X"), 1); err != nil {
		t.Error(err)
	}
	if n, err := rw.ReadAt(buf[:2], 2); n != 2 || string(buf[:2]) != "34" || err != nil {
		t.Error(n, err)
	}
	if _, err := rw.ReadAt(buf, -1); outcome(err) != "EINVAL" {
		t.Error(err)
	}
	if err := rw.Truncate(3); err != nil {
		t.Error(err)
	}
	if err := rw.Sync(); err != nil {
		t.Error(err)
	}
	if info, err := rw.Stat(); err != nil || info.Size() != 3 {
		t.Error(info, err)
	}
	if err := rw.Close(); err != nil {
		t.Error(err)
	}

	a := open("a", os.O_WRONLY|os.O_APPEND|os.O_CREATE)
	if _, err := a.WriteAt([]byte("!"), 0); err != nil {
		t.Error(err)
	}
	if _, err := a.Write([]byte("?")); err != nil {
		t.Error(err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if got := content(t, filepath.Join(folder, "a")); got != "1X3!?" {
		t.Errorf("%q", got)
	}

	r := open("a", os.O_RDONLY)
	if _, err := r.Write([]byte("x")); err == nil {
		t.Error("wrote to a file that was opened for reading")
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	d := open("d", os.O_RDONLY)
	if _, err := d.Read(buf); outcome(err) != "EISDIR" {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	noLeftovers(t, top)
}

func TestOpenFileNeedsWhatItDoes(t *testing.T) {
	top := lay(t, map[string]string{"a": "A"})
	onlyWrite := grant(t, &Policy{FS: FSPolicy{Write: Access{Folder: true}}}, top).FS()
	onlyRead := grant(t, &Policy{FS: FSPolicy{Read: Access{Folder: true}}}, top).FS()
	for _, tt := range []struct {
		flag        int
		write, read string
	}{
		{os.O_RDONLY, "denied", "ok"},
		{os.O_RDWR, "denied", "denied"},
		{os.O_RDWR | os.O_APPEND | os.O_CREATE, "denied", "denied"},
		{os.O_WRONLY, "ok", "denied"},
		{os.O_WRONLY | os.O_APPEND, "ok", "denied"},
		{os.O_RDWR | os.O_CREATE | os.O_TRUNC, "ok", "denied"},
		{os.O_RDWR | os.O_CREATE | os.O_EXCL, "EEXIST", "denied"},
	} {
		if err := second(onlyWrite.OpenFile("a", tt.flag, 0)); outcome(err) != tt.write {
			t.Errorf("%#x with write: %v", tt.flag, err)
		}
		if err := second(onlyRead.OpenFile("a", tt.flag, 0)); outcome(err) != tt.read {
			t.Errorf("%#x with read: %v", tt.flag, err)
		}
	}
}

func TestSymlinkSaysWhatToDo(t *testing.T) {
	f := grant(t, everything(), t.TempDir()).FS()
	err := f.Symlink("a", "b")
	var d *DeniedError
	if !errors.As(err, &d) || !strings.Contains(err.Error(), "copy the file instead") {
		t.Error(err)
	}
}
