package loader

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/toolhost/toolhost/internal/lazyregexp"
)

// FilerVersion is the Filer version that this host claims to be for the engines of a
// manifest: the newest that it was checked against.
const FilerVersion = "0.9.0"

// pluginNames is what isPluginName goes by, for messages.
const pluginNames = `^[a-z0-9][a-z0-9-]{0,63}$`

// isPluginName reports whether a text may be the name of a plugin.
func isPluginName(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '-' && i > 0:
		default:
			return false
		}
	}
	return name != "" && len(name) <= 64
}

var notInName = lazyregexp.New(`[^a-z0-9]+`)

// identity checks the name, version and engines of the plugin.
func (c *checker) identity() {
	m := c.manifest
	_, hasName := c.root["name"]
	_, hasID := c.root["id"]
	switch {
	case hasName && hasID:
		c.keyError("/id", ruleNameAndID, `the plugin has a "name" and an "id"; they mean the same`, `keep "name" and take "id" away`)
	case hasID:
		m.Name, _ = text(c.root, "id")
		c.name("/id")
	case !hasName:
		c.error("/name", ruleMissing, `"name" is missing`, `add "name": "word-tools"`)
	}
	if hasName {
		c.name("/name")
	}
	c.version()
}

func (c *checker) name(pointer string) {
	name, ok := c.value(pointer).(string)
	if !ok || isPluginName(name) {
		return
	}
	hint := "use lower-case letters, digits and hyphens, at most 64, and begin with a letter or digit"
	if fixed := fixName(name); fixed != "" {
		hint = "write " + keyFor(pointer) + strconv.Quote(fixed)
	}
	c.error(pointer, ruleName, fmt.Sprintf("the plugin name %q must match %s", cut(name), pluginNames), hint)
}

// fixName gives the plugin name that was probably meant, or "".
func fixName(name string) string {
	fixed := strings.Trim(notInName.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if !isPluginName(fixed) {
		return ""
	}
	return fixed
}

func (c *checker) version() {
	if v, ok := text(c.root, "version"); ok {
		if _, err := semver.StrictNewVersion(v); err != nil {
			hint := `write three numbers, such as "version": "1.0.0"`
			if loose, err := semver.NewVersion(v); err == nil && len(v) < 64 {
				hint = fmt.Sprintf(`write "version": %q`, loose)
			}
			c.error("/version", ruleVersion, fmt.Sprintf("%q is no semantic version", cut(v)), hint)
		}
	}
	wanted, ok := text(object(c.root, "engines"), "filer")
	if !ok {
		return
	}
	claimed, err := filerInRange(wanted)
	switch {
	case err != nil:
		c.error("/engines/filer", ruleRange, fmt.Sprintf("%q is no range of versions", cut(wanted)), `write a range such as "filer": ">=0.5.0"`)
	case !claimed:
		c.warn("/engines/filer", ruleNotClaimed,
			fmt.Sprintf("the plugin wants Filer %s; this host claims %s", cut(wanted), FilerVersion),
			"the plugin loads, but may use what this host does not have")
	}
}

// filerInRange reports whether a range takes in [FilerVersion].
func filerInRange(wanted string) (bool, error) {
	const longest = 256
	if strings.TrimSpace(wanted) == "" || len(wanted) > longest {
		return false, semver.ErrInvalidSemVer
	}
	r, err := semver.NewConstraint(wanted)
	if err != nil {
		return false, err
	}
	v, err := semver.StrictNewVersion(FilerVersion)
	if err != nil {
		return false, err
	}
	return r.Check(v), nil
}

// runtime checks the fields that hold for one runtime only.
func (c *checker) runtime() {
	m := c.manifest
	given, isText := text(c.root, "runtime")
	if _, there := c.root["runtime"]; !there {
		m.Runtime = "node"
	} else if !isText || given != "node" && given != "process" {
		m.Runtime = "" // what follows from it is not known
		if isText {    // else the schema says what is wrong
			_, hasCommand := c.root["command"]
			c.error("/runtime", ruleChoice, fmt.Sprintf("\"runtime\" must be %s, not %s", oneOf([]string{"node", "process"}), shown(given)), runtimeHint(given, hasCommand))
		}
		return
	}
	if m.State == "" {
		m.State = "call"
	}
	other := map[string]string{"state": "node", "engine": "node", "keepAlive": "process", "protocol": "process"}
	for _, name := range slices.Sorted(maps.Keys(other)) {
		if _, there := c.root[name]; there && m.Runtime != other[name] {
			c.keyError("/"+name, ruleOtherRuntime,
				fmt.Sprintf("%q is for \"runtime\": %q; this plugin's runtime is %q", name, other[name], m.Runtime),
				fmt.Sprintf(`take %q away, or write "runtime": %q`, name, other[name]))
		}
	}
	c.command()
}

func (c *checker) command() {
	value, there := c.root["command"]
	if c.manifest.Runtime == "node" {
		if there {
			c.keyError("/command", ruleCommand, `"command" is for "runtime": "process"; this plugin's runtime is "node"`,
				`take "command" away, or write "runtime": "process"`)
		}
		return
	}
	const hint = `write the program, or a list of the program and its arguments, such as "command": ["python3", "./main.py"]`
	if !there {
		c.error("/command", ruleCommand, `"command" is missing; "runtime": "process" needs one`, hint)
		return
	}
	switch v := value.(type) {
	case string:
		c.word("/command", v, hint)
	case []any:
		if len(v) == 0 {
			c.error("/command", ruleCommand, `"command" must not be empty`, hint)
		}
		for i, w := range v {
			if s, ok := w.(string); ok {
				c.word("/command/"+strconv.Itoa(i), s, hint)
			}
		}
	}
}

// word checks one word of a command. Only the program must not be empty.
func (c *checker) word(pointer, word, hint string) {
	program := pointer == "/command" || pointer == "/command/0"
	switch {
	case program && strings.TrimSpace(word) == "":
		c.error(pointer, ruleCommand, `"command" must not be empty`, hint)
	case strings.ContainsRune(word, 0):
		c.error(pointer, ruleCommand, field(pointer)+" has a NUL character", hint)
	case strings.HasPrefix(word, "./"):
		c.path(pointer, word)
	case pointer == "/command" && strings.Contains(word, " ") && !strings.Contains(word, "/"):
		c.error(pointer, ruleCommand, fmt.Sprintf("the program %q has a space in its name", cut(word)),
			"write a list of the program and its arguments: "+compact(words(word)))
	}
}

func words(s string) []any {
	var list []any
	for _, w := range strings.Fields(cut(s)) {
		list = append(list, w)
	}
	return list
}
