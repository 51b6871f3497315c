package process_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/process"
)

// A program in a folder bin gets what belongs to its installation, and not what else the
// user keeps beside it; of the agent's folder it gets nothing.
func TestInstallations(t *testing.T) {
	for _, c := range []struct {
		name string
		more []string // files that make it an installation of some kind
		open string   // which are readable then
	}{
		{"credentials", nil, "lib/x share/x libexec/x include/x"},
		{"java", []string{"lib/modules", "conf/x", "release"}, "lib/x share/x libexec/x include/x conf/x release"},
		{"go", []string{"pkg/tool/x", "src/runtime/x", "VERSION"}, "lib/x share/x libexec/x include/x src/runtime/x VERSION"},
	} {
		t.Run(c.name, func(t *testing.T) {
			prefix := t.TempDir()
			p := open(t, nil, runtimes.Spec{Command: []string{installed(t, prefix, c.more)}})
			if got, failed := p.call("text", object{}); failed || got != c.open {
				t.Errorf("got %q, want %q", got, c.open)
			}
		})
	}
	t.Run("the agent's folder", func(t *testing.T) {
		for _, below := range []string{".", "deep/er"} {
			prefix := t.TempDir()
			if err := os.MkdirAll(filepath.Join(prefix, below), 0o755); err != nil {
				t.Fatal(err)
			}
			p := openIn(t, filepath.Join(prefix, below), &process.Options{}, runtimes.Spec{Command: []string{installed(t, prefix, nil)}})
			if got, failed := p.call("text", object{}); failed || got != "" {
				t.Errorf("%s: got %q", below, got)
			}
		}
	})
}

// installed writes a program that says which files of its installation it can read.
func installed(t *testing.T, prefix string, more []string) string {
	t.Helper()
	names := append([]string{"credentials", "lib/x", "share/x", "libexec/x", "include/x", "conf/x", "src/runtime/x", "release", "VERSION", "config/x"}, more...)
	for _, name := range names {
		file := filepath.Join(prefix, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program := filepath.Join(prefix, "bin", "tool")
	script := fmt.Sprintf("#!/bin/sh\nread line\ncd /\nfor f in %s; do\n  if read x < %s/$f || [ \"$x\" ]; then found=\"$found $f\"; fi 2>/dev/null\n  x=\ndone\necho '{\"id\":\"c1\",\"result\":\"'\"${found# }\"'\"}'\n", strings.Join(names[:10], " "), prefix)
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return program
}
