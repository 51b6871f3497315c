package loader

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/runtimes"
)

// programs opens plugins whose tools have no modules.
type programs struct{ *fakeRuntime }

func (r programs) Open(ctx context.Context, spec runtimes.Spec) (runtimes.Instance, error) {
	spec.Tools = nil
	return r.fakeRuntime.Open(ctx, spec)
}

// Whoever marks arguments as paths, and may touch no file of the folder, is told so, and nobody else.
func TestCheckTellsOfMarksWithoutRule(t *testing.T) {
	const (
		open   = "export default (p, ctx) => ctx.fs.read(p.path)"
		marked = "{\n  \"type\": \"object\", \"additionalProperties\": false,\n  \"properties\": { \"path\": { \"type\": \"string\", \"format\": \"file-path\", \"description\": \"The file.\" } }\n}"
		folder = `{"type":"object","additionalProperties":false,"properties":{"all":{"type":"array","items":{"type":"string","format":"directory-path"}}}}`
		named  = `{"type":"object","additionalProperties":false,"properties":{"path":{"type":"string"}}}`
		unused = `{"type":"object","additionalProperties":false,"properties":{"path":{"type":"string"}},"$defs":{"p":{"type":"string","format":"file-path"}}}`
		linked = `{"type":"object","additionalProperties":false,"properties":{"path":{"$ref":"p.json"}}}`
		read   = `"permissions": {"fs": {"read": {"parameter": true}}}`
		write  = `"permissions": {"fs": {"write": {"parameter": true}}}`
	)
	wrote := runtimes.Survey{Code: "ctx.fs.write(p.path, '')", Uses: []runtimes.Use{{Kind: runtimes.UseWrite, Text: "ctx.fs.write", File: "h.js", Line: 1, Column: 1}}}
	for _, c := range []struct {
		name, permissions, schema string
		survey                    runtimes.Survey
		process                   bool
		place, hint               string // "" where nothing is said
	}{
		{"a file", ``, marked, runtimes.Survey{Code: open}, false, "s.json:3:57: ", "add " + read},
		{"folders", ``, folder, runtimes.Survey{Code: open}, false, "s.json:1:117: ", "add " + read},
		{"in another file", ``, linked, runtimes.Survey{Code: open}, false, "p.json:1:28: ", "add " + read},
		{"only written", `"log":true`, marked, wrote, false, "s.json:3:57: ", "add " + write},
		{"a program", ``, marked, runtimes.Survey{}, true, "s.json:3:57: ", "add " + read},
		{"deny alone", `"fs":{"read":{"deny":["**/x"]},"write":{"parameter":false}}`, marked, runtimes.Survey{Code: open}, false, "s.json:3:57: ", "add " + read},
		{"the plugin's own", `"fs":{"read":{"paths":["plugin:data/**"]}}`, marked, runtimes.Survey{}, true, "s.json:3:57: ", "add " + read},
		{"a rule", `"fs":{"read":{"parameter":true}}`, marked, runtimes.Survey{Code: open}, false, "", ""},
		{"a rule for writing", `"fs":{"write":{"parameter":true}}`, marked, runtimes.Survey{}, true, "", ""},
		{"a rule for listing", `"fs":{"list":{"parameter":true}}`, folder, runtimes.Survey{}, true, "", ""},
		{"the whole folder", `"fs":{"read":{"folder":true}}`, marked, runtimes.Survey{}, true, "", ""},
		{"globs", `"fs":{"read":{"paths":["docs/**"]}}`, marked, runtimes.Survey{}, true, "", ""},
		{"no file is touched", ``, marked, runtimes.Survey{Code: "export default (p) => p.path.length"}, false, "", ""},
		{"another plugin's command", `"hostTrigger":true`, marked, runtimes.Survey{Code: open}, false, "", ""},
		{"by name", ``, named, runtimes.Survey{Code: open}, false, "", ""},
		{"a mark that counts for nothing", ``, unused, runtimes.Survey{}, true, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, nil)
			w.write("a/s.json", c.schema)
			w.write("a/p.json", `{"type":"string","format": "file-path"}`)
			w.write("a/h.js", "")
			how, handler := "", `,"handler":"h.js"`
			if c.process {
				how, handler = `"runtime":"process","command":"x",`, ""
			}
			tool := `"title":"X","schema":"s.json"` + handler
			w.write("a/"+ManifestFile, `{"name":"a",`+how+`"permissions":{`+c.permissions+`},"tools":[{"id":"x","description":"Counts the words of a text.",`+tool+`},{"id":"y","description":"Counts the lines of a text.",`+tool+`}]}`)
			rt := surveyed{w.rt, &c.survey}
			r := Check(context.Background(), filepath.Join(w.dir, "a"), map[string]runtimes.Runtime{"node": rt, "process": programs{w.rt}}, nil)
			said := slices.DeleteFunc(slices.Clone(r.Warnings), func(e *ManifestError) bool { return e.Rule != ruleNoFileRule })
			switch {
			case !r.OK:
				t.Errorf("errors = %v", r.Errors)
			case c.place == "" && len(said) > 0, c.place != "" && len(said) != 1:
				t.Errorf("it is said: %v", r.Warnings)
			case len(said) == 1 && (!strings.HasPrefix(said[0].Error(), c.place) || !strings.HasPrefix(said[0].Hint, c.hint)):
				t.Errorf("it is said: %v, %s", said[0], said[0].Hint)
			}
		})
	}
}
