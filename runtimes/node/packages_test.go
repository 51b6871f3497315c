//go:build outside

package node_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestPackages runs each script of testdata/packages, which uses the package of its name,
// in the machine's Node and here: both must write what is recorded. npm installs the
// packages, as the lock file pins them, into a folder that is thrown away; -update records.
func TestPackages(t *testing.T) {
	program, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("the packages are compared with Node: %v", err)
	}
	dir := install(t, "testdata/packages")
	scripts, err := filepath.Glob("testdata/packages/*.mjs")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts to run: %v", err)
	}
	for _, file := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".mjs"), func(t *testing.T) {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			// Beside the others in a folder of its own, so that node_modules is found above.
			own, err := os.MkdirTemp(dir, "run")
			if err != nil {
				t.Fatal(err)
			}
			wanted := inNode(t, program, own, source)
			if *update {
				if err := os.WriteFile(recording(file), []byte(wanted), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			recorded, err := os.ReadFile(recording(file))
			if err != nil {
				t.Fatal(err)
			}
			if wanted != string(recorded) {
				t.Errorf("Node writes something else than is recorded: %s", firstDifference(string(recorded), wanted))
			}
			if got := here(t, dir, source); got != string(recorded) {
				t.Errorf("%s", firstDifference(got, string(recorded)))
			}
		})
	}
}

// install gives a new folder with the packages that the lock file in a folder pins.
func install(t *testing.T, from string) string {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Fatalf("npm installs the packages: %v", err)
	}
	dir := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json"} {
		b, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), npm, "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, out)
	}
	return dir
}
