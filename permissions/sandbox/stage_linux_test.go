//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/permissions"
)

// tree gives the files below a folder, "/" at the end of folders.
func tree(t *testing.T, top string) map[string]string {
	t.Helper()
	found := map[string]string{}
	must(t, filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == top {
			return err
		}
		rel, _ := filepath.Rel(top, path)
		if d.IsDir() {
			found[rel+"/"] = ""
			return nil
		}
		text, err := os.ReadFile(path)
		found[rel] = string(text)
		return err
	}))
	return found
}

// What a program writes comes to its place once the call has succeeded, and only what it
// may write.
func TestStage(t *testing.T) {
	parameter := access{Parameter: true}
	both := permissions.FSPolicy{Read: parameter, Write: parameter}
	for name, c := range map[string]struct {
		fs     permissions.FSPolicy
		args   []string          // "" is none
		script string            // $1… are the arguments
		change map[string]string // of the folder; "-" removes
		failed string            // what Commit says; "" nothing
		exit   bool              // the program fails
	}{
		"a new file":                     {fs: both, args: []string{"out.txt"}, script: `echo new > "$1"`, change: map[string]string{"out.txt": "new\n"}},
		"a new file in a new folder":     {fs: both, args: []string{"x/y/out.txt"}, script: `echo new > "$1"`, change: map[string]string{"x/": "", "x/y/": "", "x/y/out.txt": "new\n"}},
		"a new file by a temporary one":  {fs: both, args: []string{"out.txt"}, script: `echo new > "$1.tmp" && mv "$1.tmp" "$1"`, change: map[string]string{"out.txt": "new\n"}},
		"a file that is there":           {fs: both, args: []string{"a.txt"}, script: `cat "$1" && echo more >> "$1"`, change: map[string]string{"a.txt": "amore\n"}},
		"a file that cannot be read":     {fs: permissions.FSPolicy{Write: parameter}, args: []string{"a.txt"}, script: `! cat "$1" && echo over > "$1"`, change: map[string]string{"a.txt": "over\n"}},
		"a file that is only read":       {fs: permissions.FSPolicy{Read: parameter}, args: []string{"a.txt"}, script: `cat "$1" && ! echo over > "$1"`},
		"nothing written":                {fs: both, args: []string{"out.txt", "docs"}, script: `true`},
		"a file with another name":       {fs: both, args: []string{"hard.txt"}, script: `cat "$1" && echo over > "$1"`, change: map[string]string{"hard.txt": "over\n"}},
		"into a folder":                  {fs: both, args: []string{"docs"}, script: `cat "$1/one.md" && echo n > "$1/new.md" && echo m >> "$1/deep/three.md" && mkdir "$1/empty" && rm "$1/two.txt"`, change: map[string]string{"docs/new.md": "n\n", "docs/deep/three.md": "3m\n", "docs/empty/": "", "docs/two.txt": "-"}},
		"a folder that is not read":      {fs: permissions.FSPolicy{Write: parameter}, args: []string{"docs"}, script: `test -z "$(ls "$1")" && echo n > "$1/new.md"`, change: map[string]string{"docs/new.md": "n\n"}},
		"what is denied in a folder":     {fs: permissions.FSPolicy{Read: parameter, Write: access{Parameter: true, Deny: []string{"**/.env"}}}, args: []string{"docs"}, script: `echo n > "$1/new.md"; echo x > "$1/sub.env"; mkdir "$1/s"; echo x > "$1/s/.env"`, failed: `the manifest's deny rule "**/.env" closes it`},
		"what the host denies":           {fs: both, args: []string{"docs"}, script: `mkdir -p "$1/.git/hooks"; echo x > "$1/.git/hooks/pre-commit"`, failed: `the host's own rule "**/.git/**" closes it`},
		"a denied file that is not read": {fs: permissions.FSPolicy{Read: access{Parameter: true, Deny: []string{"**/two.txt"}}, Write: parameter}, args: []string{"docs"}, script: `! test -e "$1/two.txt"`},
		"a folder that the host denies":  {fs: both, args: []string{"docs"}, script: `echo n > "$1/+new"; mkdir "$1/.git"`, failed: `the host's own rule "**/.git/**" closes it`},
		"a folder beside the globs":      {fs: permissions.FSPolicy{Write: access{Paths: []string{"+.txt"}}}, script: `echo x > "$TOOLHOST_OUT/+.txt"; mkdir "$TOOLHOST_OUT/x"`, failed: "do not match it"},
		"a file where a folder is":       {fs: permissions.FSPolicy{Write: access{Folder: true}}, script: `echo x > "$TOOLHOST_OUT/+"; echo x > "$TOOLHOST_OUT/docs"`, failed: "is a directory"},
		"a folder where a file is":       {fs: permissions.FSPolicy{Write: access{Folder: true}}, script: `echo x > "$TOOLHOST_OUT/+"; mkdir "$TOOLHOST_OUT/a.txt"`, failed: "file exists"},
		"folders in a new folder":        {fs: permissions.FSPolicy{Write: access{Folder: true}}, script: `mkdir -p "$TOOLHOST_OUT/x/y"; echo x > "$TOOLHOST_OUT/x/y/z"`, change: map[string]string{"x/": "", "x/y/": "", "x/y/z": "x\n"}},
		"a link":                         {fs: both, args: []string{"docs"}, script: `! ln -s /etc/passwd "$1/link"`},
		"a removed folder":               {fs: both, args: []string{"docs"}, script: `rm -r "$1/deep"`, change: map[string]string{"docs/deep/": "-", "docs/deep/three.md": "-", "docs/deep/.env": "-"}},
		"outside":                        {fs: both, args: []string{"../outside/new.txt"}, script: `! echo x > "$1"`},
		"the folder by TOOLHOST_OUT":     {fs: permissions.FSPolicy{Write: access{Folder: true}}, script: `mkdir "$TOOLHOST_OUT/new"; echo x > "$TOOLHOST_OUT/new/x.txt"; echo y > "$TOOLHOST_OUT/a.txt"`, change: map[string]string{"new/": "", "new/x.txt": "x\n", "a.txt": "y\n"}},
		"globs by TOOLHOST_OUT":          {fs: permissions.FSPolicy{Write: access{Paths: []string{"build/**"}}}, script: `mkdir "$TOOLHOST_OUT/build"; echo x > "$TOOLHOST_OUT/build/x.txt"`, change: map[string]string{"build/": "", "build/x.txt": "x\n"}},
		"other globs by TOOLHOST_OUT":    {fs: permissions.FSPolicy{Write: access{Paths: []string{"build/**"}}}, script: `mkdir "$TOOLHOST_OUT/build"; echo x > "$TOOLHOST_OUT/build/x.txt"; echo x > "$TOOLHOST_OUT/a.txt"`, failed: "do not match it"},
		"no TOOLHOST_OUT":                {fs: both, args: []string{"a.txt"}, script: `test -z "$TOOLHOST_OUT"`},
		"the whole folder":               {fs: both, args: []string{"."}, script: `cat "$1/a.txt"; echo x > "$1/z.txt"`, change: map[string]string{"z.txt": "x\n"}},
		"a program that fails":           {fs: both, args: []string{"out.txt"}, script: `echo new > "$1"; exit 3`, exit: true},
	} {
		t.Run(name, func(t *testing.T) {
			top := plant(t, map[string]string{
				"folder/a.txt": "a", "folder/docs/one.md": "1", "folder/docs/two.txt": "2", "folder/docs/deep/three.md": "3", "folder/docs/deep/.env": "s", "outside/o.txt": "o",
			})
			folder := filepath.Join(top, "folder")
			must(t, os.Link(filepath.Join(top, "outside/o.txt"), filepath.Join(folder, "hard.txt")))
			want := tree(t, folder)
			var args []permissions.Argument
			for i, a := range c.args {
				args = append(args, permissions.Argument{Pointer: "/" + string(rune('a'+i)), Value: a})
			}
			policy := &permissions.Policy{FS: c.fs}
			g, err := policy.Resolve(folder, args)
			must(t, err)
			defer g.Revoke()
			stage, err := NewStage(g, args, nil)
			must(t, err)
			rules, err := FromGrant(g, "")
			must(t, err)
			stage.Open(rules)
			words := []string{"-c", c.script, "sh"}
			for _, a := range args {
				path, ok := stage.Arguments()[a.Pointer]
				if !ok {
					path = filepath.Join(folder, a.Value)
				}
				words = append(words, path)
			}
			cmd := exec.Command("/bin/sh", words...)
			cmd.Env = stage.Env()
			var stderr strings.Builder
			cmd.Stderr = &stderr
			child, err := Confine(cmd, rules, Require)
			must(t, err)
			defer child.Close()
			must(t, child.Start())
			if err := cmd.Wait(); (err != nil) != c.exit {
				t.Fatal(err, stderr.String())
			} else if err == nil {
				err = stage.Commit()
				if c.failed == "" && err != nil || c.failed != "" && (err == nil || !strings.Contains(err.Error(), c.failed)) {
					t.Errorf("committing: %v", err)
				}
			}
			for name, text := range c.change {
				if want[name] = text; text == "-" {
					delete(want, name)
				}
			}
			if got := tree(t, folder); !maps.Equal(got, want) {
				t.Errorf("the folder has %q, not %q", got, want)
			}
			if text, err := os.ReadFile(filepath.Join(top, "outside/o.txt")); err != nil || string(text) != "o" {
				t.Errorf("the other name of a file has %q, %v", text, err)
			}
			dir := stage.dir
			must(t, stage.Close())
			if dir != "" && !gone(dir) {
				t.Error("the stage is still there")
			}
		})
	}
}

// For a program that was started before the call, what it may read is copied too.
func TestStageAll(t *testing.T) {
	top := plant(t, map[string]string{"folder/a.txt": "a", "folder/docs/one.md": "1", "folder/b.txt": "b", "folder/id_rsa": "k"})
	folder, shared := filepath.Join(top, "folder"), filepath.Join(top, "shared")
	must(t, os.Mkdir(shared, 0o700))
	args := []permissions.Argument{{Pointer: "/a", Value: "a.txt"}, {Pointer: "/d", Value: "docs"}, {Pointer: "/k", Value: "id_rsa"}, {Pointer: "/m", Value: "missing"}}
	policy := &permissions.Policy{FS: permissions.FSPolicy{Read: access{Parameter: true}}}
	g, err := policy.Resolve(folder, args)
	must(t, err)
	defer g.Revoke()
	stage, err := NewStage(g, args, &StageOptions{Dir: shared, All: true})
	must(t, err)
	defer stage.Close()
	got := stage.Arguments()
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, []string{"/a", "/d"}) {
		t.Fatalf("staged are %v", got)
	}
	for name, want := range map[string]string{got["/a"]: "a", got["/d"] + "/one.md": "1"} {
		if text, err := os.ReadFile(name); err != nil || string(text) != want || !strings.HasPrefix(name, shared+"/") {
			t.Errorf("%s has %q, %v", name, text, err)
		}
	}
	must(t, os.WriteFile(got["/a"], []byte("changed"), 0o600))
	must(t, stage.Commit())
	if text, err := os.ReadFile(folder + "/a.txt"); err != nil || string(text) != "a" {
		t.Errorf("what was only to be read is now %q, %v", text, err)
	}
}

func TestStageLimits(t *testing.T) {
	folder := t.TempDir()
	must(t, os.Mkdir(folder+"/d", 0o755))
	f, err := os.Create(folder + "/d/large")
	must(t, err)
	must(t, f.Truncate(maxStagedFile+1))
	must(t, f.Close())
	args := []permissions.Argument{{Pointer: "/d", Value: "d"}}
	policy := &permissions.Policy{FS: permissions.FSPolicy{Read: access{Parameter: true}, Write: access{Parameter: true}}}
	g, err := policy.Resolve(folder, args)
	must(t, err)
	defer g.Revoke()
	if _, err := NewStage(g, args, nil); err == nil || !strings.Contains(err.Error(), "argument /d") || !strings.Contains(err.Error(), "64 MiB") {
		t.Errorf("got %v", err)
	}
}

// gone reports whether a folder goes: what takes long to remove is removed after Close has
// returned.
func gone(dir string) bool {
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for range 1000 {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return true
		}
		<-look.C
	}
	return false
}
