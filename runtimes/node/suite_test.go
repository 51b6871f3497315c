package node_test

import (
	"testing"

	"github.com/toolhost/toolhost/runtimes/node"
	"github.com/toolhost/toolhost/runtimes/runtimestest"
)

func TestRuntime(t *testing.T) {
	for _, state := range []string{"call", "plugin"} {
		t.Run(state, func(t *testing.T) { suite(t, state) })
	}
}

func suite(t *testing.T, state string) {
	files := map[string]string{
		"echo.js":     handler("return params"),
		"text.js":     handler("return params.text"),
		"nothing.js":  handler(""),
		"fail.js":     handler("throw new Error(params.message)"),
		"envelope.js": handler("return {isError: true, content: [{type: 'text', text: 'failed on purpose'}]}"),
		"image.js":    handler("return {content: [{type: 'image', data: params.data, mimeType: 'image/png'}]}"),
		"wait.js":     handler("ctx.progress('waiting'); await new Promise((done) => setTimeout(done, 60000))"),
		"spin.js":     handler("ctx.progress('spinning'); for (;;) {}"),
		"progress.js": handler("ctx.progress('one'); ctx.progress('two'); return 'done'"),
		"read.js":     "import { readFile } from 'node:fs/promises';\n" + handler("return readFile(params.path, 'utf8')"),
		"large.js":    handler("return 'x'.repeat(params.bytes)"),
		"count.js":    "let n = 0;\n" + handler("return ++n"),
	}
	handlers := map[string]string{}
	for tool := range runtimestest.Tools() {
		handlers[tool] = tool + ".js"
	}
	runtimestest.Run(t, func(*testing.T) *runtimestest.Harness {
		return &runtimestest.Harness{
			Runtime: node.New(nil), Files: files, Handlers: handlers, State: state,
			Broken: map[string]string{"tool.js": "import './lib.js'", "lib.js": "let x = ;"}, BrokenHandler: "tool.js", BrokenFile: "lib.js",
		}
	})
}
