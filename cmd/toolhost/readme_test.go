package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// block is a code block of the README that stands for a file.
var block = regexp.MustCompile("(?s)<!-- file: (\\S+) -->\n```\\w+\n(.*?)```")

// TestReadme does what the README says: its plugin checks clean and answers, and its Go
// program runs.
func TestReadme(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := block.FindAllSubmatch(readme, -1)
	if len(files) != 4 {
		t.Fatalf("the README has %d files, not 4", len(files))
	}
	for _, f := range files {
		path := filepath.Join(dir, "plugins-of-mine", string(f[1]))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f[2], 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "hello.txt"), []byte("hello there\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for _, v := range []string{"XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(v, filepath.Join(dir, ".xdg"))
	}
	for _, c := range []struct {
		line string
		code int
		want string
	}{
		{"check plugins-of-mine/shout --strict", 0, "plugins-of-mine/shout: ok"},
		{"call shout_file path=hello.txt times=3 --plugins plugins-of-mine", 0, "HELLO THERE!!!\n"},
		{"call shout_file path=/etc/passwd --plugins plugins-of-mine", 1, "/path"},
		{"menu hello.txt --plugins plugins-of-mine", 0, "shout_file\tShout a file\tshout"},
	} {
		var out, stderr bytes.Buffer
		code := run(t.Context(), strings.Fields(c.line), strings.NewReader(""), &out, &stderr)
		if code != c.code || !strings.Contains(out.String(), c.want) {
			t.Errorf("toolhost %s: code %d, stdout %q, stderr %q; want %d and %q", c.line, code, out.String(), stderr.String(), c.code, c.want)
		}
		if !strings.Contains(string(readme), "toolhost "+strings.TrimSuffix(c.line, " --strict")) {
			t.Errorf("the README does not say %q", c.line)
		}
	}

	t.Chdir(root)
	out, err := exec.Command("go", "run", filepath.Join(dir, "plugins-of-mine", "embed", "main.go")).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "words") {
		t.Errorf("the README's program: %v\n%s", err, out)
	}
}
