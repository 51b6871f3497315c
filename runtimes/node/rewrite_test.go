package node_test

import (
	"testing"
	"time"
)

// What a script writes as a constant must not be computed while it loads: that has no deadline.
func TestCompilerLeavesPowersAlone(t *testing.T) {
	p := open(t, map[string]string{
		"tool.js": handler(`const never = () => [10n ** (10n ** 9n), 1n << 40000000000n, [{ a: 9n ** 9n ** 9n } && (() => 1n >> -40000000000n)]];
		return [2n ** 10n, 1n << 3n, -8n >> 1n, 2n ** 3n ** 2n, 2 ** 3, (2n * 3n) ** 2n, 2 ** -1, (() => { let n = 3n; n **= 2n; n <<= 1n; return n })(), 8 >> 1].join()`),
	}, 10*time.Second)
	if got := p.call(t, "tool", "{}"); got != "1024,8,-4,512,8,36,0.5,18,4" {
		t.Errorf("got %q", got)
	}
}

// Node 20 has no "using", so that this is no recording.
func TestUsingForgetsWhatWasThrown(t *testing.T) {
	p := open(t, map[string]string{
		"tool.js": handler(`const log = [];
		for (const k of [1, 2]) {
			try { using a = { [Symbol.dispose]() { log.push('closed ' + k) } }; if (k === 1) throw new Error('sync') } catch (e) { log.push(e.message) }
			try { await using b = { async [Symbol.asyncDispose]() { log.push('ended ' + k) } }; if (k === 1) throw new Error('async') } catch (e) { log.push(e.message) }
		}
		return log.join()`),
	}, 10*time.Second)
	if got := p.call(t, "tool", "{}"); got != "closed 1,sync,ended 1,async,closed 2,ended 2" {
		t.Errorf("got %q", got)
	}
}
