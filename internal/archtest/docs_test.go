package archtest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestFloorsAreDocumented compares the floors with the table that people read.
func TestFloorsAreDocumented(t *testing.T) {
	documented := map[string]int{}
	for _, m := range regexp.MustCompile("(?m)^\\| (\\d+) \\| `([^`]+)` \\|").FindAllStringSubmatch(read(t, "docs/architecture.md"), -1) {
		var floor int
		if _, err := fmt.Sscan(m[1], &floor); err != nil {
			t.Fatal(err)
		}
		documented[m[2]] = floor
	}
	for _, pkg := range slices.Sorted(maps.Keys(floors)) {
		if floor, ok := documented[pkg]; !ok || floor != floors[pkg] {
			t.Errorf("docs/architecture.md does not say that %s is on floor %d", pkg, floors[pkg])
		}
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(pkg))); err != nil {
			t.Errorf("package %s has a floor and is not there", pkg)
		}
		delete(documented, pkg)
	}
	for pkg := range documented {
		t.Errorf("docs/architecture.md has a package %s, which has no floor", pkg)
	}
}

// TestDependencies holds three lists of direct dependencies together: go.mod, the owners,
// and the table that says what each is for.
func TestDependencies(t *testing.T) {
	required := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) (v\S+)$`).FindAllStringSubmatch(read(t, "go.mod"), -1) {
		required[m[1]] = m[2]
	}
	if len(required) == 0 {
		t.Fatal("go.mod has no direct dependencies: this test reads it wrongly")
	}
	documented := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+\\.[^`]+)` \\| (v\\S+) \\|").FindAllStringSubmatch(read(t, "docs/development.md"), -1) {
		documented[m[1]] = m[2]
	}
	for _, module := range slices.Sorted(maps.Keys(required)) {
		if documented[module] != required[module] {
			t.Errorf("docs/development.md says %q of %s %s", documented[module], module, required[module])
		}
		if _, ok := owners[module]; !ok {
			t.Errorf("%s has no owner", module)
		}
	}
	for module := range documented {
		if required[module] == "" {
			t.Errorf("docs/development.md has %s, which go.mod does not require", module)
		}
	}
	for module := range owners {
		if required[module] == "" {
			t.Errorf("%s has an owner, and go.mod does not require it", module)
		}
	}
}

// TestPackageComments: the package comment is the first page that a reader sees. What
// others import begins with an example and links to its main types.
func TestPackageComments(t *testing.T) {
	comments := map[string]string{}
	for _, f := range sources(t) {
		if f.test && f.pkg != "internal/archtest" && f.pkg != "internal/benchmarks" && f.pkg != "examples" {
			continue
		}
		if f.ast.Doc != nil {
			if comments[f.pkg] != "" {
				t.Errorf("%s: package %s has a comment twice", f.name, f.pkg)
			}
			comments[f.pkg] = f.ast.Doc.Text()
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(floors)) {
		comment := comments[pkg]
		switch {
		case comment == "":
			t.Errorf("package %s has no comment", pkg)
		case pkg == "internal/archtest" || pkg == "internal/benchmarks" || pkg == "examples":
			// Tests alone: nobody imports these.
		case !strings.Contains(comment, "\n\t") && !strings.Contains(comment, "\n    "):
			t.Errorf("the comment of package %s has no example", pkg)
		}
	}
}
