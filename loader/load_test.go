package loader

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/runtimes"
)

func TestLoadAll(t *testing.T) {
	w := newWorld(t, nil)
	w.plugin("b", "bee", "sting")
	w.plugin("a", "ant", "carry", "dig")
	w.plugin("B", "big", "big_one")
	w.loadAll()
	w.wantTools("big_one", "carry", "dig", "sting") // "B" sorts before "a"
	if got := w.call("dig"); got != "dig of a" {
		t.Errorf("dig = %q", got)
	}
	w.wantLog(`level=INFO msg="plugin loaded" plugin=ant tools=2`, `level=INFO msg="plugin loaded" plugin=bee tools=1`)
	status := w.loader.Status()
	if len(status) != 3 || status[1].Name != "ant" || status[1].State != Loaded || status[1].Revision != 1 || !slices.Equal(status[1].Tools, []string{"carry", "dig"}) ||
		status[1].Dir != filepath.Join(w.dir, "a") {
		t.Errorf("status = %+v", status)
	}
	if got := w.host.Tools()[1]; got.Runtime != "node" || got.Policy.Root == "" || got.Source != host.Plugin || got.Owner != "ant" || string(got.InputSchema) == "" {
		t.Errorf("tool = %+v", got)
	}
}

func TestStrayEntriesArePassedOver(t *testing.T) {
	w := newWorld(t, nil)
	w.plugin("real", "real", "echo")
	w.plugin(".old-copy", "old-copy", "stale")
	w.plugin("node_modules", "packages", "nested")
	w.plugin("group/inner", "inner", "too_deep")
	w.write(".DS_Store", "\x00\x01")
	w.write("._real", "\x00")
	w.write("README.md", "# my plugins")
	w.write("__MACOSX/real/._filer-plugin.json", "\x00")
	w.loadAll()
	w.wantTools("echo")
	if got := w.log.String(); strings.Count(got, "\n") != 1 {
		t.Errorf("the log says more than one line:\n%s", got)
	}
}

func TestDirsInOrderAndBundledLast(t *testing.T) {
	one, two, bundled := t.TempDir(), t.TempDir(), t.TempDir()
	w := newWorld(t, func(w *world, o *Options) {
		o.Dirs = []string{filepath.Join(two, "p"), one, filepath.Join(one, "z"), one}
		o.Bundled = []string{bundled}
	})
	for dir, names := range map[string][]string{one: {"z", "m"}, two: {"p"}, bundled: {"a"}} {
		w.dir = dir
		for _, n := range names {
			w.plugin(n, n, "tool_"+n, "shared")
		}
	}
	w.loadAll()
	w.wantTools("tool_p", "shared", "tool_m", "tool_z", "tool_a")
	if got := w.call("shared"); got != "shared of p" {
		t.Errorf("shared = %q", got)
	}
	w.wantLog(`level=WARN msg="tool skipped" tool=shared plugin=a takenBy="plugin p"`)
	if n := len(w.loader.Status()); n != 4 {
		t.Errorf("%d plugins; a folder that is named twice must be loaded once", n)
	}
	if s := w.loader.Status()[3]; len(s.Skipped) != 1 || !slices.Equal(s.Tools, []string{"tool_a"}) {
		t.Errorf("status = %+v", s)
	}
}

func TestLoadAllSaysWhichFolderIsMissing(t *testing.T) {
	w := newWorld(t, func(w *world, o *Options) { o.Dirs = []string{filepath.Join(w.dir, "not-there"), w.dir} })
	w.plugin("a", "a", "echo")
	w.write("file", "")
	err := w.loader.LoadAll(context.Background())
	if err == nil || !strings.Contains(err.Error(), "not-there") || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("err = %v", err)
	}
	w.wantTools("echo") // the other folders load all the same
	if _, err := Folders(filepath.Join(w.dir, "file")); err == nil {
		t.Error("a file is no folder of plugins")
	}
}

func TestBadNeighboursDoNotHarm(t *testing.T) {
	w := newWorld(t, nil)
	w.write("a-truncated/"+ManifestFile, `{ "name": "a-truncated", "displayName": "Truncated", "tools": [`)
	w.plugin("b-throws", "b-throws", "b")
	w.plugin("c-no-file", "c-no-file", "c")
	if err := os.Rename(filepath.Join(w.dir, "c-no-file/h0.js"), filepath.Join(w.dir, "c-no-file/h1.js")); err != nil {
		t.Fatal(err)
	}
	w.plugin("d-healthy", "d-healthy", "echo")
	w.plugin("e-panics", "e-panics", "e")
	w.plugin("f-schema", "f-schema", "f", "g")
	w.write("f-schema/s.json", `["no object"`)
	w.plugin("g-odd", "g-odd", "h")
	w.rt.fail = func(s runtimes.Spec) error {
		switch s.Plugin {
		case "b-throws":
			return &runtimes.LoadError{Problems: []runtimes.Problem{
				{File: "handler.js", Line: 2, Column: 1, Message: "lookup table was not shipped", Hint: "ship it"},
				{File: "lib.js", Line: 7, Column: 3, Message: "cannot find \"x\""},
				{File: ManifestFile, Field: "/tools/0/id", Message: "there is no such tool"},
			}}
		case "e-panics":
			panic("boom")
		case "g-odd":
			return errors.New("out of luck")
		}
		return nil
	}
	w.loadAll()
	w.wantTools("echo")
	w.wantLog(
		`level=ERROR msg="plugin failed" plugin=a-truncated err="filer-plugin.json:1:64: `,
		`level=ERROR msg="plugin failed" plugin=b-throws err="handler.js:2:1: lookup table was not shipped" hint="ship it"`,
		`level=ERROR msg="plugin failed" plugin=b-throws err="lib.js:7:3: cannot find \"x\""`,
		`level=ERROR msg="plugin failed" plugin=b-throws err="filer-plugin.json:3:16: there is no such tool"`,
		`level=ERROR msg="plugin failed" plugin=c-no-file err="filer-plugin.json:3:`, `did you mean \"./h1.js\"?`,
		`level=INFO msg="plugin loaded" plugin=d-healthy tools=1`,
		`level=ERROR msg="plugin failed" plugin=e-panics err="the host failed while loading the plugin: boom"`,
		`level=ERROR msg="plugin failed" plugin=f-schema err="s.json:1:`,
		`level=ERROR msg="plugin failed" plugin=g-odd err="out of luck"`,
	)
	if n := strings.Count(w.log.String(), "plugin=f-schema"); n != 1 {
		t.Errorf("a schema file that two tools share is reported %d times", n)
	}
	for _, s := range w.loader.Status() {
		if want := map[bool]State{true: Loaded, false: Failed}[s.Name == "d-healthy"]; s.State != want || (s.State == Failed) != (len(s.Errors) > 0) {
			t.Errorf("status = %+v", s)
		}
	}
}

func TestOneWrongToolRefusesThePlugin(t *testing.T) {
	w := newWorld(t, nil)
	w.plugin("a", "a", "good", "bad.id", "also__bad")
	errs := w.load("a")
	if got := rulesOf(errs); !slices.Equal(got, []string{ruleToolDot, ruleToolMount}) {
		t.Errorf("rules = %v", got)
	}
	w.wantTools()
}

func TestManifestAndSchemaMistakesInOneReport(t *testing.T) {
	w := newWorld(t, nil)
	w.write("a/"+ManifestFile, `{"name":"a","runtime":"process","command":"x","tools":[
		{"id":"one","description":"d","schema":"./one.json","timeout":30},
		{"id":"two","description":"d","schema":"./missing.json"}]}`)
	w.write("a/one.json", `{"type":`)
	w.write("a/mising.json", `{}`)
	errs := w.load("a")
	var all []string
	for _, e := range errs {
		all = append(all, e.Rule+" "+e.Error()+" "+e.Hint)
	}
	text := strings.Join(all, "\n")
	for _, want := range []string{`P24 filer-plugin.json:2:`, `P36 filer-plugin.json:3:`, `did you mean "./mising.json"?`, "one.json:", `P38 filer-plugin.json:1:`} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %s:\n%s", want, text)
		}
	}
	if last := errs[len(errs)-1]; last.Rule != ruleNoRuntime || !strings.Contains(last.Msg+last.Hint, `"process"`) || !strings.Contains(last.Hint, `"node"`) {
		t.Errorf("the last mistake is %+v", last)
	}
}

func TestOneNameTwoFolders(t *testing.T) {
	w := newWorld(t, nil)
	w.plugin("a", "same", "one")
	w.plugin("b", "same", "two")
	w.loadAll()
	w.wantTools("one")
	s := w.loader.Status()[1]
	if s.State != Failed || len(s.Errors) != 1 || s.Errors[0].Rule != ruleNameTaken || !strings.Contains(s.Errors[0].Msg, filepath.Join(w.dir, "a")) || s.Errors[0].Line != 2 {
		t.Errorf("status = %+v", s)
	}
	if alive := w.rt.alive(); len(alive) != 1 {
		t.Errorf("open = %v", alive)
	}
}

func TestSameIDTwice(t *testing.T) {
	w := newWorld(t, nil)
	w.plugin("cc-twice", "cc-twice", "repeat_me", "other", "repeat_me")
	w.loadAll()
	w.wantTools("repeat_me", "other")
	if got := w.call("repeat_me"); got != "repeat_me of cc-twice" {
		t.Errorf("repeat_me = %q", got)
	}
	w.wantLog(`level=WARN msg="tool skipped" tool=repeat_me plugin=cc-twice takenBy="plugin cc-twice"`, `tools=2`)
	if s := w.loader.Status()[0]; !slices.Equal(s.Tools, []string{"repeat_me", "other"}) || len(s.Skipped) != 1 {
		t.Errorf("status = %+v", s)
	}
}

func TestTimeouts(t *testing.T) {
	w := newWorld(t, func(_ *world, o *Options) { o.MaxTimeout = 2 * time.Minute })
	w.write("a/s.json", `{"type":"object"}`)
	w.write("a/h.js", "x")
	manifest := `{"name":"a","permissions":{"execution":{"timeout":"45s"}},"tools":[
		{"id":"own","description":"d","schema":"s.json","handler":"h.js","timeout":"90s"},
		{"id":"plugins","description":"d","schema":"s.json","handler":"h.js"}]}`
	w.write("a/"+ManifestFile, manifest)
	if errs := w.load("a"); errs != nil {
		t.Fatal(errs)
	}
	if got := []time.Duration{w.host.Tools()[0].Timeout, w.host.Tools()[1].Timeout}; got[0] != 90*time.Second || got[1] != 45*time.Second {
		t.Errorf("timeouts = %v", got)
	}
	w.write("a/"+ManifestFile, strings.Replace(manifest, "90s", "121s", 1))
	if errs := w.load("a"); len(errs) != 1 || errs[0].Rule != ruleTimeout {
		t.Errorf("errors = %v", errs)
	}
}

func TestReload(t *testing.T) {
	w := newWorld(t, nil)
	w.rt.hold = make(chan struct{})
	w.plugin("a", "ant", "carry", "dig")
	w.plugin("b", "bee", "rest")
	w.loadAll()
	// Which plugin is opened first is not said.
	old := w.rt.open[slices.IndexFunc(w.rt.open, func(i *fakeInstance) bool { return i.spec.Plugin == "ant" })]

	w.plugin("a", "ant", "carry", "rest")
	w.write("a/h0.js", "carry, second edition")
	if errs := w.load("a"); errs != nil {
		t.Fatal(errs)
	}
	w.wantTools("carry", "rest")
	if got := w.call("carry"); got != "carry, second edition" {
		t.Errorf("carry = %q", got)
	}
	if got := w.call("rest"); got != "rest of b" { // a reload never steals a name
		t.Errorf("rest = %q", got)
	}
	w.wantLog(`level=INFO msg="plugin reloaded" plugin=ant revision=2`, `msg="tool skipped" tool=rest plugin=ant takenBy="plugin bee"`)
	if got := w.rt.alive(); !slices.Equal(got, []string{"ant", "ant", "bee"}) { // the old instance waits for its calls
		t.Errorf("open = %v", got)
	}
	close(w.rt.hold)
	<-old.closed
	if s := w.loader.Status()[0]; s.Revision != 2 || len(s.Errors) != 0 {
		t.Errorf("status = %+v", s)
	}
}

func TestFailedReloadKeepsTheOldOne(t *testing.T) {
	w := newWorld(t, nil)
	w.plugin("a", "ant", "carry")
	w.loadAll()
	good, err := os.ReadFile(filepath.Join(w.dir, "a", ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	w.write("a/"+ManifestFile, string(good[:20]))
	if errs := w.load("a"); len(errs) != 1 || errs[0].Rule != ruleSyntax {
		t.Errorf("errors = %v", errs)
	}
	if got := w.call("carry"); got != "carry of a" {
		t.Errorf("carry = %q", got)
	}
	s := w.loader.Status()[0]
	if s.State != Loaded || s.Revision != 1 || s.Name != "ant" || len(s.Errors) != 1 || len(s.Tools) != 1 {
		t.Errorf("status = %+v", s)
	}
	w.write("a/"+ManifestFile, string(good))
	if errs := w.load("a"); errs != nil {
		t.Error(errs)
	}
	if s := w.loader.Status()[0]; s.Revision != 2 || len(s.Errors) != 0 {
		t.Errorf("status = %+v", s)
	}
}

func TestRenamedPluginKeepsItsTools(t *testing.T) {
	w := newWorld(t, nil)
	w.plugin("a", "ant", "carry")
	w.plugin("b", "bee", "sting")
	w.loadAll()
	w.plugin("a", "aphid", "carry")
	if errs := w.load("a"); errs != nil {
		t.Fatal(errs)
	}
	if tool, ok := w.host.Tool("carry"); !ok || tool.Owner != "aphid" {
		t.Errorf("tool = %+v", tool)
	}
	if s := w.loader.Status()[0]; s.Name != "aphid" || len(s.Skipped) != 0 || s.Revision != 2 {
		t.Errorf("status = %+v", s)
	}
	if strings.Contains(w.log.String(), "tool skipped") {
		t.Error(w.log.String())
	}
}

// refusing is a registrar that takes nothing.
type refusing struct{}

func (refusing) Replace(string, host.Source, []*host.Tool) ([]*host.ConflictError, error) {
	return nil, errors.New("no room")
}
func (refusing) Remove(string) {}

func TestRegistrarRefuses(t *testing.T) {
	w := newWorld(t, nil)
	w.loader.reg = refusing{}
	w.plugin("a", "ant", "carry")
	if errs := w.load("a"); len(errs) != 1 || errs[0].Rule != ruleRefused || errs[0].Msg != "no room" {
		t.Errorf("errors = %v", errs)
	}
	if alive := w.rt.alive(); len(alive) != 0 {
		t.Errorf("open = %v", alive)
	}
}

func TestClose(t *testing.T) {
	w := newWorld(t, nil)
	w.rt.hold = make(chan struct{})
	w.plugin("a", "ant", "carry")
	w.loadAll()
	if errs := w.load("a"); errs != nil { // leaves an old instance that waits
		t.Fatal(errs)
	}
	cause := errors.New("enough waited")
	ctx, cancel := context.WithCancelCause(context.Background())
	done := make(chan error)
	go func() { done <- w.loader.Close(ctx) }()
	select {
	case err := <-done:
		t.Fatal("Close did not wait for the instances:", err)
	default:
	}
	cancel(cause)
	if err := <-done; !errors.Is(err, cause) {
		t.Errorf("err = %v", err)
	}
	w.wantTools()
	if err := w.loader.Load(context.Background(), filepath.Join(w.dir, "a")); !errors.Is(err, ErrClosed) {
		t.Errorf("err = %v", err)
	}
	if err := w.loader.LoadAll(context.Background()); !errors.Is(err, ErrClosed) {
		t.Errorf("err = %v", err)
	}
}

func TestLoadEndsWithItsContext(t *testing.T) {
	w := newWorld(t, nil)
	w.plugin("a", "ant", "carry")
	ctx, cancel := context.WithCancel(context.Background())
	w.rt.fail = func(runtimes.Spec) error { cancel(); return context.Canceled }
	if err := w.loader.LoadAll(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	if n := len(w.loader.Status()); n != 0 { // no fault of the plugin
		t.Errorf("status = %+v", w.loader.Status())
	}
}

func TestStrictRefusesWarnings(t *testing.T) {
	w := newWorld(t, func(_ *world, o *Options) { o.Strict = true })
	w.write("a/"+ManifestFile, `{"name":"a","nmae":1,"contributes":{"hooks":{"onAppReady":"x.js"}}}`)
	if got := rulesOf(w.load("a")); !slices.Contains(got, ruleUnknown) || !slices.Contains(got, ruleNotRun) {
		t.Errorf("rules = %v", got)
	}
}

func TestWarningsAreLogged(t *testing.T) {
	w := newWorld(t, nil)
	w.write("a/"+ManifestFile, "{\"name\":\"a\",\n\"licence\":\"MIT\"}")
	w.loadAll()
	w.wantLog(`level=WARN msg="plugin warning" plugin=a err="filer-plugin.json:2:1: unknown field \"licence\" is ignored" hint="did you mean \"license\"?"`)
}

func TestNothingOutsideThePluginIsRead(t *testing.T) {
	w := newWorld(t, nil)
	w.write("outside/s.json", `{"type":"object"}`)
	w.write("outside/"+ManifestFile+".real", `{"name":"a"}`)
	w.write("outside/h.js", "secret")
	link := func(to, from string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(w.dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	w.plugin("schema", "schema", "t")
	if err := os.Remove(filepath.Join(w.dir, "schema/s.json")); err != nil {
		t.Fatal(err)
	}
	link("../outside/s.json", "schema/s.json")
	if errs := w.load("schema"); len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), "s.json") {
		t.Errorf("errors = %v", errs)
	}

	if err := os.Mkdir(filepath.Join(w.dir, "manifest"), 0o755); err != nil {
		t.Fatal(err)
	}
	link("../outside/"+ManifestFile+".real", "manifest/"+ManifestFile)
	if errs := w.load("manifest"); len(errs) != 1 || errs[0].Rule != ruleUnreadable || !strings.Contains(errs[0].Msg, "leaves the plugin folder") {
		t.Errorf("errors = %v", errs)
	}

	w.plugin("real", "linked", "linked_tool")
	link("real", "link")
	if errs := w.load("link"); errs != nil { // a plugin folder may be a link itself
		t.Errorf("errors = %v", errs)
	}
	if got, want := w.host.Tools()[0].Policy.Root, filepath.Join(w.dir, "real"); got != want {
		if want, _ = filepath.EvalSymlinks(want); got != want {
			t.Errorf("root = %q, want %q", got, want)
		}
	}
}

// A pipe must be refused, not waited for.
func TestPipesAreRefused(t *testing.T) {
	w := newWorld(t, nil)
	pipe := func(name string) {
		t.Helper()
		path := filepath.Join(w.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pipe("a/" + ManifestFile)
	if errs := w.load("a"); len(errs) != 1 || errs[0].Rule != ruleUnreadable || !strings.Contains(errs[0].Msg, "not a regular file") {
		t.Errorf("errors = %v", errs)
	}
	if _, err := ReadManifest(filepath.Join(w.dir, "a")); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("ReadManifest: %v", err)
	}
	w.plugin("b", "b", "t")
	if text, err := ReadManifest(filepath.Join(w.dir, "b")); err != nil || !strings.Contains(string(text), `"name"`) {
		t.Errorf("ReadManifest: %q, %v", text, err)
	}
	if err := os.Remove(filepath.Join(w.dir, "b/s.json")); err != nil {
		t.Fatal(err)
	}
	pipe("b/s.json")
	if errs := w.load("b"); len(errs) != 1 {
		t.Errorf("errors = %v", errs)
	}
	if err := os.MkdirAll(filepath.Join(w.dir, "c", ManifestFile), 0o755); err != nil {
		t.Fatal(err)
	}
	if errs := w.load("c"); len(errs) != 1 || errs[0].Rule != ruleUnreadable {
		t.Errorf("errors = %v", errs)
	}
	w.write("d/x", "")
	if errs := w.load("d"); len(errs) != 1 || !strings.Contains(errs[0].Msg, "has no "+ManifestFile) {
		t.Errorf("errors = %v", errs)
	}
	if errs := w.load("not-there"); len(errs) != 1 || errs[0].Rule != ruleUnreadable {
		t.Errorf("errors = %v", errs)
	}
	w.write("e/"+ManifestFile, strings.Repeat(" ", MaxManifest+10))
	if errs := w.load("e"); len(errs) != 1 || errs[0].Rule != ruleUnreadable {
		t.Errorf("errors = %v", errs)
	}
}

func TestManyLoadsAtOnce(t *testing.T) {
	w := newWorld(t, nil)
	const n = 4
	for i := range n {
		w.plugin(fmt.Sprint("p", i), fmt.Sprint("p", i), fmt.Sprint("t", i), "shared")
	}
	done := make(chan error)
	for i := range n * 4 {
		go func() {
			err := w.loader.Load(context.Background(), filepath.Join(w.dir, fmt.Sprint("p", i%n)))
			w.loader.Status()
			w.host.Tools()
			done <- err
		}()
	}
	for range n * 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if got := w.tools(); len(got) != n+1 {
		t.Errorf("tools = %v", got)
	}
}

func TestLoadAllOpensSeveralAtATimeAndRegistersInOrder(t *testing.T) {
	w := newWorld(t, nil)
	for _, name := range []string{"a", "b", "c"} {
		w.plugin(name, name, "tool_"+name)
	}
	var others sync.WaitGroup
	others.Add(2)
	w.rt.fail = func(spec runtimes.Spec) error {
		if spec.Plugin == "a" {
			others.Wait() // the first is opened only after the last
		} else {
			others.Done()
		}
		return nil
	}
	w.loadAll()
	w.wantTools("tool_a", "tool_b", "tool_c")
}

func TestLoadAllLeavesNothingOpenWhenItIsStopped(t *testing.T) {
	w := newWorld(t, nil)
	for i := range 20 {
		w.plugin(fmt.Sprintf("p%02d", i), fmt.Sprintf("p%02d", i), fmt.Sprintf("tool_%02d", i))
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("stop")
	w.rt.fail = func(spec runtimes.Spec) error {
		if spec.Plugin == "p10" {
			cancel(stop)
		}
		return nil
	}
	if err := w.loader.LoadAll(ctx); !errors.Is(err, stop) {
		t.Errorf("error = %v", err)
	}
	if n := len(w.rt.alive()); n != len(w.tools()) {
		t.Errorf("%d instances are open for %d tools", n, len(w.tools()))
	}
}
