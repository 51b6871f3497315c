package node_test

import (
	"testing"
	"time"
)

func TestMetaResolve(t *testing.T) {
	p := open(t, map[string]string{
		"tool.mjs": "import { from } from './lib/from.mjs';\n" + handler(`
		const here = (name) => { try { return import.meta.resolve(name).replace(import.meta.url.replace(/tool\.mjs$/, ''), 'DIR/') } catch (e) { return e.code } };
		return [here('./data/a b.json'), here('../up.js').endsWith('/up.js'), here('node:fs'), here('path'), here('https://example.com/a'), here('lodash'), here(1), here('./a?x#y'),
			from('./x.js').endsWith('/lib/x.js'), typeof import.meta.resolve].join()`),
		"lib/from.mjs": "export const from = (name) => import.meta.resolve(name)",
	}, 10*time.Second)
	if got := p.call(t, "tool", "{}"); got != "DIR/data/a%20b.json,true,node:fs,node:path,https://example.com/a,ERR_MODULE_NOT_FOUND,ERR_INVALID_ARG_TYPE,DIR/a?x#y,true,function" {
		t.Errorf("got %q", got)
	}
}
