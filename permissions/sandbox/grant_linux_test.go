//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/permissions"
)

// question is whether a path may be read or listed.
type question struct{ Op, Path string }

// answerQuestions is the child of the tests below.
func answerQuestions() int {
	var questions []question
	if err := json.Unmarshal([]byte(os.Getenv("QUESTIONS")), &questions); err != nil {
		return 2
	}
	var answers []bool
	for _, q := range questions {
		flags := unix.O_RDONLY | unix.O_NONBLOCK
		if q.Op == "list" {
			flags |= unix.O_DIRECTORY
		}
		fd, err := unix.Open(q.Path, flags, 0)
		if err == nil {
			var s unix.Stat_t
			err = unix.Fstat(fd, &s)
			if err == nil && q.Op == "read" && s.Mode&unix.S_IFMT != unix.S_IFREG {
				err = unix.EISDIR
			}
			unix.Close(fd)
		}
		answers = append(answers, err == nil)
	}
	return report(answers)
}

// ask puts questions to a child under rules.
func ask(t *testing.T, rules *Rules, questions []question) []bool {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	text, err := json.Marshal(questions)
	must(t, err)
	cmd := exec.Command(self)
	cmd.Env = []string{probeVariable + "=questions", "WORLD={}", "QUESTIONS=" + string(text)}
	var out, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &stderr
	child, err := Confine(cmd, rules, Require)
	must(t, err)
	defer child.Close()
	must(t, child.Start())
	if err := cmd.Wait(); err != nil {
		t.Fatal(err, stderr.String())
	}
	var answers []bool
	must(t, json.Unmarshal([]byte(out.String()), &answers))
	return answers
}

// plant makes files below a new folder: "-> x" makes a link.
func plant(t *testing.T, files map[string]string) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for name, text := range files {
		path := filepath.Join(top, name)
		must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		if target, ok := strings.CutPrefix(text, "-> "); ok {
			must(t, os.Symlink(strings.ReplaceAll(target, "TOP", top), path))
			continue
		}
		must(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return top
}

var garden = map[string]string{
	"folder/a.txt":                  "a",
	"folder/b.md":                   "b",
	"folder/.env":                   "secret",
	"folder/id_rsa":                 "key",
	"folder/docs/one.md":            "1",
	"folder/docs/two.txt":           "2",
	"folder/docs/deep/three.md":     "3",
	"folder/docs/deep/.env":         "secret",
	"folder/private/p.txt":          "p",
	"folder/private/inner/q.txt":    "q",
	"folder/open/x.txt":             "x",
	"folder/open/deep/y.txt":        "y",
	"folder/home/.ssh/config":       "host",
	"folder/home/.ssh/known_hosts":  "host",
	"folder/home/notes.txt":         "n",
	"folder/in":                     "-> a.txt",
	"folder/indir":                  "-> docs",
	"folder/out":                    "-> TOP/outside/o.txt",
	"folder/outdir":                 "-> TOP/outside",
	"folder/dangling":               "-> nowhere",
	"folder/loop":                   "-> loop",
	"folder/plugin/main.js":         "m",
	"folder/plugin/secret.pem":      "certificate",
	"folder/plugin/.env":            "own",
	"folder/plugin/lib/x.js":        "x",
	"folder/empty/keep/me/here.txt": "h",
	"outside/o.txt":                 "o",
	"outside/linked.txt":            "l",
	"outside/plugin/main.js":        "m",
	"outside/plugin/data/d.json":    "d",
	"outside/plugin/secret.pem":     "certificate",
}

type access = permissions.Access

// The same policy gives the same verdicts, whether the host looks or the kernel does.
func TestSameVerdicts(t *testing.T) {
	top := plant(t, garden)
	folder := filepath.Join(top, "folder")
	must(t, os.Link(filepath.Join(top, "outside/linked.txt"), filepath.Join(folder, "hard.txt")))
	must(t, unix.Mkfifo(filepath.Join(folder, "pipe"), 0o600))
	var questions []question
	must(t, filepath.WalkDir(top, func(path string, _ fs.DirEntry, err error) error {
		questions = append(questions, question{"read", path}, question{"list", path})
		return err
	}))
	for _, path := range []string{"/etc/passwd", "/etc", "/", folder + "/indir/one.md", folder + "/indir/deep", folder + "/outdir/o.txt", folder + "/../outside/o.txt", folder + "/missing", folder + "/docs/../.env", folder + "/private/../docs/one.md"} {
		questions = append(questions, question{"read", path}, question{"list", path})
	}
	deep := access{Folder: true}
	for name, c := range map[string]struct {
		fs     permissions.FSPolicy
		plugin string
		args   []string
	}{
		"nothing":                      {plugin: "outside/plugin"},
		"no plugin":                    {},
		"folder":                       {fs: permissions.FSPolicy{Read: deep}, plugin: "outside/plugin"},
		"plugin in the folder":         {fs: permissions.FSPolicy{Read: deep}, plugin: "folder/plugin"},
		"plugin in the folder, alone":  {plugin: "folder/plugin"},
		"plugin in the folder, denied": {fs: permissions.FSPolicy{Read: access{Folder: true, Deny: []string{"**/.env"}}}, plugin: "folder/plugin"},
		"folder is the plugin":         {fs: permissions.FSPolicy{Read: deep}, plugin: "folder"},
		"folder in the plugin":         {fs: permissions.FSPolicy{Read: access{Paths: []string{"docs"}}}, plugin: "."},
		"deny":                         {fs: permissions.FSPolicy{Read: access{Folder: true, Deny: []string{"**/.env", "docs/deep/*.md"}}}},
		"deny a folder":                {fs: permissions.FSPolicy{Read: access{Folder: true, Deny: []string{"private"}}}},
		"deny of the plugin":           {fs: permissions.FSPolicy{Read: access{Folder: true, Deny: []string{"plugin:lib"}}}, plugin: "folder/plugin"},
		"globs":                        {fs: permissions.FSPolicy{Read: access{Paths: []string{"**/*.md", "open"}}}},
		"glob below a folder":          {fs: permissions.FSPolicy{Read: access{Paths: []string{"docs/**"}}}},
		"glob of one file":             {fs: permissions.FSPolicy{Read: access{Paths: []string{"docs/one.md", "in"}}}},
		"listing apart":                {fs: permissions.FSPolicy{Read: access{Paths: []string{"**/*.md"}}, List: &access{Folder: true}}},
		"listing less":                 {fs: permissions.FSPolicy{Read: deep, List: &access{Paths: []string{"docs"}}}},
		"a file":                       {fs: permissions.FSPolicy{Read: access{Parameter: true}}, args: []string{"a.txt"}},
		"a link":                       {fs: permissions.FSPolicy{Read: access{Parameter: true}}, args: []string{"in"}},
		"a folder":                     {fs: permissions.FSPolicy{Read: access{Parameter: true}}, args: []string{"docs"}},
		"a linked folder":              {fs: permissions.FSPolicy{Read: access{Parameter: true}}, args: []string{"indir"}},
		"a key":                        {fs: permissions.FSPolicy{Read: access{Parameter: true}}, args: []string{"id_rsa", "home"}},
		"listing hides":                {fs: permissions.FSPolicy{Read: access{Folder: true, Deny: []string{"private", "docs/deep"}}}},
		"the whole":                    {fs: permissions.FSPolicy{Read: access{Parameter: true, Deny: []string{"**/.env"}}}, args: []string{"."}},
		"outside":                      {fs: permissions.FSPolicy{Read: access{Parameter: true}}, args: []string{"../outside/o.txt", "out", "outdir"}},
		"missing":                      {fs: permissions.FSPolicy{Read: access{Parameter: true}}, args: []string{"missing", "dangling", "loop"}},
		"several":                      {fs: permissions.FSPolicy{Read: access{Parameter: true, Paths: []string{"open"}}}, args: []string{"docs/one.md", "docs", "open/x.txt"}},
	} {
		t.Run(name, func(t *testing.T) {
			policy := &permissions.Policy{FS: c.fs}
			if c.plugin != "" {
				policy.Root = filepath.Join(top, c.plugin)
			}
			var args []permissions.Argument
			for _, a := range c.args {
				args = append(args, permissions.Argument{Value: a})
			}
			g, err := policy.Resolve(folder, args)
			must(t, err)
			defer g.Revoke()
			hiding, err := fromGrant(g, policy.Root, MaxRules, true)
			must(t, err)
			rules, err := fromGrant(g, policy.Root, MaxRules, false)
			must(t, err)
			unlisted := rules.Unlisted()
			if len(hiding.Unlisted()) > 0 {
				t.Errorf("%q are not listed", hiding.Unlisted())
			}
			hidden := ask(t, hiding, questions)
			for i, child := range ask(t, rules, questions) {
				q := questions[i]
				host := false
				if q.Op == "read" {
					_, err := g.FS().ReadFile(q.Path, 0)
					host = err == nil
				} else {
					_, err := g.FS().ReadDir(q.Path)
					host = err == nil
				}
				if hidden[i] != host && q.Path != top+"/outside/linked.txt" {
					t.Errorf("%s %s: the host says %v, the kernel %v", q.Op, strings.TrimPrefix(q.Path, top), host, hidden[i])
				}
				if host == child {
					continue
				}
				// Where nothing can be hidden there is one exception, on the safe side.
				if real, _ := filepath.EvalSymlinks(q.Path); q.Op == "list" && host && slices.Contains(unlisted, real) {
					continue
				}
				if q.Path == top+"/outside/linked.txt" {
					continue // it is the same file as the one in the folder
				}
				t.Errorf("%s %s: the host says %v, the kernel without mounts %v", q.Op, strings.TrimPrefix(q.Path, top), host, child)
			}
		})
	}
}

// What comes after the start is closed, but for the plugin's own files.
func TestLaterFiles(t *testing.T) {
	top := plant(t, garden)
	folder, plugin := filepath.Join(top, "folder"), filepath.Join(top, "outside/plugin")
	policy := &permissions.Policy{Root: plugin, FS: permissions.FSPolicy{Read: access{Folder: true}}}
	g, err := policy.Resolve(folder, nil)
	must(t, err)
	defer g.Revoke()
	rules, err := FromGrant(g, plugin)
	must(t, err)
	must(t, os.WriteFile(folder+"/later.txt", nil, 0o644))
	must(t, os.WriteFile(plugin+"/later.txt", nil, 0o644))
	// One that was open, and whose name leads elsewhere now.
	must(t, os.Remove(folder+"/a.txt"))
	must(t, os.Symlink(top+"/outside/o.txt", folder+"/a.txt"))
	got := ask(t, rules, []question{{"read", folder + "/later.txt"}, {"read", plugin + "/later.txt"}, {"read", folder + "/a.txt"}, {"read", folder + "/b.md"}})
	if want := []bool{false, true, false, true}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestTooManyPlaces(t *testing.T) {
	const limit = 20 // the folder is one of them
	folder := t.TempDir()
	for i := range limit {
		must(t, os.WriteFile(fmt.Sprintf("%s/%d", folder, i), nil, 0o644))
	}
	policy := &permissions.Policy{FS: permissions.FSPolicy{Read: access{Folder: true}}}
	g, err := policy.Resolve(folder, nil)
	must(t, err)
	defer g.Revoke()
	_, err = fromGrant(g, "", limit, true)
	var many *permissions.TooManyError
	if !errors.As(err, &many) || many.Limit != limit {
		t.Errorf("got %v", err)
	}
	must(t, os.Remove(folder+"/0"))
	rules, err := fromGrant(g, "", limit, true)
	must(t, err)
	if got := ask(t, rules, []question{{"read", folder + "/7"}, {"list", folder}}); !slices.Equal(got, []bool{true, true}) {
		t.Errorf("got %v", got)
	}
}

// Names that are exchanged while the rules are made never open what lies elsewhere.
func TestRacingNames(t *testing.T) {
	top := plant(t, map[string]string{"folder/keep.txt": "k", "folder/sub/x.txt": "x", "outside/x.txt": "secret"})
	folder, outside := filepath.Join(top, "folder"), filepath.Join(top, "outside/x.txt")
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		name, dir := folder+"/swapped", folder+"/sub"
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			// A file and a link take turns at one name, a folder and a link at another.
			next := name + ".next"
			if i%2 == 0 {
				_ = os.Symlink(outside, next)
			} else {
				_ = os.WriteFile(next, []byte("own"), 0o644)
			}
			_ = os.Rename(next, name)
			if i%2 == 0 {
				_ = os.Rename(dir, dir+".real")
				_ = os.Symlink(filepath.Dir(outside), dir)
			} else {
				_ = os.Remove(dir)
				_ = os.Rename(dir+".real", dir)
			}
		}
	}()
	policy := &permissions.Policy{FS: permissions.FSPolicy{Read: access{Folder: true}}}
	for range 20 {
		g, err := policy.Resolve(folder, nil)
		must(t, err)
		rules, err := FromGrant(g, "")
		must(t, err)
		g.Revoke()
		got := ask(t, rules, []question{{"read", outside}, {"read", folder + "/keep.txt"}, {"list", filepath.Dir(outside)}})
		if !slices.Equal(got, []bool{false, true, false}) {
			t.Fatalf("got %v", got)
		}
	}
	close(stop)
	<-ended
}
