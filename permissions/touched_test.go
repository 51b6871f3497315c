package permissions

import (
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"testing"
)

func TestTouched(t *testing.T) {
	folder := lay(t, map[string]string{"a.txt": "a", "dir/b.txt": "b", "dir/c.txt": "c", "closed/d.txt": "d", "open/e.txt": "e"})
	t.Setenv("TOUCHED_TEST", "1")
	policy := &Policy{
		FS: FSPolicy{
			Read:  Access{Folder: true, Deny: []string{"closed/**"}},
			Write: Access{Paths: []string{"dir/**", "new.txt"}},
		},
		Fetch: HostPolicy{Static: []string{"*.example.org"}, Settings: []string{"p.url"}},
		Env:   []string{"TOUCHED_TEST", "NEVER_READ"}, Store: true,
		Root: lay(t, map[string]string{"own.txt": "o"}),
	}
	g := grant(t, policy, folder)
	g.Record()
	f := g.FS()
	for range 2 { // each is noted once
		_, _ = f.ReadFile("a.txt", 0)
		_, _ = f.ReadFile("closed/d.txt", 0)
		_ = f.WriteFile("new.txt", nil, 0)
	}
	_ = f.MayWriteFile("dir/never.txt")
	_ = f.WriteFile("a.txt", nil, 0)
	_ = f.Rename("dir/b.txt", "dir/z.txt")
	_ = f.WalkDir(".", func(string, fs.DirEntry, error) error { return nil })
	_, _ = f.ReadFile("missing.txt", 0)
	if file, err := f.OpenFile("dir/c.txt", os.O_RDWR, 0); err == nil {
		_ = file.Close()
	}
	_, _ = g.Env("TOUCHED_TEST")
	_, _ = g.Env("HOME")
	_, _ = g.Fetch().Check(t.Context(), "api.example.org", 443)
	_, _ = g.Fetch().Check(t.Context(), "other.test", 443)
	got := g.Touched()
	denied := []string{}
	for _, d := range got.Denied {
		denied = append(denied, d.Op+" "+d.Target)
	}
	for name, c := range map[string]struct{ got, want []string }{
		"read":    {got.Read, []string{"a.txt", "dir/b.txt", "dir/c.txt"}},
		"written": {got.Written, []string{"new.txt", "dir/b.txt", "dir/z.txt", "dir/c.txt"}},
		"env":     {got.Env, []string{"TOUCHED_TEST"}},
		"fetched": {got.Fetched, []string{"api.example.org"}},
		"used":    {got.Used, []string{"fs.read", "fs.write", "env TOUCHED_TEST", "fetch *.example.org"}},
		"denied":  {denied, []string{"read closed/d.txt", "write a.txt", "fetch other.test"}},
		"granted": {policy.Granted(), []string{"fs.read", "fs.write", "fetch *.example.org", "fetch setting p.url", "env TOUCHED_TEST", "env NEVER_READ", "store"}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %q, want %q", name, c.got, c.want)
		}
	}
	if got.Denied[0].Reason == "" {
		t.Errorf("no reason: %+v", got.Denied[0])
	}
	other := grant(t, policy, folder)
	other.Record()
	other.Merge(got)
	if merged := other.Touched(); !reflect.DeepEqual(merged.Read, got.Read) || !reflect.DeepEqual(merged.Denied, got.Denied) || !reflect.DeepEqual(merged.Used, got.Used) {
		t.Errorf("merged: %+v", merged)
	}
}

// TestTouchedIsBounded touches more than is remembered.
func TestTouchedIsBounded(t *testing.T) {
	g := grant(t, everything(), lay(t, nil))
	g.Record()
	for i := range maxTouched + 5 {
		_ = g.FS().WriteFile(fmt.Sprint(i), nil, 0)
		_, _ = g.Fetch().Check(t.Context(), fmt.Sprintf("h%d.test", i), 443)
	}
	got := g.Touched()
	if len(got.Written) != maxTouched || len(got.Denied) != maxTouched || got.More != 10 {
		t.Errorf("%d written, %d denied, %d more", len(got.Written), len(got.Denied), got.More)
	}
	var none *Grant
	none.Record()
	none.Merge(got)
	none.Use("store")
	none.Refuse(ErrDenied)
	if none.Touched() != nil || grant(t, everything(), "").Touched() != nil {
		t.Error("what was not asked for is noted")
	}
}
