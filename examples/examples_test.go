// Package examples_test runs the cases of the example plugins.
package examples_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/toolhost/toolhost/internal/child"
	"github.com/toolhost/toolhost/internal/testhost"
)

func TestMain(m *testing.M) {
	child.Main()
	os.Exit(m.Run())
}

func TestCases(t *testing.T) {
	for _, dir := range []string{"commonjs", "esm", "typescript", "node-modules", "process-python", "process-shell"} {
		t.Run(dir, func(t *testing.T) { testhost.RunCases(t, dir) })
	}
}

// The examples in Go are built first.
func TestGo(t *testing.T) {
	for _, name := range []string{"process-go", "go-plugin"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), name)
			if err := os.CopyFS(dir, os.DirFS(name)); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("go", "build", "-o", filepath.Join(dir, name), "./"+name).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			testhost.RunCases(t, dir)
		})
	}
}
