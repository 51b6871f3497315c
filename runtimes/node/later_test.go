package node_test

import (
	"strings"
	"testing"
	"time"
)

// try makes a text of what an expression gives, or of the code of what it throws.
const try = `const t = async (f) => { try { return JSON.stringify(await f()) } catch (e) { return e.code ?? e.message } };` + "\n"

func TestModulesByComputedNames(t *testing.T) {
	p := open(t, map[string]string{
		"a.js": `const path = require('node:path'), { createRequire } = require('module'), req = createRequire(__filename);` + try + handler(`
			const n = params.name, out = [];
			for (const f of [
				() => require('./lang/' + n + '.js'), () => require(path.join(__dirname, 'lang', n)), () => require('./lang/' + n + '.js') === require(__dirname + '/lang/' + n),
				() => require("./data/" + n + ".json"), () => req('./data/de.json'), () => req('pkg'), () => import('./lang/' + n + '.mjs'), () => import('./lang/' + n + '.js').then((m) => m.default),
				() => require.resolve('pkg/codec/c.wasm').replace(__dirname, 'DIR'), () => req.resolve('./data/de.json').replace(__dirname, 'DIR'), () => req.resolve('fs'),
				() => require("../" + n), () => require('/etc/' + n), () => req('nope'), () => req('pkg/hidden'), () => require(n.slice(9)), () => require(7 + n.length - n.length),
				() => require('./lang/broken' + n.slice(9)), () => import('./lang/late' + n.slice(9) + '.mjs'), () => require('./lang/late' + n.slice(9) + '.mjs'), () => require('node:' + 'path') === path,
				() => require('./lang/circle' + n.slice(9)),
			]) out.push(await t(f));
			return out.join(' | ')`),
		"lang/de.js":                            `exports.hi = 'hallo'; exports.base = require('./base').base; exports.file = __filename.split('/').pop()`,
		"lang/de.mjs":                           `export default 'd'; export const url = import.meta.url.split('/').pop()`,
		"lang/base.js":                          `exports.base = 1`,
		"lang/broken.js":                        `throw new Error('broken on purpose')`,
		"lang/late.mjs":                         `export const x = await Promise.resolve(5)`,
		"lang/circle.js":                        `const n = 'circle'; module.exports = require('./' + n)`,
		"data/de.json":                          "\ufeff" + `{"a":1}`,
		"node_modules/pkg/package.json":         `{"name":"pkg","exports":{".":"./lib/index.js","./codec/*":"./lib/*"}}`,
		"node_modules/pkg/lib/index.js":         `exports.p = 1`,
		"node_modules/pkg/lib/c.wasm":           `x`,
		"node_modules/pkg/lib/hidden-elsewhere": ``,
	}, 10*time.Second)
	want := strings.Join([]string{
		`{"hi":"hallo","base":1,"file":"de.js"}`, `{"hi":"hallo","base":1,"file":"de.js"}`, `true`, `{"a":1}`, `{"a":1}`, `{"p":1}`, `{"default":"d","url":"de.mjs"}`, `{"hi":"hallo","base":1,"file":"de.js"}`,
		`"DIR/node_modules/pkg/lib/c.wasm"`, `"DIR/data/de.json"`, `"fs"`,
		`MODULE_NOT_FOUND`, `MODULE_NOT_FOUND`, `MODULE_NOT_FOUND`, `ERR_PACKAGE_PATH_NOT_EXPORTED`, `ERR_INVALID_ARG_VALUE`, `ERR_INVALID_ARG_TYPE`,
		`broken on purpose`, `{"x":5}`, `ERR_REQUIRE_ASYNC_MODULE`, `true`, `ERR_REQUIRE_CYCLE_MODULE`,
	}, " | ")
	if got := p.call(t, "a", `{"name":"de"}`); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
