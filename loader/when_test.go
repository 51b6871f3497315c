package loader

import (
	"strings"
	"testing"
)

func TestConditions(t *testing.T) {
	value := func(name string) bool { return name == "fileSelected" || name == "setting:kit.on" }
	for text, want := range map[string]bool{
		"": true, " ": true, "fileSelected": true, "hasSelection": false, "!hasSelection": true, "!!fileSelected": true,
		"fileSelected && hasSelection": false, "fileSelected || hasSelection": true, "hasSelection || fileSelected && setting:kit.on": true,
		"(hasSelection || fileSelected) && setting:kit.off": false, "!(hasSelection && fileSelected)": true, "fileSelected&&!agentRunning": true,
		"hasSelection && fileSelected || setting:kit.on": true, "!fileSelected || hasSelection && fileSelected": false,
	} {
		c, err := parseCondition(text)
		if err != nil || c.holds(value) != want {
			t.Errorf("%q: %v, want %t", text, err, want)
		}
	}
	for _, text := range []string{"&&", "fileSelected &", "fileSelected fileSelected", "(fileSelected", "fileSelected)", "!", "setting:", "nope",
		"fileSelected == 1", strings.Repeat("!", 60) + "fileSelected", strings.Repeat("(", 200), strings.Repeat("fileSelected && ", 80) + "fileSelected", "é"} {
		if c, err := parseCondition(text); err == nil {
			t.Errorf("%.60q: got %+v", text, c)
		}
	}
}

// A condition that parses can be asked; without its brackets' and signs' meaning lost it
// says the opposite where a ! stands before it.
func FuzzCondition(f *testing.F) {
	for _, seed := range []string{"fileSelected && !agentRunning", "(a||b)", "setting:x.y || !(hasSelection)", "!!vaultOpen", "((("} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseCondition(text)
		if err != nil || c == nil {
			return
		}
		value := func(name string) bool { return len(name)%2 == 0 }
		not, err := parseCondition("!(" + text + ")")
		if err != nil {
			return // two bytes more or a level deeper may be too much
		}
		if c.holds(value) == not.holds(value) {
			t.Errorf("%q and its opposite are both %t", text, c.holds(value))
		}
	})
}
