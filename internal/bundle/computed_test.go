package bundle

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLeaveForLater(t *testing.T) {
	for code, want := range map[string]string{
		`require('./a/' + n)`:                            `_Requir('./a/' + n)`,
		"import(`./a/${n}.js`)":                          "_Impor(`./a/${n}.js`)",
		`import /* x */ ('./a/' + n, { with: w })`:       `_Impor /* x */ ('./a/' + n, { with: w })`,
		`require.resolve('pkg')`:                         `_Requir.resolve('pkg')`,
		`typeof require, require('./a'), import("./b")`:  `typeof require, require('./a'), import("./b")`,
		`import('./a.json', { with: { type: 'json' } })`: `import('./a.json', { with: { type: 'json' } })`,
		`x.require('./' + n); "require('./' + n)"`:       `x.require('./' + n); "require('./' + n)"`,
		`/require('.\/' + n)/; // require(n)`:            `/require('.\/' + n)/; // require(n)`,
		`class A { require(n) { return n } }`:            `class A { require(n) { return n } }`,
		`(function (require) { require('./' + n) })(f)`:  `(function (require) { require('./' + n) })(f)`,
	} {
		if got := leaveForLater(code); got != want {
			t.Errorf("%s gives %s, want %s", code, got, want)
		}
	}
}

// The bundler itself looks for files of a pattern, from the root of all folders. Whatever
// a file does to hide a pattern, it must find none.
func TestPatternsFindNothing(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.MkdirAll(filepath.Join(secret, "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.json", "deep/b.json"} {
		if err := os.WriteFile(filepath.Join(secret, name), []byte(`{"text":"not for plugins"}`), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	plugin := filepath.Join(dir, "plugin")
	if err := os.Mkdir(plugin, 0o755); err != nil {
		t.Fatal(err)
	}
	up := strings.Repeat("../", 60) + strings.TrimPrefix(filepath.ToSlash(secret), "/") + "/"
	below := "." + filepath.ToSlash(secret) + "/"
	for _, code := range []string{
		`require('PATH' + n)`, "import(`PATH${n}.json`)", `(require)('PATH' + n)`, `r\u0065quire('PATH' + n)`, `r\u{65}quire('PATH' + n)`,
		`require?.('PATH' + n)`, `(require as any)('PATH' + n)`, `require!('PATH' + n)`, `require(('PATH') + n)`, `require(c ? 'PATH' + n : 'PATH' + m)`,
		`const f = (require) => 1; require('PATH' + n)`, `/[/'"]/; require('PATH' + n)`, `a / require('PATH' + n) / "'"`, `x = 1 / 2; y = '/'; require('PATH' + n)`,
		`import('PATH' + n)`, "`${require('PATH' + n)}`", `const t = {} /'/ + require('PATH' + n) + /'/`, `if (x) /'/.test(y); require('PATH' + n)`,
	} {
		for _, path := range []string{up, below, "./" + up} {
			text := strings.ReplaceAll(code, "PATH", path)
			if err := os.WriteFile(filepath.Join(plugin, "h.ts"), []byte("export default (n: any, m: any, c: any, a: any) => { "+text+" }"), 0o644); err != nil {
				t.Fatal(err)
			}
			root, err := os.OpenRoot(plugin)
			if err != nil {
				t.Fatal(err)
			}
			built, err := New(nil).Build(context.Background(), root, []string{"h.ts"})
			root.Close()
			if err != nil {
				if strings.Contains(err.Error(), "secret/a") {
					t.Errorf("%s found a file: %v", code, err)
				}
				continue
			}
			if code := built.Scripts["h.ts"].Code; strings.Contains(code, "not for plugins") || strings.Contains(code, "__glob") {
				t.Errorf("%s became %s", text, code)
			}
		}
	}
}
