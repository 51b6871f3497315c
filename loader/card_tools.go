package loader

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/host"
)

// maxExposed is how many characters the name has under which agents call a tool.
const maxExposed = 64

// exposed gives the name under which agents call a tool of a card, where nobody has it yet.
func exposed(card, tool string) string {
	name := strings.ReplaceAll(card, "-", "_") + "_" + tool
	return name[:min(len(name), maxExposed)]
}

// ToolName gives the name that the plugin asks for, for the tool with an id of its manifest.
func (m *Manifest) ToolName(id string) string {
	if m.Kind == KindCard {
		return exposed(m.Name, id)
	}
	return id
}

// quotable makes a name one that cannot end the words that it stands among, and go on in the
// host's name.
var quotable = strings.NewReplacer(`"`, "'", "[", "(", "]", ")", "\n", " ")

// modelText gives what the model reads of a tool: of a card's also whose words they are.
func (m *Manifest) modelText(description string) string {
	if m.Kind != KindCard {
		return description
	}
	by := ""
	if m.Author.Name != "" {
		by = " by " + quotable.Replace(m.Author.Name)
	}
	return `[Custom card "` + quotable.Replace(m.Card.DisplayName["en"]) + `"` + by + `, community code] ` + description
}

func (c *checker) cardTools() {
	seen := map[string]string{}
	for i, value := range list(c.root, "tools") {
		at := fmt.Sprintf("/tools/%d", i)
		t, ok := value.(map[string]any)
		if !ok {
			continue
		}
		tool := ManifestTool{Pointer: at, Handler: c.manifest.Card.Entry}
		if isPage(tool.Handler) {
			tool.Handler = ""
		}
		tool.ID, _ = text(t, "name")
		tool.Title, _ = text(t, "title")
		tool.Description, _ = text(t, "description")
		if readOnly, ok := t["readOnly"].(bool); ok {
			tool.Annotations = &host.Annotations{ReadOnlyHint: &readOnly}
		}
		c.cardToolName(at+"/name", t, seen)
		if tool.Title != "" {
			c.cardText(at+"/title", tool.Title, 0, false)
		}
		if d, ok := text(t, "description"); ok && d != "" {
			c.cardText(at+"/description", d, 0, true)
		}
		if ms := number(t["timeoutMs"]); ms > 0 {
			tool.Timeout = time.Duration(ms) * time.Millisecond
			if most := 120 * time.Second; tool.Timeout <= most && tool.Timeout > c.maxTimeout {
				c.error(at+"/timeoutMs", ruleTimeout, fmt.Sprintf("the timeout of %d ms is more than %s, the most that this host allows", ms, short(c.maxTimeout)), fmt.Sprintf("write %d or less", c.maxTimeout.Milliseconds()))
			}
		}
		if s := object(t, "inputSchema"); s != nil {
			tool.InputSchema = c.cardSchema(at+"/inputSchema", s)
		}
		c.manifest.Tools = append(c.manifest.Tools, tool)
	}
}

func (c *checker) cardToolName(pointer string, t map[string]any, seen map[string]string) {
	name, ok := text(t, "name")
	if !ok {
		return
	}
	full := exposed(c.manifest.Name, name)
	switch before, twice := seen[name]; {
	case !cardTool.MatchString(name):
		hint := "use 1 to 40 lower-case letters, digits and _, and begin with a letter"
		if fixed := strings.ToLower(strings.ReplaceAll(fixToolID(name), "-", "_")); cardTool.MatchString(fixed) && fixed != name {
			hint = fmt.Sprintf(`write "name": %q`, fixed)
		}
		c.error(pointer, ruleCardTool, fmt.Sprintf("the tool name %q must match %s", cut(name), cardTool), hint)
		return
	case twice:
		c.error(pointer, ruleCardTool, fmt.Sprintf("the tool name %q stands twice, first in line %d", name, c.doc.Position(before).Line), "give one of the two another name")
	case c.manifest.Name != "" && strings.Contains(full, "__"):
		c.error(pointer, ruleCardTool, fmt.Sprintf("the tool %q would be called %q, which has __: that is reserved for the tools of mounted MCP servers", name, full), "leave out one of the two")
	case slices.Contains(reservedTools, full):
		c.error(pointer, ruleCardTool, fmt.Sprintf("the tool %q would be called %q, which is a tool of the app", name, full), "give the tool another name")
	}
	if _, twice := seen[name]; !twice {
		seen[name] = pointer
	}
}

// withCard gives the schema of a card's tool with the argument that picks a copy, added last.
func withCard(raw []byte) json.RawMessage {
	return addProperty(raw, copyArgument, `{"type":"string"}`)
}
