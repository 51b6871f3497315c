package loader

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/runtimes"
)

// strictConsent agrees to the fingerprints that it is told, and keeps what was agreed to last.
type strictConsent struct {
	mu      sync.Mutex
	all     bool            // agree to everything
	agreed  map[string]bool // fingerprints
	last    map[string]ConsentAnswer
	copies  map[string]string // folders of copies
	revoked map[string]bool
	asked   []ConsentQuestion
	version int64
	decided []string
}

func newStrictConsent() *strictConsent {
	return &strictConsent{all: true, agreed: map[string]bool{}, last: map[string]ConsentAnswer{}, copies: map[string]string{}, revoked: map[string]bool{}}
}

func (c *strictConsent) Ask(_ context.Context, q *ConsentQuestion) ConsentAnswer {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, *q)
	print := q.Asks.Fingerprint()
	if c.revoked[q.Dir] {
		return ConsentAnswer{Waits: []string{"you took it back"}, Withdrawn: true}
	}
	if c.all || c.agreed[print] {
		files, err := q.Files()
		if err != nil {
			return ConsentAnswer{}
		}
		c.agreed[print] = true
		c.last[q.Dir] = ConsentAnswer{Fingerprint: print, Files: files}
		return ConsentAnswer{Agreed: true}
	}
	answer := c.last[q.Dir]
	answer.Waits = []string{"it asks for more"}
	answer.Dir = c.copies[q.Dir]
	return answer
}

func (c *strictConsent) Changed(context.Context, int64) ([]string, int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.decided, c.version, nil
}

// decide has the user decide something about a folder.
func (c *strictConsent) decide(dir string, change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	c.version++
	c.decided = []string{dir}
}

// again gives a second host on the same folders and consent.
func (w *world) again(c Consent) *world {
	next := newWorld(w.t, func(n *world, o *Options) { n.dir = w.dir; o.Dirs = []string{w.dir}; o.Consent = c })
	next.loadAll()
	return next
}

func (w *world) status(folder string) PluginStatus {
	w.t.Helper()
	for _, s := range w.loader.Status() {
		if filepath.Base(s.Dir) == folder {
			return s
		}
	}
	w.t.Fatalf("no plugin in %s", folder)
	return PluginStatus{}
}

// waiting gives the plugin with a tool that waits.
func (w *world) waiting(tool string) string {
	plugin, _ := w.loader.Waiting(tool)
	return plugin
}

func TestHeld(t *testing.T) {
	c := newStrictConsent()
	told := &observed{}
	w := newWorld(t, func(_ *world, o *Options) { o.Consent, o.Observe = c, told.observe })
	w.plugin("ant", "ant", "dig")
	w.loadAll()
	c.all = false

	w.plugin("ant", "ant", "dig", "bite") // it adds a tool
	opened := len(w.rt.alive())
	for range 2 {
		if errs := w.load("ant"); len(errs) > 0 {
			t.Fatal(errs)
		}
	}
	if got := len(w.rt.alive()); got != opened {
		t.Errorf("%d instances are open, %d were: something of the held version ran", got, opened)
	}
	w.wantTools("dig")
	w.wantCall("dig", "dig of ant") // the version that was agreed to, with its code
	if got := strings.Count(w.log.String(), `msg="plugin held" plugin=ant err="it asks for more"`); got != 1 {
		t.Errorf("it was said %d times:\n%s", got, w.log)
	}
	s := w.status("ant")
	if s.State != Held || !slices.Equal(s.Waits, []string{"it asks for more"}) || !slices.Equal(s.Tools, []string{"dig"}) || s.Revision != 1 {
		t.Errorf("status = %+v", s)
	}
	if w.waiting("bite") != "ant" || w.waiting("dig") != "" || w.waiting("nothing") != "" {
		t.Error("it is not told which tools wait")
	}

	// The code is the user's own: an edit is served, also while the manifest waits.
	w.write("ant/h0.js", "digs otherwise")
	if errs := w.load("ant"); len(errs) > 0 {
		t.Fatal(errs)
	}
	w.wantTools("dig")
	w.wantCall("dig", "digs otherwise")
	if s := w.status("ant"); s.State != Held || !slices.Equal(s.Tools, []string{"dig"}) || s.Revision != 2 {
		t.Errorf("status = %+v", s)
	}
	w.rt.fail = func(runtimes.Spec) error { return errors.New("it throws") } // what does not load leaves what did
	w.write("ant/h0.js", "digs no more")
	if errs := w.load("ant"); len(errs) > 0 {
		t.Fatal(errs)
	}
	w.wantCall("dig", "digs otherwise")
	if got := w.log.String(); !strings.Contains(got, `msg="the version that was agreed to cannot be loaded" plugin=ant`) {
		t.Error(got)
	}
	w.rt.fail = nil
	w.write("ant/h0.js", "digs otherwise")

	// After a restart what was agreed to serves again: its manifest, with the code that is there.
	next := w.again(c)
	next.wantTools("dig")
	next.wantCall("dig", "digs otherwise")
	if s := next.status("ant"); s.State != Held || len(s.Tools) != 1 {
		t.Errorf("status = %+v", s)
	}

	// A held version that breaks is a failure of what would wait; the agreed one serves on.
	w.write("ant/"+ManifestFile, `{"name": "ant"`)
	if errs := w.load("ant"); len(errs) == 0 {
		t.Error("it loaded")
	}
	if s := w.status("ant"); s.State != Loaded || len(s.Waits) > 0 || w.waiting("bite") != "" {
		t.Errorf("status = %+v", s)
	}
	w.plugin("ant", "ant", "dig", "bite")
	w.load("ant")
	c.all = true
	if errs := w.load("ant"); len(errs) > 0 {
		t.Fatal(errs)
	}
	w.wantTools("dig", "bite")
	if s := w.status("ant"); s.State != Loaded || s.Revision != 4 || w.waiting("bite") != "" {
		t.Errorf("status = %+v", s)
	}
	want := []string{
		"loaded ant loaded revision=1 tools=dig errors=0",
		"held ant held revision=1 tools=dig errors=0",
		"reloaded ant loaded revision=2 tools=dig errors=0", // its code
		"held ant held revision=2 tools=dig errors=0",
		"failed ant loaded revision=2 tools=dig errors=1",
		"reloaded ant loaded revision=3 tools=dig errors=0", // its code, written anew with the manifest
		"held ant held revision=3 tools=dig errors=0",
		"reloaded ant loaded revision=4 tools=dig,bite errors=0",
	}
	if got := told.texts(); !slices.Equal(got, want) {
		t.Errorf("events:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestHeldRuntime: nothing of a plugin is opened before it was agreed to, the first time either.
func TestHeldBeforeAnythingRuns(t *testing.T) {
	c := newStrictConsent()
	c.all = false
	w := newWorld(t, func(w *world, o *Options) {
		o.Consent = c
		w.rt.fail = func(runtimes.Spec) error { t.Error("it was opened"); return nil }
	})
	w.plugin("ant", "ant", "dig")
	w.loadAll()
	w.wantTools()
	if s := w.status("ant"); s.State != Held || s.Name != "ant" || s.Revision != 0 {
		t.Errorf("status = %+v", s)
	}
	if w.waiting("dig") != "ant" {
		t.Error("it is not told that the tool waits")
	}
}

// TestHeldWithChangedFiles: what was kept of the agreed version serves only while it is that.
func TestHeldWithChangedFiles(t *testing.T) {
	c := newStrictConsent()
	w := newWorld(t, func(_ *world, o *Options) { o.Consent = c })
	w.plugin("ant", "ant", "dig")
	w.loadAll()
	c.all = false
	w.plugin("ant", "ant", "dig", "bite")
	kept := c.last[resolve(w.path("ant"))]
	kept.Files = map[string][]byte{
		ManifestFile: []byte(`{"name":"ant","permissions":{"fs":{"write":{"folder":true}}},"tools":[{"id":"dig","description":"D","schema":"s.json","handler":"h0.js"}]}`),
		"s.json":     []byte(`{"type":"object"}`),
	}
	c.last[resolve(w.path("ant"))] = kept
	next := w.again(c)
	next.wantTools()
	next.wantLog("what was kept of the version that the user agreed to is not that version any more")
	if s := next.status("ant"); s.State != Held {
		t.Errorf("status = %+v", s)
	}
}

// TestHeldCopy: where there is a copy of the agreed version it serves, also in the place of an
// instance that would run what the folder holds now.
func TestHeldCopy(t *testing.T) {
	c := newStrictConsent()
	w := newWorld(t, func(w *world, o *Options) { o.Dirs, o.Installed = nil, []string{w.dir}; o.Consent = c })
	w.plugin("ant", "ant", "dig")
	w.loadAll()
	if got := c.asked[0].Origin; got != Installed {
		t.Errorf("origin = %s", got)
	}
	c.all = false
	kept := t.TempDir()
	if err := os.CopyFS(kept, os.DirFS(w.path("ant"))); err != nil {
		t.Fatal(err)
	}
	c.copies[resolve(w.path("ant"))] = kept
	w.plugin("ant", "ant", "dig", "bite")
	w.write("ant/h0.js", "tampered")
	w.load("ant")
	w.wantTools("dig")
	w.wantCall("dig", "dig of ant")
	w.rt.mu.Lock()
	if i := w.rt.open[len(w.rt.open)-1]; i.spec.Dir != resolve(kept) || !i.spec.Foreign {
		t.Errorf("it was opened from %s, foreign %t", i.spec.Dir, i.spec.Foreign)
	}
	w.rt.mu.Unlock()
	w.load("ant") // the copy serves already
	if s := w.status("ant"); s.State != Held || s.Revision != 2 {
		t.Errorf("status = %+v", s)
	}
	c.copies[resolve(w.path("ant"))] = t.TempDir() // the copy is lost: the folder must not serve
	w.load("ant")
	w.wantTools()
}

func TestWatchFollowsDecisions(t *testing.T) {
	c := newStrictConsent()
	w := newWorld(t, func(_ *world, o *Options) { o.Consent = c })
	w.plugin("ant", "ant", "dig")
	w.loadAll()
	w.watch()
	dir := resolve(w.path("ant"))
	c.decide(dir, func() { c.revoked[dir] = true })
	w.awaits(1, `msg="plugin held" plugin=ant err="you took it back"`)
	w.wantTools()
	c.decide(dir, func() { c.revoked[dir] = false })
	w.awaits(1, `msg="plugin reloaded" plugin=ant revision=2`)
	w.wantTools("dig")

	c.mu.Lock()
	c.all = false
	c.mu.Unlock()
	w.plugin("ant", "ant", "dig", "bite")
	w.awaits(2, `msg="plugin held" plugin=ant`)
	c.decide(dir, func() { c.all = true })
	w.awaits(1, `msg="plugin reloaded" plugin=ant revision=3`)
	w.wantTools("dig", "bite")

	c.mu.Lock()
	c.all = false
	c.mu.Unlock()
	w.plugin("ant", "ant", "dig", "bite", "fly")
	w.awaits(3, `msg="plugin held" plugin=ant`)
	w.write("ant/h0.js", "digs otherwise") // code does not wait
	w.awaits(1, `msg="plugin reloaded" plugin=ant revision=4`)
	w.awaits(4, `msg="plugin held" plugin=ant`)
	w.wantCall("dig", "digs otherwise")
	w.plugin("ant", "ant", "dig", "bite") // as it was agreed to
	w.awaits(1, `msg="plugin reloaded" plugin=ant revision=5`)
}

func TestOrigin(t *testing.T) {
	c := newStrictConsent()
	named, bundled, elsewhere, installed := t.TempDir(), t.TempDir(), t.TempDir(), ""
	w := newWorld(t, func(w *world, o *Options) {
		installed = w.dir
		o.Dirs, o.Installed, o.Bundled, o.Consent = []string{named}, []string{w.dir}, []string{bundled}, c
	})
	write := func(dir, name string) {
		w.dir = dir
		w.plugin(name, name, name)
		text := fmt.Sprintf(`{"name":%q,"bundled":true,"tools":[{"id":%q,"description":"D","schema":"s.json","handler":"h0.js"}]}`, name, name)
		w.write(name+"/"+ManifestFile, text) // what it says of itself does not count
	}
	write(w.dir, "far")
	write(named, "near")
	write(bundled, "own")
	write(elsewhere, "linked")
	if err := os.Symlink(filepath.Join(elsewhere, "linked"), filepath.Join(installed, "link")); err != nil {
		t.Fatal(err)
	}
	w.loadAll()
	got := map[string]Origin{}
	for _, q := range c.asked {
		got[q.Asks.Plugin] = q.Origin
	}
	if got["far"] != Installed || got["near"] != Named || got["own"] != Bundled || got["linked"] != Installed || len(got) != 4 {
		t.Errorf("origins = %v", got)
	}
}

func TestFingerprint(t *testing.T) {
	base := map[string]string{
		ManifestFile: `{"name":"p","version":"1.0.0","description":"d","permissions":{"fs":{"read":{"parameter":true,"deny":["**/x"]}},"fetch":{"static":["a.example.com"],"settings":["p.url"]},"env":["LANG"],"store":true,"execution":{"timeout":"5s"}},
			"tools":[{"id":"a","title":"A","description":"Does a.","schema":"s.json","handler":"h.js","annotations":{"readOnlyHint":true}}],
			"contributes":{"settings":{"p.url":{"type":"string","title":"U","default":"https://a.example.com"}},"actions":[{"id":"x","title":"X","scope":"single-file","prompt":"p.md"}],"commands":[{"id":"p.do","title":"Do","handler":"h.js"}]}}`,
		"s.json": `{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"number"}}}`, "h.js": "1", "p.md": "Say it.",
	}
	fingerprint := func(t *testing.T, files map[string]string) string {
		dir := t.TempDir()
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		e := Examine(t.Context(), dir, nil)
		if e.Question == nil {
			t.Fatal(e.Errors)
		}
		return e.Question.Asks.Fingerprint()
	}
	first := fingerprint(t, base)
	if (&Summary{Plugin: "p"}).Fingerprint() == (&Summary{Plugin: "q"}).Fingerprint() {
		t.Error("the name does not count")
	}
	for name, test := range map[string]struct {
		file, from, to string
		same           bool
	}{
		"code":                 {"h.js", "1", "2", true},
		"version":              {ManifestFile, "1.0.0", "1.0.1", true},
		"description":          {ManifestFile, `"description":"d"`, `"description":"e"`, true},
		"white space":          {ManifestFile, `,"env"`, ` ,  "env"`, true},
		"order in a schema":    {"s.json", `{"b":{"type":"string"},"a":{"type":"number"}}`, `{"a": {"type":"number"}, "b":{"type":"string"}}`, true},
		"number form":          {ManifestFile, `"5s"`, `"5000ms"`, true},
		"tool id":              {ManifestFile, `"id":"a"`, `"id":"b"`, false},
		"tool title":           {ManifestFile, `"title":"A"`, `"title":"B"`, false},
		"tool description":     {ManifestFile, "Does a.", "Does b.", false},
		"annotation":           {ManifestFile, `"readOnlyHint":true`, `"readOnlyHint":false`, false},
		"schema":               {"s.json", `"number"`, `"integer"`, false},
		"parameter":            {ManifestFile, `"parameter":true`, `"folder":true`, false},
		"deny":                 {ManifestFile, `"**/x"`, `"**/y"`, false},
		"host":                 {ManifestFile, `["a.example.com"]`, `["b.example.com"]`, false},
		"default of a host":    {ManifestFile, `"default":"https://a.example.com"`, `"default":"https://b.example.com"`, false},
		"environment":          {ManifestFile, `"LANG"`, `"HOME"`, false},
		"capability":           {ManifestFile, `"store":true`, `"ai":{"complete":true}`, false},
		"time":                 {ManifestFile, `"5s"`, `"6s"`, false},
		"time of a tool":       {ManifestFile, `"handler":"h.js","ann`, `"handler":"h.js","timeout":"9m","ann`, false},
		"command":              {ManifestFile, `"p.do"`, `"p.undo"`, false},
		"title of a command":   {ManifestFile, `"Do"`, `"Save"`, false},
		"engine":               {ManifestFile, `"version":"1.0.0"`, `"version":"1.0.0","engine":"node"`, false},
		"prompt of an action":  {"p.md", "Say it.", "Do it.", false},
		"folder of the schema": {ManifestFile, `"s.json"`, `"./s.json"`, true},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{}
			for n, text := range base {
				files[n] = text
			}
			files[test.file] = strings.Replace(files[test.file], test.from, test.to, 1)
			if files[test.file] == base[test.file] {
				t.Fatal("nothing was changed")
			}
			if got := fingerprint(t, files); (got == first) != test.same {
				t.Errorf("the fingerprint is the same: %t", got == first)
			}
		})
	}
}

// TestSummarySurvivesJSON: what is kept of a summary has its fingerprint.
func TestSummarySurvivesJSON(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		ManifestFile: `{"name":"p","runtime":"process","command":["./run","--x"],"tools":[{"id":"a","description":"<b>&\u2028","schema":"s.json"}]}`,
		"s.json":     `{"type":"object","properties":{"n":{"type":"number","maximum":1e300,"description":"<&>"}}}`, "run": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	e := Examine(t.Context(), dir, nil)
	if e.Question == nil {
		t.Fatal(e.Errors)
	}
	text, err := json.Marshal(e.Question.Asks)
	if err != nil {
		t.Fatal(err)
	}
	var back Summary
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if back.Fingerprint() != e.Question.Asks.Fingerprint() {
		t.Errorf("%s\n%+v", text, back)
	}
}

// TestHostName: a plugin cannot stand under the name of the host, whose tools would go with it.
func TestHostName(t *testing.T) {
	w := newWorld(t, nil)
	w.plugin("x", hostName, "dig")
	w.loadAll()
	w.wantTools()
	w.wantLog(`the plugin name \"toolhost\" is the host's own`)
}
