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

var (
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading  = regexp.MustCompile("(?m)^#+ +(.*)$")
	fence    = regexp.MustCompile("(?ms)^```.*?^```|`[^`\n]*`")
	noAnchor = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// TestLinks follows the relative links of the documentation, to their heading where they
// name one.
func TestLinks(t *testing.T) {
	root := filepath.Join("..", "..")
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages = append(pages, filepath.Join(root, "README.md"), filepath.Join(root, "examples", "README.md"))
	followed := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllSubmatch(fence.ReplaceAll(text, nil), -1) {
			target := string(m[1])
			if strings.Contains(target, "://") {
				continue
			}
			followed++
			name, anchor, _ := strings.Cut(target, "#")
			to := page
			if name != "" {
				to = filepath.Join(filepath.Dir(page), filepath.FromSlash(name))
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s: %v", page, target, err)
				continue
			}
			if anchor != "" && !hasHeading(t, to, anchor) {
				t.Errorf("%s links to %s: there is no such heading", page, target)
			}
		}
	}
	if followed < 20 {
		t.Errorf("only %d links found: this test looks wrongly", followed)
	}
}

// hasHeading says whether a page has the heading of an anchor, which is made from it as
// forges make it: lower case, punctuation left out, hyphens for spaces.
func hasHeading(t *testing.T, page, anchor string) bool {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range heading.FindAllSubmatch(text, -1) {
		slug := noAnchor.ReplaceAllString(strings.ToLower(string(m[1])), "")
		if strings.ReplaceAll(slug, " ", "-") == anchor {
			return true
		}
	}
	return false
}
