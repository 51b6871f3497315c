package permissions

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestOpenings(t *testing.T) {
	top := lay(t, map[string]string{
		"f/a.txt": "a", "f/id_rsa": "k", "f/docs/one.md": "1", "f/docs/.env": "s", "f/private/p.txt": "p", "f/private/deep/q.txt": "q",
		"f/link.txt": "-> a.txt", "f/mixed/inner/x.md": "x", "plugin/main.js": "m",
	})
	for name, c := range map[string]struct {
		fs   FSPolicy
		args []string
		hide bool
		want Openings // below top
	}{
		"nothing":   {want: Openings{Trees: []string{"plugin"}}},
		"parameter": {fs: FSPolicy{Read: Access{Parameter: true}}, args: []string{"link.txt", "docs/one.md"}, want: Openings{Trees: []string{"plugin"}, Files: []string{"f/a.txt", "f/docs/one.md"}}},
		"a glob":    {fs: FSPolicy{Read: Access{Paths: []string{"docs/**"}, Deny: []string{"**/.env"}}}, want: Openings{Trees: []string{"plugin"}, Files: []string{"f/docs/one.md"}, Folders: []string{"f/docs"}}},
		"hidden":    {fs: FSPolicy{Read: Access{Folder: true, Deny: []string{"private"}}}, hide: true, want: Openings{Trees: []string{"plugin"}, Files: []string{"f/a.txt", "f/docs/.env", "f/docs/one.md", "f/mixed/inner/x.md"}, Folders: []string{"f"}, Hidden: []string{"f/private"}}},
		"unlisted":  {fs: FSPolicy{Read: Access{Folder: true, Deny: []string{"private"}}}, want: Openings{Trees: []string{"plugin"}, Files: []string{"f/a.txt", "f/docs/.env", "f/docs/one.md", "f/mixed/inner/x.md"}, Folders: []string{"f/docs", "f/mixed"}, Unlisted: []string{"f"}}},
		// What may be read there cannot be hidden.
		"not hidden": {fs: FSPolicy{Read: Access{Paths: []string{"mixed/inner/x.md"}}, List: &Access{Folder: true, Deny: []string{"mixed/inner"}}}, hide: true, want: Openings{Trees: []string{"plugin"}, Files: []string{"f/mixed/inner/x.md"}, Folders: []string{"f/docs", "f/private"}, Unlisted: []string{"f", "f/mixed"}}},
	} {
		policy := &Policy{FS: c.fs, Root: filepath.Join(top, "plugin")}
		var args []Argument
		for _, a := range c.args {
			args = append(args, Argument{Value: a})
		}
		g := grant(t, policy, filepath.Join(top, "f"), args...)
		got, err := g.Openings(100, c.hide)
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range []*[]string{&got.Files, &got.Trees, &got.Folders, &got.Hidden, &got.Unlisted} {
			for i, path := range *list {
				(*list)[i] = strings.TrimPrefix(path, top+"/")
			}
			if len(*list) == 0 {
				*list = nil
			}
		}
		if !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%s: got %+v, want %+v", name, *got, c.want)
		}
	}
	g := grant(t, &Policy{FS: FSPolicy{Read: Access{Folder: true}}}, filepath.Join(top, "f"))
	var many *TooManyError
	if _, err := g.Openings(3, false); !errors.As(err, &many) || many.Limit != 3 {
		t.Errorf("got %v", err)
	}
	if o, err := (*Grant)(nil).Openings(3, false); err != nil || len(o.Files)+len(o.Trees) > 0 {
		t.Errorf("no grant opens %+v, %v", o, err)
	}
}

func TestTarget(t *testing.T) {
	top := lay(t, map[string]string{"f/a.txt": "a", "f/link.txt": "-> a.txt", "f/out": "-> ../o", "o/o.txt": "o", "plugin/main.js": "m"})
	policy := &Policy{FS: FSPolicy{Write: Access{Folder: true}}, Root: filepath.Join(top, "plugin")}
	g := grant(t, policy, filepath.Join(top, "f"))
	for name, want := range map[string]string{
		"a.txt": "f/a.txt", "link.txt": "f/a.txt", "new.txt": "f/new.txt", "x/y/new.txt": "f/x/y/new.txt", ".": "f",
		"../o/o.txt": "", "out/o.txt": "", ".git/config": "", "../plugin/main.js": "", "a.txt/b": "", "": "",
	} {
		got, err := g.FS().Target(name)
		if (err != nil) != (want == "") || strings.TrimPrefix(got, top+"/") != want {
			t.Errorf("%q: got %q, %v", name, got, err)
		}
	}
	if !g.WritesFreely() || grant(t, &Policy{FS: FSPolicy{Write: Access{Parameter: true}}}, top).WritesFreely() || (*Grant)(nil).WritesFreely() {
		t.Error("who writes freely is not told")
	}
}

func TestAbandon(t *testing.T) {
	top := lay(t, map[string]string{"a.txt": "a"})
	g := grant(t, &Policy{FS: FSPolicy{Write: Access{Folder: true}}}, top)
	f, err := g.FS().OpenFile("a.txt", os.O_WRONLY|os.O_TRUNC, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("half")); err != nil {
		t.Fatal(err)
	}
	f.Abandon()
	f.Abandon()
	if text, err := os.ReadFile(filepath.Join(top, "a.txt")); err != nil || string(text) != "a" {
		t.Errorf("got %q, %v", text, err)
	}
	if entries, err := os.ReadDir(top); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}
