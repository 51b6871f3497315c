package permissions

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

func TestRules(t *testing.T) {
	tests := []struct {
		name   string
		policy FSPolicy
		args   []string
		ok     string // "op path" that are allowed, and "op path" that are not
		denied string
	}{
		{"zero", FSPolicy{}, []string{"a.md"},
			"", "read a.md, list ., write a.md, stat a.md, mkdir new, list docs"},
		{"folder", FSPolicy{Read: Access{Folder: true}}, nil,
			"read a.md, read docs/deep/b.md, list ., list docs, stat ., stat a.md", "write a.md, mkdir new, list .ssh, read .ssh/config"},
		{"write only", FSPolicy{Write: Access{Folder: true}}, nil,
			"write a.md, mkdir new, stat a.md, write docs/new.md", "read a.md, list ., write .git/config, write .GIT/hooks/x, write docs/CLAUDE.md, write Claude.MD, mkdir .git, write .github/workflows/ci.yml"},
		{"paths", FSPolicy{Read: Access{Paths: []string{"docs/**"}}}, nil,
			"read docs/b.md, read docs/deep/b.md, list docs, list docs/deep, stat docs", "read a.md, list ., stat .,  read docs2/x.md"},
		{"a folder's name covers its subtree", FSPolicy{Read: Access{Paths: []string{"docs", "./src/"}}}, nil,
			"read docs/deep/b.md, list docs, list src, read src/x.go", "read docs2/x.md, read a.md"},
		{"a wildcard covers names, not subtrees", FSPolicy{Read: Access{Paths: []string{"docs/*"}}}, nil,
			"read docs/b.md", "read docs/deep/b.md, list docs"},
		{"a name anywhere", FSPolicy{Read: Access{Paths: []string{"**/deep"}}}, nil,
			"read docs/deep/b.md", "read docs/b.md"},
		{"case counts for what is allowed", FSPolicy{Read: Access{Paths: []string{"DOCS/**"}}}, nil,
			"", "read docs/b.md"},
		{"everything by glob", FSPolicy{Read: Access{Paths: []string{"**"}}}, nil,
			"read a.md, list ., read docs/deep/b.md", "write a.md"},
		{"deny", FSPolicy{Read: Access{Folder: true, Deny: []string{"**/.env", "docs/deep", "*.LOG"}}}, nil,
			"read a.md, list ., list docs, read sub/x.log", "read .env, read docs/.ENV, read docs/deep/b.md, list docs/deep, read x.log, stat .env"},
		{"deny closes what links lead to, and links", FSPolicy{Read: Access{Folder: true, Deny: []string{"**/.env", "link.md"}}}, nil,
			"read a.md", "read envlink, read link.md, read here/.env"},
		{"deny has the last word over arguments", FSPolicy{Read: Access{Parameter: true, Deny: []string{"**/.env"}}}, []string{".env", "a.md"},
			"read a.md", "read .env"},
		{"a broken deny glob closes everything", FSPolicy{Read: Access{Folder: true, Deny: []string{"["}}}, nil,
			"", "read a.md, list ."},
		{"a broken glob allows nothing", FSPolicy{Read: Access{Paths: []string{"[", "../**", "/**"}}}, nil,
			"", "read a.md, list ."},
		{"list of its own", FSPolicy{Read: Access{Parameter: true}, List: &Access{Folder: true, Deny: []string{"docs/deep"}}}, []string{"a.md"},
			"list ., list docs, read a.md, stat docs/b.md", "read docs/b.md, list docs/deep"},
		{"list declared away", FSPolicy{Read: Access{Folder: true}, List: &Access{}}, nil,
			"read a.md, stat docs", "list ., list docs"},
		{"parameter", FSPolicy{Read: Access{Parameter: true}}, []string{"a.md"},
			"read a.md, read ./docs/../a.md, read link.md, stat a.md", "read a.md.bak, list ., read docs/b.md, write a.md"},
		{"a named folder grants its subtree", FSPolicy{Read: Access{Parameter: true}}, []string{"docs"},
			"read docs/b.md, read docs/deep/b.md, list docs, list docs/deep", "read docs2/x.md, read a.md, list ."},
		{"a named link grants what it leads to", FSPolicy{Read: Access{Parameter: true}}, []string{"link.md"},
			"read link.md, read a.md, lstat link.md", "read docs/b.md"},
		{"the folder itself named", FSPolicy{Read: Access{Parameter: true}}, []string{"."},
			"read a.md, list ., read docs/deep/b.md", "write a.md"},
		{"a named file may not exist yet", FSPolicy{Write: Access{Parameter: true}}, []string{"new/deep/out.csv"},
			"mkdir new, all new/deep, write new/deep/out.csv", "write other.csv, mkdir new/other, mkdir sub"},
		{"folders to a glob may be made", FSPolicy{Write: Access{Paths: []string{"out/year/*.csv"}}}, nil,
			"mkdir out, all out/year, write out/year/1.csv", "write out/x.csv, mkdir other, write out/year/1.txt"},
		{"no folder is made in what is closed", FSPolicy{Write: Access{Parameter: true}}, []string{".git/hooks/pre-commit"},
			"", "mkdir .git/hooks, write .git/hooks/pre-commit"},
		{"private keys", FSPolicy{Read: Access{Folder: true}, Write: Access{Folder: true}}, nil,
			"write server.pem2", "read id_rsa, read certs/server.pem, read Server.PEM, read x.key, list .ssh, read .aws/credentials, read docs/.netrc"},
		{"names that some file systems take for others", FSPolicy{Write: Access{Folder: true}}, nil,
			"", "write CLAUDE.md., write .git\u200c/config, write .g\u0131t/../.git/x, write CLAUDE.md ., write a\u017f/../.va\u017f/../.v\u017fcode/x"},
		{"unnamed empty text", FSPolicy{Read: Access{Parameter: true}}, []string{""},
			"", "read a.md, list ., stat ."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			top := lay(t, map[string]string{
				"a.md": "a", "a.md.bak": "b", ".env": "e", "docs/b.md": "b", "docs/deep/b.md": "d", "docs2/x.md": "x", "docs/.ENV": "e",
				"src/x.go": "", "x.log": "", "sub/x.log": "", ".ssh/config": "", "link.md": "-> a.md", "envlink": "-> .env", "here": "-> .",
				".git/config": "", "id_rsa": "", "certs/server.pem": "", "Server.PEM": "", "x.key": "", ".aws/credentials": "", "docs/.netrc": "",
			})
			var args []Argument
			for _, a := range tt.args {
				args = append(args, Argument{Pointer: "/x", Value: a, Marked: true})
			}
			f := grant(t, &Policy{FS: tt.policy}, top, args...).FS()
			for want, list := range map[bool]string{true: tt.ok, false: tt.denied} {
				for step := range strings.SplitSeq(list, ",") {
					op, name, ok := strings.Cut(strings.TrimSpace(step), " ")
					if !ok {
						continue
					}
					err := perform(f, op, name)
					if denied := errors.Is(err, ErrDenied); denied == want || want && err != nil {
						t.Errorf("%s %s: %v", op, name, err)
					}
				}
			}
		})
	}
}

func perform(f *FS, op, name string) error {
	var err error
	switch op {
	case "read":
		_, err = f.ReadFile(name, 0)
	case "write":
		err = f.WriteFile(name, []byte("x"), 0)
	case "list":
		_, err = f.ReadDir(name)
	case "stat":
		_, err = f.Stat(name)
	case "lstat":
		_, err = f.Lstat(name)
	case "mkdir":
		err = f.Mkdir(name, 0)
	case "all":
		_, err = f.MkdirAll(name, 0)
	default:
		err = errors.New("no such act: " + op)
	}
	return err
}

func TestHostDenyHoldsInEveryFolder(t *testing.T) {
	f := grant(t, everything(), lay(t, map[string]string{"x": ""})).FS()
	concrete := strings.NewReplacer("**/", "some/where/", "/**", "/file", "*", "name")
	for _, g := range HostWriteDeny() {
		for _, name := range []string{concrete.Replace(g), strings.ToUpper(strings.TrimPrefix(concrete.Replace(g), "some/where/"))} {
			if err := f.WriteFile(name, nil, 0); !errors.Is(err, ErrDenied) {
				t.Errorf("%s: writing %s: %v", g, name, err)
			}
		}
	}
	for _, name := range []string{
		".ssh/authorized_keys", ".bashrc", "home/.zshrc", ".gitconfig", ".config/git/hooks/pre-commit",
		".config/toolhost/config.json", ".config./git /config", ".local/share/toolhost/plugins/new/filer-plugin.json", ".local/state/toolhost/bundled/x",
	} {
		if _, err := f.MkdirAll(filepath.Dir(name), 0); err != nil && !errors.Is(err, ErrDenied) {
			t.Errorf("making the folder of %s: %v", name, err)
		}
		if err := f.WriteFile(name, nil, 0); !errors.Is(err, ErrDenied) {
			t.Errorf("writing %s: %v", name, err)
		}
	}
	for _, g := range HostReadDeny() {
		if _, err := f.ReadFile(concrete.Replace(g), 0); !errors.Is(err, ErrDenied) {
			t.Errorf("%s: %v", g, err)
		}
	}
	HostWriteDeny()[0] = "changed"
	if HostWriteDeny()[0] == "changed" {
		t.Error("the list can be changed from outside")
	}
}

func TestPluginFolder(t *testing.T) {
	layout := map[string]string{
		"folder/a.md": "a", "folder/plugins/p/own.js": "own", "folder/plugins/p/cert.pem": "cert", "folder/plugins/p/link": "-> ../../a.md",
		"folder/plugins/p/.hidden": "", "folder/server.pem": "", "folder/to-own": "-> plugins/p", "else/q/own.js": "own", "else/q/cert.pem": "cert", "else/q/data/": "",
	}
	top := lay(t, layout)
	folder, inside, outside := filepath.Join(top, "folder"), filepath.Join(top, "folder/plugins/p"), filepath.Join(top, "else/q")
	tests := []struct {
		name         string
		root, folder string
		fs           FSPolicy
		ok, denied   []string
	}{
		{"outside the folder, nothing declared", outside, folder, FSPolicy{},
			[]string{"read {root}/own.js", "list {root}", "stat {root}/own.js", "read {root}/cert.pem"},
			[]string{"read {folder}/a.md", "write {root}/own.js", "write {root}/new", "read own.js", "list {root}/.."}},
		{"without an agent folder", outside, "", FSPolicy{Read: Access{Folder: true}, Write: Access{Folder: true}},
			[]string{"read {root}/own.js"}, []string{"read own.js", "read a.md", "write {root}/x", "write x"}},
		{"inside the folder", inside, folder, FSPolicy{Read: Access{Folder: true}, Write: Access{Folder: true}},
			[]string{"read {root}/own.js", "read plugins/p/own.js", "read plugins/p/cert.pem", "write a2.md", "write plugins/other", "read {root}/link"},
			[]string{"write {root}/own.js", "write plugins/p/own.js", "write plugins/p/new", "write to-own/own.js", "mkdir plugins/p/new", "all to-own/x/y", "read server.pem"}},
		{"inside the folder, nothing declared", inside, folder, FSPolicy{},
			[]string{"read {root}/own.js", "read plugins/p/own.js", "list {root}"},
			[]string{"read {root}/link", "read a.md", "list .", "list plugins"}},
		{"around the folder", top, folder, FSPolicy{Read: Access{Folder: true}, Write: Access{Folder: true}},
			[]string{"read a.md", "read {root}/else/q/own.js"},
			[]string{"write a.md", "write {folder}/a.md", "read server.pem", "write {root}/x"}},
		{"the same folder", folder, folder, FSPolicy{Write: Access{Folder: true}},
			[]string{"read a.md"}, []string{"write a.md", "read server.pem"}},
		{"deny for the plugin's own files", outside, folder, FSPolicy{Read: Access{Folder: true, Deny: []string{"plugin:data", "own.js"}}},
			[]string{"read {root}/own.js", "read a.md"}, []string{"list {root}/data"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := grant(t, &Policy{FS: tt.fs, Root: tt.root}, tt.folder).FS()
			for want, steps := range map[bool][]string{true: tt.ok, false: tt.denied} {
				for _, step := range steps {
					op, name, _ := strings.Cut(strings.NewReplacer("{root}", tt.root, "{folder}", tt.folder).Replace(step), " ")
					err := perform(f, op, name)
					if denied := errors.Is(err, ErrDenied); denied == want || want && err != nil {
						t.Errorf("%s: %v", step, err)
					}
				}
			}
		})
	}
	f := grant(t, &Policy{FS: everything().FS, Root: inside}, folder).FS()
	for _, name := range []string{"plugins", "plugins/p"} {
		if err := f.RemoveAll(name); !errors.Is(err, ErrDenied) {
			t.Errorf("removing %s: %v", name, err)
		}
		if err := f.Rename(name, "elsewhere"); !errors.Is(err, ErrDenied) {
			t.Errorf("moving %s: %v", name, err)
		}
	}
	if content(t, filepath.Join(inside, "own.js")) != "own" {
		t.Error("the plugin's file is gone")
	}
}

// TestClosed: what the host keeps in the agent's folder is closed, by every name, also in what
// is moved, and a plugin reads its own files there all the same.
func TestClosed(t *testing.T) {
	folder := lay(t, map[string]string{
		"a.md": "a", "kept/state/db": "s", "plugins/p/h.js": "1", "plugins/p/filer-plugin.json": "{}", "way": "-> kept/state", "new/x": "x",
	})
	p := everything()
	p.Closed = Closed{Read: []string{"kept/state"}, Write: []string{"kept/state", "plugins"}}
	p.Root = filepath.Join(folder, "plugins", "p")
	f := grant(t, p, folder).FS()
	denied := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, ErrDenied) || !strings.Contains(err.Error(), "the host keeps what it goes by") && !strings.Contains(err.Error(), "the plugin's own folder") {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, name := range []string{"kept/state/db", "KEPT/State/db", "way/db", "new/../kept/state/db"} {
		_, err := f.ReadFile(name, 100)
		if name == "KEPT/State/db" && errors.Is(err, ErrDenied) {
			continue // a file system may look at case
		}
		denied("reading "+name, err)
	}
	_, err := f.ReadDir("kept/state")
	denied("listing", err)
	for _, name := range []string{"kept/state/new", "way/new", "plugins/evil/filer-plugin.json", "plugins/p/h.js"} {
		denied("writing "+name, f.WriteFile(name, []byte("x"), 0o600))
	}
	for from, to := range map[string]string{"new": "plugins/new", "kept": "elsewhere", "kept/state": "elsewhere", "plugins": "elsewhere"} {
		denied("moving "+from, f.Rename(from, to))
	}
	for _, name := range []string{"a.md", "plugins/p/h.js"} {
		if _, err := f.ReadFile(name, 100); err != nil {
			t.Error(err)
		}
	}
}
