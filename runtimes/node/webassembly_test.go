package node_test

import (
	"strings"
	"testing"
	"time"
)

func TestWebAssemblyNamesTheWayOut(t *testing.T) {
	p := open(t, map[string]string{
		"tool.js": handler(`const out = [typeof WebAssembly, typeof WebAssembly === 'object' && WebAssembly.compile];
			for (const f of [() => WebAssembly.compile(new Uint8Array(8)), () => new WebAssembly.Module(params.x), () => params.x instanceof WebAssembly.Module]) { try { f(); out.push('?') } catch (e) { out.push(e.code + e.message.includes('"engine": "node"')) } }
			globalThis.WebAssembly = { mine: 1 }; out.push(WebAssembly.mine);
			return out.join()`),
	}, 10*time.Second)
	if got, want := p.call(t, "tool", "{}"), "undefined,false"+strings.Repeat(",ERR_UNSUPPORTED_IN_HOSTtrue", 3)+",1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
