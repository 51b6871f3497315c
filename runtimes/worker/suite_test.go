package worker_test

import (
	"testing"

	"github.com/toolhost/toolhost/runtimes/runtimestest"
	"github.com/toolhost/toolhost/runtimes/worker"
)

// handlerOf is a handler module with a body.
func handlerOf(body string) string {
	return "export default async function (params, ctx) {\n" + body + "\n}\n"
}

func TestRuntime(t *testing.T) {
	files := map[string]string{
		"echo.js":     handlerOf("return params"),
		"text.js":     handlerOf("return params.text"),
		"nothing.js":  handlerOf(""),
		"fail.js":     handlerOf("throw new Error(params.message)"),
		"envelope.js": handlerOf("return {isError: true, content: [{type: 'text', text: 'failed on purpose'}]}"),
		"image.js":    handlerOf("return {content: [{type: 'image', data: params.data, mimeType: 'image/png'}]}"),
		"wait.js":     handlerOf("ctx.progress('waiting'); await new Promise((done) => setTimeout(done, 60000))"),
		"spin.js":     handlerOf("ctx.progress('spinning'); for (;;) {}"),
		"progress.js": handlerOf("ctx.progress('one'); ctx.progress('two'); return 'done'"),
		"read.js":     "import { readFile } from 'node:fs/promises';\n" + handlerOf("return readFile(params.path, 'utf8')"),
		"large.js":    handlerOf("return 'x'.repeat(params.bytes)"),
		"count.js":    "let n = 0;\n" + handlerOf("return ++n"),
	}
	handlers := map[string]string{}
	for tool := range runtimestest.Tools() {
		handlers[tool] = tool + ".js"
	}
	runtimestest.Run(t, func(*testing.T) *runtimestest.Harness {
		return &runtimestest.Harness{
			Runtime: worker.New(nil), Files: files, Handlers: handlers,
			Broken: map[string]string{"tool.js": "import './lib.js'", "lib.js": "let x = ;"}, BrokenHandler: "tool.js", BrokenFile: "lib.js",
		}
	})
}
