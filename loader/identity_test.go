package loader

import (
	"regexp"
	"strings"
	"testing"
)

// TestPluginName holds isPluginName against the expression that messages give.
func TestPluginName(t *testing.T) {
	want := regexp.MustCompile(pluginNames)
	names := []string{"", "a", "9", "-a", "a-", "A", "a_b", "a\n", "\na", "é", "a\x00", strings.Repeat("a", 64), strings.Repeat("a", 65)}
	for c := range 256 {
		names = append(names, string([]byte{byte(c)}), string([]byte{'a', byte(c)}), string([]byte{byte(c), 'a'}))
	}
	for _, name := range names {
		if got := isPluginName(name); got != want.MatchString(name) {
			t.Errorf("isPluginName(%q) is %t", name, got)
		}
	}
}
