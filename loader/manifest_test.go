package loader

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
)

var update = flag.Bool("update", false, "write the golden files anew")

// report writes what was found in a manifest, as the golden files have it.
func report(mistakes, warnings []*ManifestError) string {
	if len(mistakes)+len(warnings) == 0 {
		return "ok\n"
	}
	var b strings.Builder
	for _, e := range slices.Concat(mistakes, warnings) {
		severity := "error"
		if e.Warning {
			severity = "warning"
		}
		fmt.Fprintf(&b, "%s %s %d:%d %q %s\n", severity, e.Rule, e.Line, e.Column, e.Pointer, e.Msg)
		if e.Hint != "" {
			fmt.Fprintf(&b, "\thint: %s\n", e.Hint)
		}
	}
	return b.String()
}

func TestManifestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/manifest/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no golden files", err)
	}
	var all strings.Builder
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var options *ParseOptions
			if strings.HasPrefix(filepath.Base(file), "card-") {
				options = &ParseOptions{File: CardFile}
			}
			_, mistakes, warnings := ParseManifest(data, options)
			got := report(mistakes, warnings)
			all.WriteString(got)
			golden := strings.TrimSuffix(file, ".json") + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
	// Rules of folders, modules and whole loads have their tests in load_test.go and check_test.go.
	elsewhere := []string{
		ruleUnreadable, ruleNotRun, ruleNotOffered, ruleNoTitle, ruleShort, ruleNothing, ruleAdvisory, ruleNoFile,
		ruleModule, ruleNoRuntime, ruleNameTaken, ruleInternal, ruleRefused, ruleHidden,
		ruleTwoManifests, ruleCardPage, ruleSlow, ruleNoModule, ruleUndeclared, ruleUnused, ruleIDTaken, ruleSameText, ruleSaysNothing, ruleNoFileRule,
	}
	for _, r := range Rules() {
		if !slices.Contains(elsewhere, r.ID) && !strings.Contains(all.String(), string(r.Severity)+" "+r.ID+" ") && r.ID != ruleToolTwice {
			t.Errorf("no golden file breaks rule %s (%s)", r.ID, r.Text)
		}
	}
}

func TestRulesAreNumbered(t *testing.T) {
	for i, r := range Rules() {
		if want := fmt.Sprintf("P%02d", i+1); r.ID != want {
			t.Errorf("rule %d has id %s, want %s", i, r.ID, want)
		}
		if r.Text == "" || r.Severity == "" {
			t.Errorf("rule %s says nothing", r.ID)
		}
	}
}

// The published schema is the one that the loader checks by.
func TestPublishedSchema(t *testing.T) {
	published, err := os.ReadFile("../docs/filer-plugin.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(published, manifestSchemaText) {
		t.Error("docs/filer-plugin.schema.json differs from loader/filer-plugin.schema.json; copy it there")
	}
}

// An editor explains every field, so each must say what it is.
func TestSchemaDescribesEveryField(t *testing.T) {
	seen := map[*node]bool{}
	var walk func(n *node, path string)
	walk = func(n *node, path string) {
		if n == nil || seen[n] {
			return
		}
		seen[n] = true
		if n.Description == "" && !strings.Contains(path, "/hooks/") && !strings.HasSuffix(path, "/*") {
			t.Errorf("%s has no description", path)
		}
		for name, p := range n.Properties {
			walk(p, path+"/"+name)
		}
		walk(n.Items, path+"/*")
		walk(n.Additional, path+"/*")
	}
	walk(filerForm.tree(), "")
	for _, example := range []string{"/tools/0/id", "/permissions/fs/read/paths", "/contributes/settings/a.b/type", "/contributes/actions/0/params/1/options/0/value"} {
		if filerForm.tree().at(example) == nil {
			t.Errorf("the schema has nothing at %s", example)
		}
	}
}

func TestManifestFields(t *testing.T) {
	data, err := os.ReadFile("testdata/manifest/every-field.json")
	if err != nil {
		t.Fatal(err)
	}
	m, mistakes, _ := ParseManifest(data, nil)
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	truth := true
	for what, pair := range map[string][2]any{
		"name": {m.Name, "every-field"}, "runtime": {m.Runtime, "node"}, "author": {m.Author, Author{"Ada", "https://example.com"}},
		"timeout": {m.Timeout, 45 * time.Second}, "memory": {m.Memory, int64(256 << 20)},
		"tool timeout": {m.Tools[0].Timeout, 1500 * time.Millisecond}, "tool pointer": {m.Tools[0].Pointer, "/contributes/tools/0"},
		"hooks": {string(m.Contributes.Hooks["onAppReady"]), `"./hooks/ready.js"`}, "action scope": {m.Contributes.Actions[0].Scope[1], "multi-file"},
		"action one scope": {m.Contributes.Actions[1].Scope[0], "single-file"}, "option": {m.Contributes.Actions[0].Params[0].Options[1].Label, "json"},
		"setting": {string(m.Contributes.Settings["every-field.format"].Default), `"plain"`}, "view": {m.Contributes.Views[0].Location, "plugins-tab"},
		"command": {m.Contributes.Commands[0].When, "fileSelected"}, "hidden": {m.Contributes.Actions[1].Hidden, true},
		"generate": {m.Contributes.Actions[0].Generate.ForwardParamIDs[0], "intro"}, "state": {m.State, "call"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s = %v, want %v", what, pair[0], pair[1])
		}
	}
	if got := m.Tools[0].Annotations; got == nil || got.ReadOnlyHint == nil || *got.ReadOnlyHint != truth || got.OpenWorldHint != nil {
		t.Errorf("annotations = %+v", got)
	}
	want := permissions.Policy{
		FS: permissions.FSPolicy{
			Read:  permissions.Access{Parameter: true, Paths: []string{"docs/**"}, Deny: []string{"**/.env"}},
			Write: permissions.Access{Folder: true},
			List:  &permissions.Access{Parameter: true},
		},
		Fetch: permissions.HostPolicy{Static: []string{"api.example.com"}, Settings: []string{"every-field.url"}},
		Net:   permissions.HostPolicy{Static: []string{"mail.example.com:25"}},
		Env:   []string{"LANG"}, Settings: true, Store: true, Log: true, Toast: true, HostTrigger: true, RenderHTMLToPDF: true,
		SessionGetActive: true, ChannelsGetIntegrationConfig: true, AIComplete: true,
	}
	if got := fmt.Sprintf("%+v %+v", *m.Policy, *m.Policy.FS.List); got != fmt.Sprintf("%+v %+v", want, *want.FS.List) && !samePolicy(*m.Policy, want) {
		t.Errorf("policy = %s", got)
	}
}

func samePolicy(a, b permissions.Policy) bool {
	listA, listB := *a.FS.List, *b.FS.List
	a.FS.List, b.FS.List = nil, nil
	return fmt.Sprintf("%+v%+v", a, listA) == fmt.Sprintf("%+v%+v", b, listB)
}

// Nothing that a manifest does not say is allowed, and a wrong form grants nothing.
func TestPolicyGrantsOnlyWhatIsSaid(t *testing.T) {
	for _, text := range []string{
		`{"name":"a"}`,
		`{"name":"a","permissions":{}}`,
		`{"name":"a","Permissions":{"fs":{"read":{"folder":true}},"log":true}}`,
		`{"name":"a","permissions":{"fs":{"Read":{"folder":true},"read":{"folder":"yes","Folder":true,"parameter":1}},"log":"true","ai":{"Complete":true}}}`,
		`{"name":"a","permissions":{"fs":true,"fetch":true,"settings":null,"session":{"getActive":"true"}}}`,
	} {
		m, _, _ := ParseManifest([]byte(text), nil)
		if got, want := fmt.Sprintf("%+v", *m.Policy), fmt.Sprintf("%+v", permissions.Policy{}); got != want {
			t.Errorf("%s gives %s", text, got)
		}
	}
}

func TestManifestMaxTimeout(t *testing.T) {
	text := []byte(`{"name":"a","tools":[{"id":"t","description":"d","schema":"s.json","handler":"h.js","timeout":"20m"}]}`)
	if _, mistakes, _ := ParseManifest(text, nil); len(mistakes) != 1 || !strings.Contains(mistakes[0].Msg, "more than 10m,") {
		t.Errorf("mistakes = %v", mistakes)
	}
	m, mistakes, _ := ParseManifest(text, &ParseOptions{MaxTimeout: time.Hour})
	if len(mistakes) > 0 || m.Tools[0].Timeout != 20*time.Minute {
		t.Errorf("mistakes = %v", mistakes)
	}
}

func TestManifestSizes(t *testing.T) {
	if m, mistakes, _ := ParseManifest(bytes.Repeat([]byte(" "), MaxManifest+1), nil); m != nil || len(mistakes) != 1 || mistakes[0].Rule != ruleUnreadable {
		t.Errorf("mistakes = %v", mistakes)
	}
	fits := []byte(`{"name":"a"}`)
	fits = append(fits, bytes.Repeat([]byte(" "), MaxManifest-len(fits))...)
	if _, mistakes, _ := ParseManifest(fits, nil); len(mistakes) > 0 {
		t.Errorf("mistakes = %v", mistakes)
	}
}

// A manifest made to have as many mistakes as fit must not take long, nor flood the log.
func TestManifestManyMistakes(t *testing.T) {
	unknown := "{" + strings.Repeat(`"nmae`+strings.Repeat("x", 20)+`":1,`, 5000) + `"name":"a"}`
	i := 0
	unknown = regexp.MustCompile(`xxxxxxxxxx"`).ReplaceAllStringFunc(unknown, func(string) string { i++; return fmt.Sprintf(`%d"`, i) })
	for name, text := range map[string]string{
		"tools":      `{"name":"a","tools":[` + strings.TrimSuffix(strings.Repeat("{},", 9000), ",") + `]}`,
		"wrong":      `{"name":"a","keywords":[` + strings.TrimSuffix(strings.Repeat("1,", 9000), ",") + `]}`,
		"extensions": `{"name":"a","tools":[{"fileExtensions":[` + strings.TrimSuffix(strings.Repeat(`"a",`, 9000), ",") + `]}]}`,
		"unknown":    unknown,
		"too many":   `{"name":"a","keywords":[` + strings.TrimSuffix(strings.Repeat("1,", 120000), ",") + `]}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, mistakes, warnings := ParseManifest([]byte(text), nil)
			if len(mistakes)+len(warnings) == 0 || len(mistakes) > maxReports+1 || len(warnings) > maxReports+1 {
				t.Errorf("%d mistakes, %d warnings", len(mistakes), len(warnings))
			}
			if _, mistakes, _ := ParseManifest([]byte(`{"name":"a"}`), nil); len(mistakes) > 0 {
				t.Errorf("the next manifest is the worse for it: %v", mistakes)
			}
		})
	}
}

func FuzzParseManifest(f *testing.F) {
	files, err := filepath.Glob("testdata/manifest/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, mistakes, warnings := ParseManifest(data, nil)
		if m == nil && len(mistakes) == 0 {
			t.Fatal("neither a manifest nor a mistake")
		}
		lines := bytes.Split(bytes.TrimPrefix(data, []byte("\ufeff")), []byte("\n"))
		for _, e := range slices.Concat(mistakes, warnings) {
			if e.Rule == "" || e.Msg == "" || e.File != ManifestFile && e.File != CardFile {
				t.Fatalf("%+v", e)
			}
			if len(data) > MaxManifest {
				continue
			}
			if e.Line < 1 || e.Line > len(lines) || e.Column < 1 || e.Column > len([]rune(string(lines[e.Line-1])))+1 {
				t.Fatalf("%d:%d is outside of the file: %+v", e.Line, e.Column, e)
			}
			if strings.ContainsAny(e.Msg+e.Hint, "\n\r\x00") {
				t.Fatalf("a message of several lines: %q", e.Msg)
			}
		}
		if len(mistakes) > 0 {
			return
		}
		if m.Kind == KindCard {
			checkCardManifest(t, m)
			return
		}
		if !isPluginName(m.Name) || m.Runtime != "node" && m.Runtime != "process" {
			t.Fatalf("an impossible manifest: %+v", m)
		}
		for _, tool := range m.Tools {
			if !host.ToolName(tool.ID) || strings.Contains(tool.ID, "__") || strings.TrimSpace(tool.Description) == "" || tool.Schema == "" && m.Protocol != "mcp" ||
				(tool.Handler != "") != (m.Runtime == "node") || tool.Timeout < 0 || tool.Timeout > DefaultMaxTimeout {
				t.Fatalf("an impossible tool: %+v", tool)
			}
		}
	})
}

func BenchmarkParseManifest(b *testing.B) {
	data, err := os.ReadFile("testdata/manifest/every-field.json")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		ParseManifest(data, nil)
	}
}
