// Package archtest holds the tests of the structure: which package may import which,
// who owns which third-party module, and what is banned where.
package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	module = "github.com/toolhost/toolhost"
	root   = "../.."
)

// floors: a package imports lower floors only. docs/architecture.md draws them.
var floors = map[string]int{
	"internal/garbage":                 0,
	"internal/jsondoc":                 0,
	"internal/lazyregexp":              0,
	"internal/state":                   1,
	"internal/pack":                    0,
	"internal/scratch":                 0,
	"internal/shim":                    0,
	"internal/suggest":                 0,
	"internal/clean":                   0,
	"internal/text":                    0,
	"permissions":                      0,
	"plugins":                          0,
	"internal/schema":                  1,
	"permissions/sandbox":              1,
	"internal/bundle":                  1,
	"host":                             2,
	"internal/child":                   2,
	"host/mcpserver":                   3,
	"internal/calllog":                 3,
	"internal/metrics":                 3,
	"internal/tracing":                 3,
	"host/foldertools":                 3,
	"internal/mounted":                 3,
	"internal/connect":                 1,
	"runtimes":                         3,
	"runtimes/runtimestest":            4,
	"runtimes/node":                    4,
	"runtimes/process":                 4,
	"internal/complete":                3,
	"internal/rpcchild":                3,
	"runtimes/process/plugin":          1,
	"runtimes/process/plugin/pluginpb": 0,
	"internal/consent":                 5,
	"runtimes/nodejs":                  5,
	"internal/fetch":                   4,
	"runtimes/worker":                  5,
	"runtimes/worker/workerpb":         0,
	"loader":                           4,
	"cmd/toolhost":                     6,
	"internal/plugintest":              4,
	"internal/scaffold":                2,
	"internal/testhost":                5,
	"internal/devui":                   5,
	"examples":                         6,
	"examples/embed-http":              6,
	"internal/conformance":             6,
	"examples/embed":                   6,
	"examples/go-plugin":               6,
	"examples/process-go":              6,
	"internal/check":                   6,
	"internal/archtest":                6,
	"internal/benchmarks":              6,
}

// owners of third-party modules: nobody else imports them.
var owners = map[string][]string{
	"charm.land/bubbles/v2":                                           {"internal/devui"},
	"charm.land/bubbletea/v2":                                         {"internal/devui"},
	"charm.land/lipgloss/v2":                                          {"internal/devui"},
	"github.com/agnivade/levenshtein":                                 {"internal/suggest"},
	"github.com/andybalholm/brotli":                                   {"internal/fetch", "runtimes/node"},
	"github.com/bmatcuk/doublestar/v4":                                {"internal/text", "permissions"},
	"github.com/dlclark/regexp2/v2":                                   {"internal/schema", "runtimes/node"},
	"github.com/dop251/goja":                                          {"runtimes/node"},
	"github.com/dop251/goja_nodejs":                                   {"runtimes/node"},
	"github.com/fsnotify/fsnotify":                                    {"loader"},
	"github.com/go-sourcemap/sourcemap":                               {"internal/bundle"},
	"github.com/evanw/esbuild":                                        {"internal/bundle"},
	"github.com/Masterminds/semver/v3":                                {"loader"},
	"github.com/modelcontextprotocol/go-sdk":                          {"host/mcpserver", "internal/mounted", "runtimes/process"}, // the last one in tests only
	"github.com/prometheus/client_golang":                             {"internal/metrics"},
	"github.com/santhosh-tekuri/jsonschema/v6":                        {"internal/schema"},
	"github.com/spf13/cobra":                                          {"cmd/toolhost"},
	"github.com/spf13/pflag":                                          {"cmd/toolhost"},
	"github.com/xeipuuv/gojsonreference":                              {"internal/schema"},
	"github.com/xeipuuv/gojsonschema":                                 {"internal/schema"},
	"go.opentelemetry.io/otel":                                        {"internal/tracing"},
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc": {"internal/tracing"},
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp": {"internal/tracing"},
	"go.opentelemetry.io/otel/sdk":                                    {"internal/tracing"},
	"go.opentelemetry.io/otel/trace":                                  {"internal/tracing"},
	"golang.org/x/crypto":                                             {"runtimes/node"},
	"golang.org/x/net":                                                {"permissions", "permissions/sandbox"},
	"golang.org/x/sys":                                                {"internal/rpcchild", "internal/shim", "permissions/sandbox"},
	"github.com/zalando/go-keyring":                                   {"internal/state"},
	"golang.org/x/term":                                               {"cmd/toolhost"},
	"modernc.org/sqlite":                                              {"internal/state"},
	"github.com/hashicorp/go-hclog":                                   {"internal/rpcchild", "runtimes/process/plugin", "runtimes/worker"},
	"github.com/hashicorp/go-plugin":                                  {"internal/rpcchild", "runtimes/process/plugin", "runtimes/worker"},
	"google.golang.org/grpc":                                          {"cmd/toolhost", "internal/rpcchild", "runtimes/process", "runtimes/process/plugin", "runtimes/process/plugin/pluginpb", "runtimes/worker", "runtimes/worker/workerpb"},
	"google.golang.org/protobuf":                                      {"cmd/toolhost", "runtimes/process", "runtimes/process/plugin/pluginpb", "runtimes/worker", "runtimes/worker/workerpb"}, // the first two in tests only
	"github.com/rogpeppe/go-internal":                                 {"internal/text", "cmd/toolhost", "host/mcpserver"},                                                                     // in tests only
	// Of tests only:
	"go.opentelemetry.io/proto/otlp": {"cmd/toolhost"},
	"go.uber.org/goleak":             {"*"},
}

type file struct {
	pkg  string // path below the module
	name string
	test bool
	ast  *ast.File
	fset *token.FileSet
}

func sources(t *testing.T) []file {
	t.Helper()
	var files []file
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && p != root || d.Name() == "testdata" || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(p, ".go") {
			return nil
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, p, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		files = append(files, file{pkg: path.Dir(filepath.ToSlash(rel)), name: rel, test: strings.HasSuffix(p, "_test.go"), ast: parsed, fset: fset})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 20 {
		t.Fatalf("only %d Go files found: this test looks in the wrong place", len(files))
	}
	return files
}

func imports(f file) []string {
	var paths []string
	for _, i := range f.ast.Imports {
		paths = append(paths, strings.Trim(i.Path.Value, `"`))
	}
	return paths
}

func TestFloors(t *testing.T) {
	for _, f := range sources(t) {
		floor, known := floors[f.pkg]
		if !known {
			t.Errorf("%s: package %s has no floor; say here where it belongs", f.name, f.pkg)
			continue
		}
		for _, p := range imports(f) {
			ours, ok := strings.CutPrefix(p, module+"/")
			if !ok || f.test {
				continue // a test may look down from any floor
			}
			if floors[ours] >= floor {
				t.Errorf("%s (floor %d) imports %s (floor %d)", f.name, floor, ours, floors[ours])
			}
		}
	}
}

func TestLoaderKnowsNoRuntime(t *testing.T) {
	for _, f := range sources(t) {
		for _, p := range imports(f) {
			if f.pkg == "loader" && strings.HasPrefix(p, module+"/runtimes/") && !f.test {
				t.Errorf("%s imports %s: the loader gets its runtimes from outside", f.name, p)
			}
		}
	}
}

func TestThirdPartyOwners(t *testing.T) {
	owned := map[string]bool{} // "package module" for what is imported
	defer func() {
		for module, packages := range owners {
			for _, pkg := range packages {
				if pkg != "*" && !owned[pkg+" "+module] {
					t.Errorf("%s is an owner of %s and does not import it", pkg, module)
				}
			}
		}
	}()
	for _, f := range sources(t) {
		for _, p := range imports(f) {
			if first, _, _ := strings.Cut(p, "/"); !strings.Contains(first, ".") || strings.HasPrefix(p, module) {
				continue
			}
			i := slices.IndexFunc(ownerNames(), func(m string) bool { return p == m || strings.HasPrefix(p, m+"/") })
			if i < 0 {
				t.Errorf("%s imports %s, which has no owner", f.name, p)
				continue
			}
			owned[f.pkg+" "+ownerNames()[i]] = true
			if o := owners[ownerNames()[i]]; !slices.Contains(o, "*") && !slices.Contains(o, f.pkg) && !f.test {
				t.Errorf("%s imports %s, which belongs to %s", f.name, p, strings.Join(o, ", "))
			}
		}
	}
}

func ownerNames() []string {
	var names []string
	for n := range owners {
		names = append(names, n)
	}
	slices.Sort(names)
	slices.Reverse(names) // the longest of those with one beginning first
	return names
}

// bans: calls that a package must not make, and why.
var bans = []struct {
	pkgs   []string // with those below; "" is every one
	tests  bool     // tests too
	calls  []string // "pkg.Name"; a trailing * means any name that begins so
	reason string
}{
	{[]string{"runtimes/node", "host/foldertools"}, false, []string{"os.Open", "os.OpenFile", "os.ReadFile", "os.WriteFile", "os.Create*", "os.ReadDir", "os.Stat", "os.Lstat", "os.Remove*", "os.Rename", "os.Mkdir*", "os.Symlink", "os.Link", "os.Getenv", "os.Environ", "os.LookupEnv"}, "files and the environment are reached through a call's grant"},
	{[]string{"host", "loader", "runtimes", "permissions", "internal/schema", "internal/bundle", "internal/jsondoc", "internal/suggest", "plugins"}, false, []string{"fmt.Print*", "log.Print*", "log.Fatal*", "os.Exit"}, "libraries write to the logger that they were given; stdout belongs to the protocol"},
	{[]string{"runtimes", "internal/child", "internal/rpcchild"}, false, []string{"os.MkdirTemp", "os.CreateTemp"}, "package scratch makes temporary folders that are removed also where this process was killed"},
	{[]string{""}, true, []string{"time.Sleep"}, "wait for an event, or use testing/synctest (there sleeping is fake time)"},
}

func TestBans(t *testing.T) {
	for _, f := range sources(t) {
		for _, b := range bans {
			if f.test && !b.tests || !slices.ContainsFunc(b.pkgs, func(p string) bool { return p == "" || f.pkg == p || strings.HasPrefix(f.pkg, p+"/") }) {
				continue
			}
			ast.Inspect(f.ast, func(n ast.Node) bool {
				call, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				pkg, ok := call.X.(*ast.Ident)
				if !ok || pkg.Obj != nil {
					return true
				}
				name := pkg.Name + "." + call.Sel.Name
				for _, banned := range b.calls {
					prefix, any := strings.CutSuffix(banned, "*")
					if (name == banned || any && strings.HasPrefix(name, prefix)) && !excused(f, name) {
						t.Errorf("%s: %s is banned here: %s", f.fset.Position(call.Pos()), name, b.reason)
					}
				}
				return true
			})
		}
	}
}

// children are the files that hold the whole life of a process that this program started
// from itself, or of a plugin's program; nobody but they can end it.
var children = []string{"internal/shim/shim_linux.go", "runtimes/process/plugin/plugin.go", "runtimes/worker/main.go"}

// excused reports whether a sleep stands in a file that works with fake time, or the end
// of a process in one that is about a child process.
func excused(f file, name string) bool {
	return name == "time.Sleep" && slices.Contains(imports(f), "testing/synctest") ||
		name == "os.Exit" && slices.Contains(children, filepath.ToSlash(f.name))
}

// TestRoot keeps the top level to what it is meant to hold.
func TestRoot(t *testing.T) {
	allowed := []string{"README.md", "go.mod", "go.sum", "host", "runtimes", "loader", "permissions", "plugins", "examples", "cmd", "LICENSE", "internal", "docs", "bin"}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !slices.Contains(allowed, e.Name()) {
			t.Errorf("%s does not belong at the top level", e.Name())
		}
	}
}
