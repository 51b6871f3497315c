package bundle

import (
	"regexp"
	"strings"
	"sync"
)

// lean makes a script cheaper to start, since it starts anew for each call: of the bundler's own
// helpers those go that nothing calls, and a handler that is a CommonJS module is handed over as it
// is, by __host.common, instead of in a namespace with an accessor for each of its members. Lines
// stay where they are, so that the source map holds.
func lean(code string) string {
	entry := strings.LastIndex(code, "// "+entrySpace+":")
	if entry < 0 {
		return code
	}
	script := code[:entry] + leanEntry(code[entry:])
	script = strings.Replace(script, firstOwnName, firstName, 1)
	start, end := strings.IndexByte(script, '\n'), len(script)-len((&Script{Code: script}).Modules())
	if start < 0 || end < start || end == 0 {
		return script
	}
	helpers, modules := leanHelpers(script[start:end], script[end:]), script[end:]
	if strings.Contains(modules, "// "+builtinSpace+":") {
		helpers = strings.Replace(helpers, firstNamespace, hostNamespace, 1)
	}
	return script[:start] + helpers + modules
}

// How the bundler's helper for import of what is no ES module begins, and the same where the host may
// have a namespace that does not look at each member: most of its own are made when they are touched.
const (
	firstNamespace = "var __toESM = (mod, isNodeMode, target) => (target = "
	hostNamespace  = "var __toESM = (mod, isNodeMode, target) => __host.namespace(mod) || (target = "
)

// How the bundler's helper for CommonJS modules calls the function that holds one: by the list of the
// names of an object that has one, and the same without a list.
const (
	firstOwnName = "return mod || (0, cb[__getOwnPropNames(cb)[0]])((mod = { exports: {} }).exports, mod), mod.exports;"
	firstName    = "if (!mod) { for (var name in cb) break; (0, cb[name])((mod = { exports: {} }).exports, mod); } return mod.exports;"
)

// handedOver is where an entry hands over a CommonJS module.
var handedOver = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^( *var (m\d+) = )__toESM\((require_\w+\(\))\);$`)
})

// leanEntry hands over CommonJS modules without namespaces.
func leanEntry(code string) string {
	if !strings.Contains(code, "__toESM(") {
		return code
	}
	for _, m := range handedOver().FindAllStringSubmatch(code, -1) {
		export := "__host.export(" + m[2] + ","
		if strings.Count(code, export) == 1 {
			code = strings.Replace(code, m[0], m[1]+m[3]+";", 1)
			code = strings.Replace(code, export, "__host.common("+m[2]+",", 1)
		}
	}
	return code
}

// leanHelpers empties the lines of helpers that nothing names.
func leanHelpers(helpers, modules string) string {
	lines := strings.Split(helpers, "\n")
	end := len(lines)
	for i := len(lines) - 1; i >= 0; i-- {
		rest, ok := strings.CutPrefix(strings.TrimLeft(lines[i], " "), "var __")
		name, _, named := strings.Cut(rest, " =")
		if !ok || !named || len(lines[i])-len(strings.TrimLeft(lines[i], " ")) > 2 {
			continue
		}
		name = "__" + name
		if !strings.Contains(modules, name) && !strings.Contains(strings.Join(lines[:i], "\n"), name) && !strings.Contains(strings.Join(lines[end:], "\n"), name) {
			clear(lines[i:end])
		}
		end = i
	}
	return strings.Join(lines, "\n")
}
