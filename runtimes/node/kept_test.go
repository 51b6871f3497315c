package node_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/node"
)

// keptFiles says what its calls give; the module says in the log that it is evaluated.
var keptFiles = map[string]string{
	"sum.ts": `import { add } from "./lib/add";
console.log("sum is evaluated");
type P = { a: number, b: number };
export default async (p: P) => ({ sum: add(p.a, p.b), where: __filename.endsWith("sum.ts") });
`,
	"lib/more.js": `export default () => "more";`,
	"lib/add.ts":  `export const add = (a: number, b: number): number => a + b;`,
	"fail.ts": `function inner(): never {
  throw new TypeError("no such luck");
}
export default () => inner();
`,
	"stack.js":  `module.exports = () => { try { null.x } catch (e) { return e.stack } };`,
	"wait.mjs":  `const ready = await Promise.resolve("ready"); export default () => ready;`,
	"count.cjs": `let n = 0; module.exports = () => ++n;`,
}

// withCache is a spec of these files and a runtime that keeps what it builds.
func withCache(t *testing.T, files map[string]string, state string) (runtimes.Spec, *logBuffer, func() *node.Runtime) {
	t.Helper()
	spec, log, cache := writeCached(t, files, state)
	return spec, log, func() *node.Runtime { return node.New(&node.Options{Cache: cache}) }
}

func writeCached(t *testing.T, files map[string]string, state string) (spec runtimes.Spec, log *logBuffer, cache string) {
	t.Helper()
	spec, log = write(t, files)
	spec.State = state
	return spec, log, filepath.Join(t.TempDir(), "cache")
}

func TestKeptPluginAnswersTheSame(t *testing.T) {
	for _, state := range []string{"call", "plugin"} {
		t.Run(state, func(t *testing.T) {
			spec, log, rt := withCache(t, keptFiles, state)
			answers := func() (said []string) {
				p := serve(t, rt(), spec, log, nil)
				for range 2 {
					for _, tool := range []string{"sum", "fail", "stack", "wait", "count"} {
						said = append(said, p.call(t, tool, `{"a":1,"b":2}`))
					}
				}
				return said
			}
			cold := answers()
			if !strings.Contains(cold[1], "fail.ts:2:") && !strings.Contains(log.String(), "fail.ts:2:") || !strings.Contains(cold[2], "stack.js:1:") {
				t.Errorf("places are missing: %q", cold)
			}
			warm := answers()
			if a, b := strings.Join(cold, "\n"), strings.Join(warm, "\n"); a != b {
				t.Errorf("cold:\n%s\nwarm:\n%s", a, b)
			}
		})
	}
}

func TestKeptPluginIsNotEvaluated(t *testing.T) {
	spec, log, rt := withCache(t, keptFiles, "")
	evaluated := func() bool {
		before := strings.Count(log.String(), "sum is evaluated")
		instance, err := rt().Open(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		if err := instance.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		return strings.Count(log.String(), "sum is evaluated") > before
	}
	if !evaluated() || evaluated() {
		t.Error("the plugin is evaluated the second time, or not the first")
	}
	for name, change := range map[string]func(){
		"the manifest": func() { spec.Sums = map[string][32]byte{"filer-plugin.json": {1}} },
		"the version":  func() { spec.Version = "2.0.0" },
		"the handlers": func() {
			spec.Tools = append(spec.Tools, runtimes.Tool{ID: "again", Handler: "sum.ts"}, runtimes.Tool{ID: "more", Handler: "lib/more.js"})
		},
		"a helper": func() {
			if err := os.WriteFile(filepath.Join(spec.Dir, "lib/add.ts"), []byte(keptFiles["lib/add.ts"]+" "), 0o644); err != nil {
				t.Fatal(err)
			}
		},
	} {
		change()
		if !evaluated() || evaluated() {
			t.Errorf("after a change of %s it is not evaluated, or twice", name)
		}
	}
}

// TestKeptOnlyWhenGood breaks a plugin: what does not load is never taken for good.
func TestKeptOnlyWhenGood(t *testing.T) {
	spec, _, rt := withCache(t, map[string]string{"h.js": `throw new Error("not yet")`}, "")
	for range 2 {
		if _, err := rt().Open(t.Context(), spec); err == nil || !strings.Contains(err.Error(), "not yet") {
			t.Fatalf("err = %v", err)
		}
	}
}

// TestKeptPluginIsRefusedAlike opens what was kept in a process that takes less.
func TestKeptPluginIsRefusedAlike(t *testing.T) {
	spec, _, cache := writeCached(t, map[string]string{"h.js": `module.exports = () => eval("1")`}, "")
	instance, err := node.New(&node.Options{Cache: cache}).Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := instance.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	var risk *node.RiskError
	if _, err := node.New(&node.Options{Cache: cache, RefuseRisky: true}).Open(t.Context(), spec); !errors.As(err, &risk) {
		t.Errorf("err = %v", err)
	}
}
