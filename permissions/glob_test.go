package permissions

import (
	"errors"
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"docs/**", "docs/a/b.md", true},
		{"docs/**", "docs", true},
		{"docs/**", "docs2", false},
		{"**/*.md", "a.md", true},
		{"**/*.md", "x/y/a.md", true},
		{"*.md", "x/a.md", false},
		{"*.{md,txt}", "a.txt", true},
		{"[a-c].md", "b.md", true},
		{"a?c", "a/c", false},
		{`\*.md`, "*.md", true},
		{`\*.md`, "a.md", false},
		{"*.MD", "a.md", false},
	} {
		if got, err := Match(tt.pattern, tt.name); got != tt.want || err != nil {
			t.Errorf("%s, %s: %v %v", tt.pattern, tt.name, got, err)
		}
	}
	for _, bad := range []string{"[", "{a", "a}", `a\`, "[]", strings.Repeat("{a,b}", 12), strings.Repeat("x", 2000)} {
		if _, err := Match(bad, "a"); !errors.Is(err, ErrBadGlob) {
			t.Errorf("%.20s: %v", bad, err)
		}
	}
}

// What any spelling of a name closes must not depend on case or on what cannot be seen.
func TestFold(t *testing.T) {
	for _, pair := range [][2]string{
		{"CLAUDE.md", "claude.MD"}, {".git", ".g\u200cit"}, {"id_rsa", "ID_R\u017fA"}, {"keys.key", "\u212aeys.\u212aey"},
		{"ÄRGER", "ärger"}, {".ssh", "\u00ad.ssh\u2060"},
	} {
		if fold(pair[0]) != fold(pair[1]) {
			t.Errorf("%q is not %q: %q %q", pair[0], pair[1], fold(pair[0]), fold(pair[1]))
		}
	}
	if fold("a/b") == fold("a-b") {
		t.Error("different names fold together")
	}
}
