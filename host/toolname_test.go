package host

import (
	"regexp"
	"strings"
	"testing"
)

// TestToolName holds ToolName against the expression that messages give.
func TestToolName(t *testing.T) {
	want := regexp.MustCompile(ToolNames)
	names := []string{"", "a", "Z9_-", "-", "a b", "a\n", "\na", "é", "a.b", "a\x00", strings.Repeat("a", 64), strings.Repeat("a", 65)}
	for c := range 256 {
		names = append(names, string([]byte{byte(c)}), string([]byte{'a', byte(c)}), string([]byte{byte(c), 'a'}))
	}
	for _, name := range names {
		if got := ToolName(name); got != want.MatchString(name) {
			t.Errorf("ToolName(%q) is %t", name, got)
		}
	}
}
