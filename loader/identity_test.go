package loader

import (
	"regexp"
	"strconv"
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

// Whoever names a language, or what runs it, is told what to write.
func TestRuntimeHints(t *testing.T) {
	const python = `"runtime": "process", "command": ["python3", "./main.py"]`
	for runtime, want := range map[string]string{
		"Node": `did you mean "node"?`, "nodejs": `did you mean "node"?`, "proces": `did you mean "process"?`, "js": `write "runtime": "node"`, "Node.JS": `write "runtime": "node"`,
		"python": "write " + python, "Python3": "write " + python, "deno": `or "runtime": "process", "command": ["deno", "run", "./main.ts"]`,
		"bun": `or "runtime": "process", "command": ["bun", "run", "./main.ts"]`, "ruby": `"command": ["ruby", "./main.rb"]`, "exec": `write "runtime": "process", "command": "./main"`,
		"go": `write "runtime": "process", "command": "./main"`, "mcp": `"command": "./main", "protocol": "mcp"`, "wasm": "for a program in any other language " + python, "": python,
	} {
		_, mistakes, _ := ParseManifest([]byte(`{"name":"a","runtime":`+strconv.Quote(runtime)+`}`), nil)
		if len(mistakes) != 1 || mistakes[0].Rule != ruleChoice || mistakes[0].Column != 23 || !strings.Contains(mistakes[0].Hint, want) {
			t.Errorf("%q: %v, want %s", runtime, report(mistakes, nil), want)
		}
	}
	// What is written as it should be but for the runtime is not told of its command once more.
	_, mistakes, _ := ParseManifest([]byte(`{"name":"a","runtime":"nodejs","command":["node","./main.js"]}`), nil)
	if got, want := report(mistakes, nil), "\thint: write \"runtime\": \"process\": it runs the \"command\"\n"; len(mistakes) != 1 || !strings.HasSuffix(got, want) {
		t.Errorf("with a command: %s", got)
	}
}
