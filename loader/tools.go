package loader

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/lazyregexp"
)

var (
	notInID     = lazyregexp.New(`[^A-Za-z0-9_-]+`)
	underscores = lazyregexp.New(`__+`)
)

// tools checks the tools, wherever they stand, and gathers them in the manifest.
func (c *checker) tools() {
	m := c.manifest
	_, top := c.root["tools"]
	_, below := object(c.root, "contributes")["tools"]
	if top && below {
		c.keyError("/contributes/tools", ruleToolsTwice, `the plugin has tools in "tools" and in "contributes.tools"`,
			`move them all into one of the two`)
	}
	first, second := m.Tools, m.Contributes.Tools
	m.Tools, m.Contributes.Tools = nil, nil
	seen := map[string]string{}
	c.toolList("/tools", list(c.root, "tools"), first, seen)
	c.toolList("/contributes/tools", list(object(c.root, "contributes"), "tools"), second, seen)
}

func (c *checker) toolList(pointer string, raw []any, decoded []ManifestTool, seen map[string]string) {
	for i, value := range raw {
		at := pointer + "/" + strconv.Itoa(i)
		t, ok := value.(map[string]any)
		if !ok || i >= len(decoded) {
			continue
		}
		tool := decoded[i]
		tool.Pointer = at
		c.legacy(at, t)
		if id, ok := text(t, "id"); ok {
			c.toolID(at+"/id", id)
			if before, twice := seen[id]; twice {
				tool.Repeated = true
				line := c.doc.Position(before).Line
				c.warn(at+"/id", ruleToolTwice, fmt.Sprintf("the tool id %q stands twice in this manifest, first in line %d; the later tool is skipped", cut(id), line),
					"give one of the two another id")
			} else {
				seen[id] = at + "/id"
			}
		}
		if d, ok := text(t, "description"); ok && strings.TrimSpace(d) == "" {
			c.error(at+"/description", ruleBlank, fmt.Sprintf("the description of %s must not be empty; the model reads it", c.toolTitle(at)),
				"say what the tool does, what it needs and what it gives")
		}
		if _, there := t["schema"]; !there && !c.hasOwnSchemas() {
			c.error(at+"/schema", ruleMissing, `"schema" is missing`+c.in(at), `add "schema": "./`+schemaFile(t)+`"`)
		}
		c.schemaPath(at+"/schema", t, "schema")
		c.schemaPath(at+"/outputSchema", t, "outputSchema")
		c.handler(at, t)
		tool.Timeout = c.timeout(at+"/timeout", t)
		c.extensions(at+"/fileExtensions", t)
		c.manifest.Tools = append(c.manifest.Tools, tool)
	}
}

// hasOwnSchemas reports whether the plugin's program knows the schemas of its tools.
func (c *checker) hasOwnSchemas() bool {
	return c.manifest.Runtime == "process" && c.manifest.Protocol == "mcp"
}

// schemaFile proposes a name for the schema file of a tool.
func schemaFile(t map[string]any) string {
	if s, ok := text(t, "id"); ok && host.ToolName(s) {
		return s + ".schema.json"
	}
	return "my_tool.schema.json"
}

// legacy refuses a tool of the older shape, and prints the fields to write.
func (c *checker) legacy(pointer string, t map[string]any) {
	_, hasID := t["id"]
	_, hasName := t["name"]
	_, hasSchema := t["schema"]
	inline := ""
	for _, name := range []string{"parameters", "inputSchema", "input_schema"} {
		if _, there := t[name]; there && !hasSchema {
			inline = name
			break
		}
	}
	oldName := hasName && !hasID
	if !oldName && inline == "" {
		return
	}
	id := "my_tool"
	for _, field := range []string{"id", "name"} {
		if s, ok := text(t, field); ok && fixToolID(s) != "" {
			id = fixToolID(s)
			break
		}
	}
	var old, write []string
	if oldName {
		old = append(old, `"name"`)
		write = append(write, `"id": `+strconv.Quote(id))
		c.cover(pointer + "/id")
	}
	if inline != "" || !hasSchema {
		write = append(write, fmt.Sprintf(`"schema": "./%s.schema.json"`, id))
		c.cover(pointer + "/schema")
	}
	hint := "write " + strings.Join(write, ", ")
	if inline != "" {
		old = append(old, strconv.Quote(inline))
		hint += fmt.Sprintf(", and move the object in %q into that file", inline)
	}
	at := pointer + "/" + strings.Trim(old[0], `"`)
	c.keyError(at, ruleLegacy, fmt.Sprintf(`%s has the legacy shape with %s; tools have "id" and "schema"`, c.toolTitle(pointer), strings.Join(old, " and ")), hint)
	for _, o := range old {
		c.cover(pointer + "/" + strings.Trim(o, `"`))
	}
}

func (c *checker) toolID(pointer, id string) {
	switch {
	case strings.Contains(id, "."):
		c.error(pointer, ruleToolDot, fmt.Sprintf("the tool id %q has a dot: dots are reserved for namespace prefixing", cut(id)), toolIDHint(id))
	case !host.ToolName(id):
		c.error(pointer, ruleToolID, fmt.Sprintf("the tool id %q must match %s", cut(id), host.ToolNames), toolIDHint(id))
	case strings.Contains(id, "__"):
		c.error(pointer, ruleToolMount, fmt.Sprintf("the tool id %q has __, which is reserved for the tools of mounted MCP servers", id), toolIDHint(id))
	}
}

func toolIDHint(id string) string {
	if fixed := fixToolID(id); fixed != "" && fixed != id {
		return fmt.Sprintf(`write "id": %q`, fixed)
	}
	return "use 1 to 64 letters, digits, _ and -"
}

// fixToolID gives the tool id that was probably meant, or "".
func fixToolID(id string) string {
	if len(id) > 256 {
		return ""
	}
	fixed := notInID.ReplaceAllString(strings.TrimSpace(id), "_")
	fixed = underscores.ReplaceAllString(fixed, "_")
	if !host.ToolName(fixed) || strings.Trim(fixed, "_-") == "" {
		return ""
	}
	return fixed
}

// schemaPath checks the path of a schema file.
func (c *checker) schemaPath(pointer string, t map[string]any, name string) {
	switch v := t[name].(type) {
	case map[string]any:
		id := "my_tool"
		if s, ok := text(t, "id"); ok && host.ToolName(s) {
			id = s
		}
		suffix := ".schema.json"
		if name == "outputSchema" {
			suffix = ".output.schema.json"
		}
		c.error(pointer, ruleType, fmt.Sprintf("%q must be the path of a schema file, not the schema itself", name),
			fmt.Sprintf(`move the object into a file and write %q: "./%s%s"`, name, id, suffix))
	case string:
		c.path(pointer, v)
	}
}

func (c *checker) handler(pointer string, t map[string]any) {
	value, there := t["handler"]
	at := pointer + "/handler"
	switch {
	case c.manifest.Runtime == "process" && there:
		c.keyError(at, ruleHandler, fmt.Sprintf(`%s has a "handler", but "runtime": "process" has none; its "command" runs the tool`, c.toolTitle(pointer)),
			`take "handler" away, or write "runtime": "node"`)
	case c.manifest.Runtime == "node" && !there:
		c.error(at, ruleHandler, fmt.Sprintf(`%s has no "handler"; "runtime": "node" needs one`, c.toolTitle(pointer)),
			`add "handler": "./handler.js"`)
	}
	if s, ok := value.(string); ok {
		c.path(at, s)
	}
}

// isTool reports whether a pointer is that of a tool.
func isTool(pointer string) bool {
	i := strings.LastIndexByte(pointer, '/')
	return i >= 0 && (pointer[:i] == "/tools" || pointer[:i] == "/contributes/tools")
}

// toolTitle gives `tool "id"`, and without an id the place of the tool.
func (c *checker) toolTitle(pointer string) string {
	t, _ := c.value(pointer).(map[string]any)
	for _, name := range []string{"id", "name"} {
		if s, ok := text(t, name); ok && s != "" {
			return fmt.Sprintf("tool %q", cut(s))
		}
	}
	return "the tool in " + field(pointer)
}

var extension = lazyregexp.New(`^(\.[^\s\p{C}./\\*?:"<>|,;{}\[\]]+)+$`)

// extensions checks a list of file extensions.
func (c *checker) extensions(pointer string, object map[string]any) {
	value, there := object["fileExtensions"]
	if !there {
		return
	}
	const everyFile = `leave "fileExtensions" out: then it is offered for every file`
	l, ok := value.([]any)
	if s, isText := value.(string); isText {
		c.error(pointer, ruleExtension, `"fileExtensions" must be a list, not a string`, `write "fileExtensions": `+compact([]any{fixExtension(s)}))
	}
	if ok && len(l) == 0 {
		c.error(pointer, ruleExtension, `"fileExtensions" must not be an empty list`, everyFile+"; or name some")
	}
	for i, item := range l {
		e, ok := item.(string)
		if !ok || extension.MatchString(e) && len(e) <= 64 {
			continue
		}
		at := pointer + "/" + strconv.Itoa(i)
		fixed := fixExtension(e)
		switch {
		case strings.TrimSpace(e) == "":
			c.error(at, ruleExtension, "a file extension must not be empty", `write an extension with its dot, such as ".md"; or `+everyFile)
		case strings.Trim(e, "*. ") == "":
			c.error(at, ruleExtension, fmt.Sprintf("%q is no file extension", cut(e)), everyFile)
		case !extension.MatchString(fixed) || len(fixed) > 64:
			c.error(at, ruleExtension, fmt.Sprintf("%q is no file extension", cut(e)), `write one extension with its dot, such as ".md"`)
		case strings.Contains(e, "*"):
			c.error(at, ruleExtension, fmt.Sprintf("the file extension %q must not have a wildcard", cut(e)), "write "+strconv.Quote(fixed))
		default:
			c.error(at, ruleExtension, fmt.Sprintf("the file extension %q must begin with a dot", cut(e)), "write "+strconv.Quote(fixed))
		}
	}
}

// fixExtension gives the file extension that was probably meant.
func fixExtension(e string) string {
	return "." + strings.TrimLeft(strings.TrimSpace(cut(e)), "*.")
}

// bare reports whether a value is a number, or a text that is only a number.
func bare(v any) (string, bool) {
	switch v := v.(type) {
	case json.Number:
		return v.String(), true
	case string:
		_, err := strconv.ParseFloat(v, 64)
		return v, err == nil
	}
	return "", false
}
