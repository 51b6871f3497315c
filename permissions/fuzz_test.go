package permissions

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzGrantCheck: whatever a path and the globs are, a file that could be opened lies in
// the agent's folder or the plugin's own after all links, and no deny rule closes it.
func FuzzGrantCheck(f *testing.F) {
	top := lay(f, map[string]string{
		"folder/a.md": "", "folder/docs/b.md": "", "folder/docs/deep/.env": "", "folder/.env": "", "folder/.ssh/id": "", "folder/x.pem": "",
		"folder/in": "-> docs", "folder/here": "-> .", "folder/out": "-> ../outside", "folder/root": "-> /", "folder/secretlink": "-> outside/../.env",
		"folder/e": "-> .env", "folder/abs": "-> {top}/folder/docs/deep", "folder/loop": "-> loop", "folder/to-plugin": "-> ../plugin",
		"outside/secret": "", "outside/back": "-> ../folder", "plugin/own.js": "", "plugin/to-folder": "-> ../folder", "folder-private/secret": "",
	})
	folder, plugin := filepath.Join(top, "folder"), filepath.Join(top, "plugin")
	for _, seed := range []struct {
		path, allow, deny, arg string
		write                  bool
	}{
		{"a.md", "**", "**/.env", "", false},
		{"here/in/../.env", "", ".env", "a.md", false},
		{"out/back/a.md", "docs/**", "", "", false},
		{"root{top}/folder/e", "**", "**/.ENV", "e", true},
		{"{top}/plugin/to-folder/.env", "**", ".env", "..", false},
		{"{top}/plugin/own.js", "", "", "", true},
		{"abs/.env", "**", "docs/deep", "abs", false},
		{"../folder-private/secret", "**", "", "../folder-private", false},
		{"{top}/folder/../outside/secret", "[", "]", "{top}/outside/secret", false},
		{"to-plugin/../plugin/own.js", "plugin:**", "plugin:own.js", "to-plugin", true},
		{"docs/deep/../../x.pem", "**", "{a,b}", ".", false},
	} {
		f.Add(seed.path, seed.allow, seed.deny, seed.arg, seed.write)
	}
	f.Fuzz(func(t *testing.T, path, allow, deny, arg string, write bool) {
		fill := strings.NewReplacer("{top}", top)
		path, arg = fill.Replace(path), fill.Replace(arg)
		rule := Access{Parameter: true, Paths: []string{allow}, Deny: []string{deny}}
		p := &Policy{FS: FSPolicy{Read: rule, Write: rule}, Root: plugin}
		_ = p.Check()
		g, err := p.Resolve(folder, []Argument{{Value: arg}})
		if err != nil {
			t.Fatal(err)
		}
		defer g.Revoke()
		flag := os.O_RDONLY
		if write {
			flag = os.O_WRONLY
		}
		file, err := g.FS().OpenFile(path, flag, 0)
		if err != nil {
			if s := outcome(err); strings.HasPrefix(s, "other") {
				t.Fatalf("%q: %v", path, err)
			}
			return
		}
		real, err := filepath.EvalSymlinks(file.file.Name())
		if err != nil {
			t.Fatal(err)
		}
		opened, err := file.Stat()
		if err != nil {
			t.Fatal(err)
		}
		if now, err := os.Stat(real); err != nil || !os.SameFile(now, opened) {
			t.Fatalf("%s is not what was opened: %v", real, err)
		}
		if rel, err := filepath.Rel(plugin, real); err == nil && filepath.IsLocal(rel) {
			if write {
				t.Fatalf("%q opened the plugin's %s for writing", path, rel)
			}
			return
		}
		rel, err := filepath.Rel(folder, real)
		if err != nil || !filepath.IsLocal(rel) {
			t.Fatalf("%q opened %s", path, real)
		}
		denied := []string{deny}
		if !write {
			denied = append(denied, ".ssh", "**/*.pem")
		}
		for _, d := range denied {
			for p := rel; p != "."; p = filepath.Dir(p) {
				if ok, err := Match(d, p); ok && err == nil {
					t.Fatalf("%q opened %s, which %q closes", path, rel, d)
				}
			}
		}
		if allow == "" && arg == "" {
			t.Fatalf("%q opened %s, which nothing allows", path, rel)
		}
	})
}

// FuzzDeny: a deny list closes whatever its globs match, in whichever case it is
// written, and what is below.
func FuzzDeny(f *testing.F) {
	f.Add("**/.git/**", "a/.git/config")
	f.Add("**/*.pem", "x.PEM")
	f.Add("**/claude.md", "CLAUDE.md")
	f.Add("docs/[A-Z]*", "docs/Zebra/x")
	f.Add("a.", "a.")
	f.Add("**/.github/workflows/**", "x/.GitHub/workflows/ci.yml")
	f.Add("**/a./b", "x/a./b/c")
	f.Fuzz(func(t *testing.T, glob, name string) {
		list := newDenyList([]string{glob}, false)
		ok, err := Match(glob, name)
		if err != nil || !ok || strings.HasPrefix(glob, pluginPrefix) || name == "" {
			return
		}
		if list.closes(name) == "" {
			t.Fatalf("%q does not close %q", glob, name)
		}
		if list.closes(name+"/below") == "" {
			t.Fatalf("%q does not close what is below %q", glob, name)
		}
	})
}
