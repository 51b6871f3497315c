//go:build outside

package schema

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// corpus gives the schemas of real tools, with verdicts of another validator.
func corpus(tb testing.TB) []corpusTool {
	tb.Helper()
	dir := os.Getenv("TOOLHOST_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	path := filepath.Join(dir, "data", "tool-schemas.jsonl.gz")
	f, err := os.Open(path)
	if err != nil {
		tb.Fatalf("the schemas of real tools are missing: %v; set TOOLHOST_SHARED to the folder that has data/tool-schemas.jsonl.gz", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	var tools []corpusTool
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var tool corpusTool
		if err := json.Unmarshal(lines.Bytes(), &tool); err != nil {
			tb.Fatalf("%s: %v", path, err)
		}
		tools = append(tools, tool)
	}
	if err := lines.Err(); err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
	return tools
}

// realTools are the corpus, for tests that want real schemas beside their own.
func realTools(tb testing.TB) []corpusTool { return corpus(tb) }

func TestRealTools(t *testing.T) {
	tools := corpus(t)
	verdicts := 0
	for _, tool := range tools {
		s, err := Compile(tool.Schema)
		if err != nil {
			t.Errorf("%s/%s: %v", tool.Server, tool.Tool, err)
			continue
		}
		for i, instance := range tool.Instances {
			verdicts++
			checked, err := s.Check(instance, true)
			if err != nil {
				t.Errorf("%s/%s: %s: %v", tool.Server, tool.Tool, instance, err)
				continue
			}
			if got := len(checked.Issues) == 0; got != tool.Valid[i] {
				t.Errorf("%s/%s: %s is valid: %v, want %v: %v", tool.Server, tool.Tool, instance, got, tool.Valid[i], checked.Issues)
			}
			if tool.Valid[i] {
				again, err := s.Check(checked.Value, true)
				if err != nil || len(again.Issues) > 0 || string(again.Value) != string(checked.Value) {
					t.Errorf("%s/%s: %s does not fit once its defaults are in: %v %v", tool.Server, tool.Tool, checked.Value, err, again.Issues)
				}
			}
		}
	}
	if len(tools) != 342 || verdicts != 13680 {
		t.Errorf("%d tools and %d verdicts, want 342 and 13680", len(tools), verdicts)
	}
}

// What draft-07 means must not change for a client that reads what is published
// as 2020-12.
func TestPublicMeansTheSame(t *testing.T) {
	for _, tool := range corpus(t) {
		s, err := Compile(tool.Schema)
		if err != nil || s.dialect != draft07 {
			continue
		}
		public, err := Compile(s.Public())
		if err != nil || public.dialect != draft2020 {
			t.Errorf("%s: %v, %v", tool.Tool, public, err)
			continue
		}
		for i, instance := range tool.Instances {
			c, err := public.Check(instance, true)
			if err != nil || (len(c.Issues) == 0) != tool.Valid[i] {
				t.Errorf("%s: %s: %v %v", tool.Tool, instance, c.Issues, err)
			}
		}
	}
}

// What clients are given is what they can digest, and accepts and refuses the same, but
// for the rules of a root that had to be flattened.
func TestPortableRealTools(t *testing.T) {
	changed := 0
	for _, tool := range corpus(t) {
		s, err := Compile(tool.Schema)
		if err != nil {
			t.Errorf("%s: %v", tool.Tool, err)
			continue
		}
		out := s.Portable()
		if string(out) != string(s.Public()) {
			changed++
		}
		for _, wrong := range unportable(out) {
			t.Errorf("%s: %s: %s", tool.Tool, wrong, out)
		}
		p, err := Compile(out)
		if err != nil {
			t.Errorf("%s: %v", tool.Tool, err)
			continue
		}
		_, flattened := p.tree.root.object["description"] // the corpus has none of its own
		for i, instance := range tool.Instances {
			c, err := p.Check(instance, true)
			if err != nil {
				t.Errorf("%s: %s: %v", tool.Tool, instance, err)
				continue
			}
			if valid := len(c.Issues) == 0; valid != tool.Valid[i] && (!flattened || !valid) {
				t.Errorf("%s: %s is valid: %v, by what is published: %v", tool.Tool, instance, tool.Valid[i], valid)
			}
		}
	}
	t.Logf("%d schemas are published in another form", changed)
}
