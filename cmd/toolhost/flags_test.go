package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoHome runs without a home folder: what others put into the temporary folder must
// neither be read as configuration nor run as plugins.
func TestNoHome(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	for _, name := range []string{"HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(name, "")
	}
	for name, text := range map[string]string{
		".config/toolhost/config.json":                            `{"plugins": 5}`,
		".local/share/toolhost/plugins/planted/filer-plugin.json": `{"name": "planted"}`,
	} {
		path := filepath.Join(temp, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(t.TempDir())
	var out, stderr bytes.Buffer
	if code := run(t.Context(), []string{"list", "--plugins-only"}, strings.NewReader(""), &out, &stderr); code != exitDone || stderr.Len() > 0 {
		t.Errorf("list ended with code %d and said %q", code, stderr.String())
	}
	if !strings.Contains(out.String(), "count_words") || strings.Contains(out.String(), "planted") {
		t.Errorf("list gave\n%s", out.String())
	}
	for _, dir := range []string{temp, "."} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Name() != ".config" && e.Name() != ".local" {
				t.Errorf("%q was left in %q", e.Name(), dir)
			}
		}
	}
}
