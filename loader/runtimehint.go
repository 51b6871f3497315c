package loader

import (
	"fmt"
	"strings"
)

// runtimeHint says what to write in the place of a runtime that there is not. Many authors
// write their language, or the program that runs it.
func runtimeHint(given string, hasCommand bool) string {
	if hasCommand {
		return `write "runtime": "process": it runs the "command"`
	}
	if likely := meant(given, []string{"node", "process"}); likely != "" {
		return fmt.Sprintf("did you mean %q?", likely)
	}
	const modules = `"runtime": "node", which runs JavaScript and TypeScript modules`
	program := func(words ...any) string {
		var command any = words
		if len(words) == 1 {
			command = words[0]
		}
		return `"runtime": "process", "command": ` + compact(command)
	}
	switch strings.ToLower(given) {
	case "js", "javascript", "ts", "typescript", "esm", "commonjs", "npm", "node.js", "goja", "v8", "quickjs":
		return "write " + modules
	case "deno", "bun":
		return "write " + modules + ", or " + program(strings.ToLower(given), "run", "./main.ts")
	case "python", "python3", "python2", "py":
		return "write " + program("python3", "./main.py")
	case "uv", "uvx":
		return "write " + program("uv", "run", "./main.py")
	case "ruby", "php", "perl", "lua":
		ending := map[string]string{"ruby": "rb", "php": "php", "perl": "pl", "lua": "lua"}[strings.ToLower(given)]
		return "write " + program(strings.ToLower(given), "./main."+ending)
	case "sh", "bash", "shell":
		return "write " + program("bash", "./main.sh")
	case "java", "jvm":
		return "write " + program("java", "-jar", "./main.jar")
	case "dotnet", ".net", "csharp", "c#":
		return "write " + program("dotnet", "./main.dll")
	case "mcp":
		return "write " + program("./main") + `, "protocol": "mcp"`
	case "go-plugin", "grpc":
		return "write " + program("./main") + `, "protocol": "go-plugin"`
	case "go", "golang", "rust", "c", "c++", "cpp", "zig", "binary", "native", "exec", "executable", "program", "command", "stdio":
		return "write " + program("./main")
	}
	return "write " + modules + "; for a program in any other language " + program("python3", "./main.py") + ", for example"
}
