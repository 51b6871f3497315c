package loader

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

// contributes checks what stands in contributes besides tools.
func (c *checker) contributes() {
	raw := object(c.root, "contributes")
	c.settings(object(raw, "settings"))
	c.actions(list(raw, "actions"))
	c.commands(list(raw, "commands"))
	for i, value := range list(raw, "views") {
		c.pathIn("/contributes/views/"+strconv.Itoa(i), value, "definition")
	}
	for _, name := range []string{"actions", "commands", "views"} {
		c.entryIDs("/contributes/"+name, list(raw, name))
	}
}

// pathIn checks the path that a member of an entry holds.
func (c *checker) pathIn(pointer string, value any, name string) {
	entry, _ := value.(map[string]any)
	if p, ok := text(entry, name); ok {
		c.path(pointer+"/"+name, p)
	}
}

// entryIDs warns about ids that stand twice in one list.
func (c *checker) entryIDs(pointer string, entries []any) {
	seen := map[string]bool{}
	for i, value := range entries {
		entry, _ := value.(map[string]any)
		id, ok := text(entry, "id")
		if ok && seen[id] {
			c.warn(pointer+"/"+strconv.Itoa(i)+"/id", ruleEntryTwice, fmt.Sprintf("the id %q stands twice in %s", cut(id), field(pointer)),
				"give one of the two another id")
		}
		seen[id] = true
	}
}

func (c *checker) settings(settings map[string]any) {
	name := c.manifest.Name
	for _, key := range c.doc.Keys("/contributes/settings") {
		setting, ok := settings[key].(map[string]any)
		if !ok {
			continue
		}
		pointer := "/contributes/settings/" + jsondoc.Escape(key)
		if isPluginName(name) && (!strings.HasPrefix(key, name+".") || len(key) == len(name)+1) {
			part := key[strings.LastIndexByte(key, '.')+1:]
			if part == "" {
				part = "setting"
			}
			c.keyError(pointer, ruleSetting, fmt.Sprintf("the setting %q must begin with the plugin's name and a dot", cut(key)),
				fmt.Sprintf("write %q", name+"."+cut(part)))
		}
		c.setting(pointer, key, setting)
	}
}

// setting checks that the values of a setting fit its type.
func (c *checker) setting(pointer, key string, setting map[string]any) {
	c.pathIn(pointer, setting, "handler")
	wanted, _ := text(setting, "type")
	if wanted != "string" && wanted != "boolean" && wanted != "number" {
		return
	}
	choices := list(setting, "enum")
	for i, choice := range choices {
		if typeOf(choice) != wanted {
			c.error(pointer+"/enum/"+strconv.Itoa(i), ruleSetting, fmt.Sprintf("a choice of the setting %q must be a %s, not %s", cut(key), wanted, kind(choice)), "")
		}
	}
	def, there := setting["default"]
	switch {
	case !there:
	case typeOf(def) != wanted:
		c.error(pointer+"/default", ruleSetting, fmt.Sprintf("the default of the setting %q must be a %s, not %s", cut(key), wanted, kind(def)), "")
	case len(choices) > 0 && !slices.Contains(choices, def):
		c.error(pointer+"/default", ruleSetting, fmt.Sprintf("the default of the setting %q is not among its choices: %s", cut(key), shown(def)),
			"add it to \"enum\", or take another")
	}
}

func typeOf(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	}
	return ""
}

func (c *checker) actions(actions []any) {
	for i, value := range actions {
		action, ok := value.(map[string]any)
		if !ok {
			continue
		}
		pointer := "/contributes/actions/" + strconv.Itoa(i)
		c.scope(pointer+"/scope", action)
		c.extensions(pointer+"/fileExtensions", action)
		c.pathIn(pointer, action, "prompt")
		_, hasPrompt := action["prompt"]
		_, hasTool := action["toolId"]
		if action["kind"] == "tool" && !hasTool {
			c.error(pointer+"/toolId", ruleAction, fmt.Sprintf(`%s has "kind": "tool", but no "toolId"`, actionTitle(action, pointer)), `add "toolId" with the id of the tool that is called`)
		}
		_, hasKind := action["kind"]
		if (!hasKind || action["kind"] == "prompt") && !hasPrompt {
			hint := `add "prompt" with the path of a Markdown file, or "kind": "tool" and "toolId"`
			if hasTool {
				hint = `add "kind": "tool"`
			}
			c.error(pointer+"/prompt", ruleAction, fmt.Sprintf(`%s has no "prompt"`, actionTitle(action, pointer)), hint)
		}
		if id, ok := text(action, "toolId"); ok && !slices.ContainsFunc(c.manifest.Tools, func(t ManifestTool) bool { return t.ID == id }) {
			c.warn(pointer+"/toolId", ruleNoTool, fmt.Sprintf("%s calls %q, which is no tool of this plugin", actionTitle(action, pointer), cut(id)), "")
		}
	}
}

// scope checks the form with one text; the schema checks the list.
func (c *checker) scope(pointer string, action map[string]any) {
	scopes := []string{"single-file", "multi-file", "folder"}
	s, ok := text(action, "scope")
	if ok && !slices.Contains(scopes, s) {
		c.error(pointer, ruleChoice, fmt.Sprintf(`"scope" must be %s, not %s`, oneOf(scopes), shown(s)), "")
	}
}

func actionTitle(action map[string]any, pointer string) string {
	if id, ok := text(action, "id"); ok && id != "" {
		return fmt.Sprintf("action %q", cut(id))
	}
	return "the action in " + field(pointer)
}
