package loader

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/runtimes"
)

// schemaRuntime opens plugins whose program knows the schemas of its tools.
type schemaRuntime struct {
	fakeRuntime
	schemas map[string]runtimes.Schemas
	err     error
}

type schemaInstance struct {
	runtimes.Instance
	rt *schemaRuntime
}

func (r *schemaRuntime) Open(ctx context.Context, spec runtimes.Spec) (runtimes.Instance, error) {
	spec.Tools = nil // they have no files
	in, err := r.fakeRuntime.Open(ctx, spec)
	return &schemaInstance{in, r}, err
}

func (i *schemaInstance) Schemas(context.Context) (map[string]runtimes.Schemas, error) {
	return i.rt.schemas, i.rt.err
}

func TestSchemasOfTheProgram(t *testing.T) {
	const manifest = `{"name":"served","runtime":"process","protocol":"mcp","command":"x","tools":[
		{"id":"a","description":"Has none in the manifest."},
		{"id":"b","description":"Has one.","schema":"./s.json"}]}`
	object := runtimes.Schemas{Input: []byte(`{"type":"object","properties":{"n":{"type":"number"}}}`), Output: []byte(`{"type":"object"}`)}
	for _, c := range []struct {
		name    string
		schemas map[string]runtimes.Schemas
		err     error
		want    string // in the error; "" for none
	}{
		{"all there", map[string]runtimes.Schemas{"a": object, "b": object}, nil, ""},
		{"none", nil, nil, `no schema for the tool "a"`},
		{"no JSON", map[string]runtimes.Schemas{"a": {Input: []byte("{")}}, nil, `for the tool "a" cannot be used`},
		{"no object", map[string]runtimes.Schemas{"a": {Input: []byte(`{"type":"string"}`)}}, nil, `for the tool "a" cannot be used`},
		{"an odd output schema", map[string]runtimes.Schemas{"a": {Input: object.Input, Output: []byte(`7`)}}, nil, ""},
		{"a server that does not start", nil, errors.New("its process ended"), "its process ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rt := &schemaRuntime{schemas: c.schemas, err: c.err}
			dir := t.TempDir()
			for name, text := range map[string]string{"filer-plugin.json": manifest, "s.json": `{"type":"object","properties":{"own":{"type":"string"}}}`} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			log := slog.New(slog.DiscardHandler)
			o := &opener{rts: map[string]runtimes.Runtime{"process": rt}, log: log}
			p := o.open(t.Context(), dir)
			defer p.abandon(log)
			var text []string
			for _, e := range p.errors {
				text = append(text, e.Error())
			}
			if got := strings.Join(text, "\n"); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
				t.Fatalf("errors: %q, want %q", got, c.want)
			}
			if c.want != "" {
				if alive := rt.alive(); len(alive) > 0 {
					t.Errorf("left open: %v", alive)
				}
				return
			}
			a, b := toolNamed(p.tools, "a"), toolNamed(p.tools, "b")
			if !strings.Contains(string(a.InputSchema), `"n"`) || !strings.Contains(string(b.InputSchema), `"own"`) {
				t.Errorf("the schemas are %s and %s", a.InputSchema, b.InputSchema)
			}
		})
	}
}

func toolNamed(list []*host.Tool, name string) *host.Tool {
	for _, t := range list {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Without that protocol a tool needs a schema in the manifest.
func TestMissingSchema(t *testing.T) {
	for protocol, wrong := range map[string]bool{"mcp": false, "stdio": true, "go-plugin": true} {
		_, mistakes, _ := ParseManifest([]byte(`{"name":"a","runtime":"process","protocol":"`+protocol+`","command":"x","tools":[{"id":"t","description":"d"}]}`), nil)
		if missing := len(mistakes) == 1 && strings.Contains(mistakes[0].Msg, `"schema" is missing in tool "t"`); missing != wrong || !wrong && len(mistakes) > 0 {
			t.Errorf("%s: %v", protocol, mistakes)
		}
	}
}
