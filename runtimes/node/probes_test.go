//go:build outside

package node_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// notSupported are the probes of the language that do not give true, with what they give
// instead. docs/compatibility.md has each.
var notSupported = map[string]string{
	"dynamic-import-syntax":   `could not resolve "x"`,
	"regex-indices-d":         "the flag d (match indices) is not available",
	"regex-v-flag":            "the set operation -- of the flag v is not available",
	"regex-v-literal":         "the set operation -- of the flag v is not available",
	"regex-modifiers":         "Invalid group",
	"Symbols-as-WeakMap-keys": "Value is not an object",
	"Float16Array":            "Float16Array is not defined",
	"ArrayBuffer-resizable":   "Object has no member 'resize'",
	"SharedArrayBuffer":       "SharedArrayBuffer is not available in this host: a handler has one thread; use ArrayBuffer",
	"Atomics":                 "Atomics is not defined",
	"Intl.Segmenter":          "Intl.Segmenter is not available",
	"Math.sumPrecise":         "Object has no member 'sumPrecise'",
	"function-toString":       "false",
	"Date-Temporal":           "false",
	"deep-recursion-catch":    "Maximum call stack size exceeded",
}

// TestLanguageProbes runs each probe of the language as the body of a handler.
func TestLanguageProbes(t *testing.T) {
	shared := os.Getenv("TOOLHOST_SHARED")
	if shared == "" {
		shared = filepath.Join("..", "..", "..", "shared")
	}
	text, err := os.ReadFile(filepath.Join(shared, "data", "language-probes.txt"))
	if err != nil {
		t.Fatalf("the probes are outside of this repository; TOOLHOST_SHARED says where: %v", err)
	}
	left := maps.Clone(notSupported)
	probes := strings.Split("\n"+string(text), "\n#### ")[1:]
	for _, probe := range probes {
		head, body, _ := strings.Cut(probe, "\n")
		name, _, _ := strings.Cut(head, " | ")
		name = strings.TrimSpace(name)
		want, unsupported := left[name]
		delete(left, name)
		if !unsupported {
			want = "true"
		}
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"tool.js": handler(body)}
			if name == "dynamic-import-syntax" { // a module that is not there is told when the plugin loads
				if got := problems(t, nil, files).Error(); !strings.Contains(got, want) {
					t.Errorf("got %q, want %q", got, want)
				}
				return
			}
			if got := open(t, files, 10*time.Second).call(t, "tool", "{}"); got != want && !(unsupported && strings.Contains(got, want)) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	if len(probes) < 180 || len(left) > 0 {
		t.Errorf("of %d probes, these do not occur: %v", len(probes), slices.Sorted(maps.Keys(left)))
	}
}
