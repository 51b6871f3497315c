package loader

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
)

// surveyed is a runtime that says what code uses.
type surveyed struct {
	*fakeRuntime
	survey *runtimes.Survey
}

func (s surveyed) Survey(context.Context, runtimes.Spec) (*runtimes.Survey, error) {
	return s.survey, nil
}

func (w *world) survey(manifest string, s *runtimes.Survey, o *Options) []string {
	w.t.Helper()
	w.write("a/s.json", `{"type":"object","additionalProperties":false}`)
	w.write("a/h.js", "")
	w.write("a/"+ManifestFile, manifest)
	r := Check(context.Background(), filepath.Join(w.dir, "a"), map[string]runtimes.Runtime{"node": surveyed{w.rt, s}}, o)
	if !r.OK {
		w.t.Errorf("errors = %v", r.Errors)
	}
	said := []string{}
	for _, e := range slices.Concat(r.Warnings, r.Infos) {
		said = append(said, e.Rule+" "+e.Error()+" | "+e.Hint)
	}
	return said
}

const surveyTools = `"tools":[{"id":"x","title":"X","description":"Counts the words of a text.","schema":"s.json","handler":"h.js"}]`

func TestCheckTellsWhatIsNotDeclared(t *testing.T) {
	uses := []struct {
		use      runtimes.Use
		declared string // the permissions with which nothing is said
		hint     string // what the hint has
	}{
		{runtimes.Use{Kind: runtimes.UseFetch, Name: "api.example.org", Text: "fetch"}, `"fetch":{"static":["x.example"]}`, `"permissions": {"fetch": {"static": ["api.example.org"]}}`},
		{runtimes.Use{Kind: runtimes.UseFetch, Text: "ctx.fetch"}, `"fetch":{"static":["x.example"]}`, `"permissions": {"fetch": {"static": ["api.example.com"]}}`},
		{runtimes.Use{Kind: runtimes.UseNet, Text: "connect of node:net"}, `"net":{"static":["x.example:1"]}`, `"permissions": {"net": {"static": [`},
		{runtimes.Use{Kind: runtimes.UseWrite, Text: "ctx.fs.write"}, `"fs":{"write":{"folder":true}}`, `"permissions": {"fs": {"write": {"parameter": true}}}`},
		{runtimes.Use{Kind: runtimes.UseEnv, Name: "HOME", Text: "process.env.HOME"}, `"env":["HOME"]`, `"permissions": {"env": ["HOME"]}`},
		{runtimes.Use{Kind: runtimes.UseSettings, Text: "ctx.settings"}, `"settings":true`, `"permissions": {"settings": true}`},
		{runtimes.Use{Kind: runtimes.UseStore, Text: "ctx.store"}, `"store":true`, `"permissions": {"store": true}`},
		{runtimes.Use{Kind: runtimes.UseExecute, Text: "ctx.execute"}, `"hostTrigger":true`, `"permissions": {"hostTrigger": true}`},
		{runtimes.Use{Kind: runtimes.UseAI, Text: "ctx.ai"}, `"ai":{"complete":true}`, `"permissions": {"ai": {"complete": true}}`},
		{runtimes.Use{Kind: runtimes.UseToast, Text: "ctx.toast"}, `"toast":true`, `"permissions": {"toast": true}`},
		{runtimes.Use{Kind: runtimes.UseSession, Text: "ctx.session"}, `"session":{"getActive":true}`, `"permissions": {"session": {"getActive": true}}`},
		{runtimes.Use{Kind: runtimes.UseChannels, Text: "ctx.channels"}, `"channels":{"getIntegrationConfig":true}`, `"permissions": {"channels": {"getIntegrationConfig": true}}`},
		{runtimes.Use{Kind: runtimes.UsePDF, Text: "ctx.renderHtmlToPdf"}, `"renderHtmlToPdf":true`, `"permissions": {"renderHtmlToPdf": true}`},
	}
	for _, c := range uses {
		c.use.File, c.use.Line, c.use.Column = "lib/a.js", 3, 7
		again := c.use
		again.Line = 9 // is not told again
		s := &runtimes.Survey{Uses: []runtimes.Use{c.use, again}}
		w := newWorld(t, nil)
		said := w.survey(`{"name":"a",`+surveyTools+`}`, s, nil)
		if len(said) != 1 || !strings.HasPrefix(said[0], "P50 lib/a.js:3:7: "+c.use.Text+" is used, ") || !strings.Contains(said[0], c.hint) {
			t.Errorf("%s: %q", c.use.Text, said)
		}
		if said := w.survey(`{"name":"a","permissions":{`+c.declared+`},`+surveyTools+`}`, s, nil); len(said) != 0 {
			t.Errorf("%s with %s: %q", c.use.Text, c.declared, said)
		}
	}
}

func TestCheckTellsOfModulesThatAreMissing(t *testing.T) {
	s := &runtimes.Survey{Uses: []runtimes.Use{{Kind: runtimes.UseModule, Name: "vm", Text: "node:vm", Hint: "do without", File: "h.js", Line: 1, Column: 1}}}
	w := newWorld(t, nil)
	if said := w.survey(`{"name":"a",`+surveyTools+`}`, s, nil); len(said) != 1 || !strings.HasPrefix(said[0], `P49 h.js:1:1: "node:vm" can be imported, but throws`) || !strings.HasSuffix(said[0], "| do without") {
		t.Errorf("%q", said)
	}
	if said := w.survey(`{"name":"a","engine":"node",`+surveyTools+`}`, s, nil); len(said) != 0 {
		t.Errorf("of a real Node.js: %q", said)
	}
}

func TestCheckTellsWhatIsNotUsed(t *testing.T) {
	const manifest = `{"name":"a","permissions":{"settings":true,"store":true,"env":["HOME","USER"],"net":{"static":["x.example:1"]},"fetch":{"static":["x.example"]},"fs":{"write":{"folder":true}}},` + surveyTools + `}`
	for code, want := range map[string][]string{
		`ctx.store.get(process.env.HOME)`: {"/permissions/settings", "/permissions/env/1", "/permissions/net", "/permissions/fetch", "/permissions/fs/write"},
		`const { settings, store } = ctx; helper(process.env); require("net"); fetch(); fs.rmSync()`:       {},
		`const { HOME, USER } = process.env; ctx.settings; ctx.store; ctx.fetch; tls.connect; writeFile()`: {},
	} {
		w := newWorld(t, nil)
		if said := w.survey(manifest, &runtimes.Survey{Code: code}, nil); len(said) != 0 {
			t.Errorf("unasked: %q", said)
		}
		said := strings.Join(w.survey(manifest, &runtimes.Survey{Code: code}, &Options{All: true}), "\n")
		if n := strings.Count(said, "P51 "+ManifestFile+":1:"); n != len(want) {
			t.Errorf("%s: %d of %d\n%s", code, n, len(want), said)
		}
	}
	policy := &permissions.Policy{Store: true, Env: []string{"A"}}
	if got := unused(policy, "nothing"); len(got) != 2 || got[0].pointer != "/permissions/store" || got[1].pointer != "/permissions/env/0" {
		t.Errorf("%v", got)
	}
}

func TestCheckTellsWhatAModelCannotTellApart(t *testing.T) {
	w := newWorld(t, nil)
	tool := func(id, description string) string {
		return `{"id":"` + id + `","title":"T","description":"` + description + `","schema":"s.json","handler":"h.js"}`
	}
	said := w.survey(`{"name":"my-kit","tools":[`+tool("count_the_words_of_text", "Count the words of text.")+","+tool("lines", "Counts what there is in a text.")+","+tool("words", "counts what there is, in a text")+`]}`,
		&runtimes.Survey{}, &Options{Taken: map[string]string{"lines": "the host", "": "nobody"}})
	got := strings.Join(said, "\n")
	for _, want := range []string{"P54 " + ManifestFile + ":1:", "only repeats its id", "P53 " + ManifestFile + ":1:", `is described as "lines" is`, "P52 " + ManifestFile + ":1:", `of a tool of the host`, `"my_kit_lines"`} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if len(said) != 3 {
		t.Errorf("%q", said)
	}
}
