package pack

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		mode := fs.FileMode(0o600)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o700
		}
		if err := os.WriteFile(at, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
}

// names gives all that is in a folder, with a mark for what can be executed.
func names(t *testing.T, dir string) []string {
	t.Helper()
	list := []string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == dir {
			return err
		}
		rel, _ := filepath.Rel(dir, p)
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode()&(fs.ModeSymlink|fs.ModeSetuid|fs.ModeSetgid) != 0 {
			t.Errorf("%s has the mode %s", rel, info.Mode())
		}
		switch {
		case d.IsDir():
			rel += "/"
		case info.Mode()&0o111 != 0:
			rel += "*"
		}
		list = append(list, filepath.ToSlash(rel))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

var plugin = map[string]string{
	"filer-plugin.json": `{"name":"p"}`, "lib/a.js": "1", "run.sh": "#!/bin/sh\n", "node_modules/x/index.js": "2", "ü.txt": "ü",
	".git/config": "secret", ".env": "secret", "lib/.cache/x": "x",
}

func TestRoundTrip(t *testing.T) {
	from, other := t.TempDir(), t.TempDir()
	write(t, from, plugin)
	write(t, other, plugin)
	if err := os.Chtimes(filepath.Join(other, "run.sh"), time.Unix(5, 0), time.Unix(5, 0)); err != nil {
		t.Fatal(err)
	}
	var first, second bytes.Buffer
	tree, err := Write(&first, from, "p")
	if err != nil {
		t.Fatal(err)
	}
	again, err := Write(&second, other, "p")
	if err != nil || again != tree || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("the same files are other bytes: %s, %s, %v", tree, again, err)
	}
	unpacked, copied := t.TempDir(), t.TempDir()
	if err := Unpack(&first, unpacked); err != nil {
		t.Fatal(err)
	}
	want := []string{"p/", "p/filer-plugin.json", "p/lib/", "p/lib/a.js", "p/node_modules/", "p/node_modules/x/", "p/node_modules/x/index.js", "p/run.sh*", "p/ü.txt"}
	if got := names(t, unpacked); !slices.Equal(got, want) {
		t.Errorf("unpacked %q", got)
	}
	if hash, err := Hash(filepath.Join(unpacked, "p")); hash != tree || err != nil {
		t.Errorf("the hash is %s, %v; packed was %s", hash, err, tree)
	}
	if hash, err := Copy(copied, from); hash != tree || err != nil {
		t.Errorf("the hash of the copy is %s, %v", hash, err)
	}
	for _, change := range []func(dir string) error{
		func(dir string) error { return os.WriteFile(filepath.Join(dir, "lib", "a.js"), []byte("3"), 0o600) },
		func(dir string) error { return os.Chmod(filepath.Join(dir, "lib", "a.js"), 0o755) },
		func(dir string) error { return os.Rename(filepath.Join(dir, "ü.txt"), filepath.Join(dir, "u.txt")) },
		func(dir string) error { return os.WriteFile(filepath.Join(dir, ".hidden"), nil, 0o600) },
		func(dir string) error { return os.Remove(filepath.Join(dir, "run.sh")) },
	} {
		dir := t.TempDir()
		if _, err := Copy(dir, from); err != nil {
			t.Fatal(err)
		}
		if err := change(dir); err != nil {
			t.Fatal(err)
		}
		if hash, err := Hash(dir); hash == tree || err != nil {
			t.Errorf("a change was not seen: %v", err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(copied, "link")); err != nil {
		t.Fatal(err)
	}
	if _, err := Write(io.Discard, copied, "p"); err == nil || !strings.Contains(err.Error(), `"link" is a symbolic link`) {
		t.Errorf("a link was packed: %v", err)
	}
}

type entry struct {
	tar.Header
	text string
}

func archive(t testing.TB, entries ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	zipped := gzip.NewWriter(&b)
	out := tar.NewWriter(zipped)
	for _, e := range entries {
		h := e.Header
		if h.Typeflag == 0 {
			h.Typeflag = tar.TypeReg
		}
		if h.Size == 0 {
			h.Size = int64(len(e.text))
		}
		if h.Mode == 0 && h.Typeflag != tar.TypeXGlobalHeader {
			h.Mode = 0o644
		}
		if err := out.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(out, e.text); err != nil {
			t.Fatal(err)
		}
	}
	_ = out.Close() // an entry may be shorter than it says
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func named(name string) entry { return entry{Header: tar.Header{Name: name}, text: "x"} }

func kind(name string, flag byte) entry {
	return entry{Header: tar.Header{Name: name, Typeflag: flag, Linkname: "/etc/passwd"}}
}

func TestHostileArchives(t *testing.T) {
	bomb := bytes.Repeat([]byte{0}, 1<<20)
	var b bytes.Buffer
	zipped, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	out := tar.NewWriter(zipped)
	if err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "bomb", Size: MaxBytes + 1<<20, Mode: 0o644}); err != nil {
		t.Fatal(err)
	}
	for range MaxBytes>>20 + 1 {
		if _, err := out.Write(bomb); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(out.Close(), zipped.Close()); err != nil {
		t.Fatal(err)
	}
	many := make([]entry, MaxEntries+1)
	for i := range many {
		many[i] = entry{Header: tar.Header{Name: "d", Typeflag: tar.TypeDir, Mode: 0o755}}
	}
	for name, test := range map[string]struct {
		archive []byte
		want    string
	}{
		"above":              {archive(t, named("../evil")), "leaves the folder"},
		"above, deeper":      {archive(t, named("a/../../evil")), "leaves the folder"},
		"absolute":           {archive(t, named("/tmp/evil")), "leaves the folder"},
		"backslash":          {archive(t, named(`a\..\evil`)), `has a \`},
		"drive":              {archive(t, named(`C:evil`)), `has a \ or :`},
		"hidden character":   {archive(t, named("a\u202ejs.exe")), "cannot be seen"},
		"no name":            {archive(t, named("")), "leaves the folder"},
		"symbolic link":      {archive(t, kind("l", tar.TypeSymlink), named("l/evil")), "is a link"},
		"hard link":          {archive(t, kind("l", tar.TypeLink)), "is a link"},
		"device":             {archive(t, kind("d", tar.TypeChar)), "neither a file nor a folder"},
		"block device":       {archive(t, kind("d", tar.TypeBlock)), "neither a file nor a folder"},
		"pipe":               {archive(t, kind("d", tar.TypeFifo)), "neither a file nor a folder"},
		"twice":              {archive(t, named("a"), named("a")), "stands twice"},
		"case":               {archive(t, named("a/B"), named("a/b")), "one name where case does not count"},
		"case of folders":    {archive(t, named("A/x"), named("a/y")), "one name where case does not count"},
		"case, Unicode":      {archive(t, named("k"), named("\u212a")), "one name where case does not count"},
		"file and folder":    {archive(t, named("a"), named("a/b")), "one name where"},
		"bomb":               {b.Bytes(), "more than 256 MiB"},
		"many":               {archive(t, many...), "more than 20000"},
		"deep":               {archive(t, named(strings.Repeat("d/", MaxDepth)+"f")), "folders deep"},
		"long":               {archive(t, named(strings.Repeat("n", MaxName+1))), "has more than"},
		"nothing":            {nil, "is empty"},
		"nothing in it":      {archive(t), "is empty"},
		"no archive":         {[]byte("<html>not found</html>"), "reading the archive"},
		"cut off":            {archive(t, named("a"))[:40], "reading the archive"},
		"shorter than it is": {archive(t, entry{Header: tar.Header{Name: "a", Size: 5000}, text: "x"}), "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			above := t.TempDir()
			dir := filepath.Join(above, "in")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			err := Unpack(bytes.NewReader(test.archive), dir)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
			for _, n := range names(t, above) {
				if strings.Contains(n, "evil") {
					t.Errorf("it wrote %s", n)
				}
			}
		})
	}
}

// TestCutOff cuts archives off after every byte: none of them is taken for the whole.
func TestCutOff(t *testing.T) {
	zipped := archive(t, named("filer-plugin.json"), named("h.js"))
	in, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	const end = 1024 // of a tar: two blocks of zeros
	for name, c := range map[string]struct {
		all  []byte
		step int
		last int // the last length that is too short
	}{
		"tgz": {zipped, 1, len(zipped) - 1},
		"tar": {plain, 64, len(plain) - end},
	} {
		for n := 0; n <= c.last; n += c.step {
			if err := Unpack(bytes.NewReader(c.all[:n]), t.TempDir()); err == nil {
				t.Errorf("the first %d of %d bytes of a .%s are taken for the whole", n, len(c.all), name)
			}
		}
		if err := Unpack(bytes.NewReader(c.all), t.TempDir()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	err = Unpack(bytes.NewReader(zipped[:len(zipped)-4]), t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "cut off after its last file") {
		t.Error(err)
	}
}

func TestUnpackLeavesOut(t *testing.T) {
	dir := t.TempDir()
	err := Unpack(bytes.NewReader(archive(t,
		entry{Header: tar.Header{Typeflag: tar.TypeXGlobalHeader, PAXRecords: map[string]string{"comment": "x"}}},
		entry{Header: tar.Header{Name: "./", Typeflag: tar.TypeDir, Mode: 0o755}},
		entry{Header: tar.Header{Name: "./p/", Typeflag: tar.TypeDir, Mode: 0o000}},
		entry{Header: tar.Header{Name: "p/run", Mode: 0o6755}, text: "x"},
		named("p/.npmrc"), named(".git/config"), named("./p/a.js"),
	)), dir)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := names(t, dir), []string{"p/", "p/a.js", "p/run*"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzUnpack: whatever an archive holds, nothing but files and folders comes of it, in the
// folder alone, and what it makes can be hashed.
func FuzzUnpack(f *testing.F) {
	f.Add(archive(f, named("a"), named("b/c")))
	f.Add(archive(f, kind("l", tar.TypeSymlink), named("../evil")))
	f.Fuzz(func(t *testing.T, data []byte) {
		above := t.TempDir()
		dir := filepath.Join(above, "in")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		err := Unpack(bytes.NewReader(data), dir)
		for _, n := range names(t, above) {
			if n != "in/" && !strings.HasPrefix(n, "in/") {
				t.Errorf("it wrote %s", n)
			}
		}
		if err != nil {
			return
		}
		if _, err := Hash(dir); err != nil {
			t.Error(err)
		}
	})
}

func TestCompare(t *testing.T) {
	old, now := t.TempDir(), t.TempDir()
	write(t, old, map[string]string{"same": "1", "other": "1", "gone": "1", "mode": "1"})
	write(t, now, map[string]string{"same": "1", "other": "2", "new/file": "1", "mode": "1"})
	if err := os.Chmod(filepath.Join(now, "mode"), 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := Compare(old, now)
	want := []Change{{"gone", "removed"}, {"mode", "changed"}, {"new/file", "added"}, {"other", "changed"}}
	if !slices.Equal(got, want) || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := Compare(old, filepath.Join(now, "nowhere")); err == nil {
		t.Error("a folder that is not there was compared")
	}
}
