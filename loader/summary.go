package loader

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/permissions"
)

// Summary is what a plugin asks of its user: what it may touch, what it starts, and every
// text of it that a model reads. Two manifests that ask for the same have equal summaries,
// however they are written.
type Summary struct {
	Plugin string `json:"plugin"`
	// Version, DisplayName and Description are shown, and are no part of the fingerprint.
	Version     string           `json:"version,omitempty"`
	DisplayName string           `json:"displayName,omitempty"`
	Description string           `json:"description,omitempty"`
	Runtime     string           `json:"runtime"`
	Engine      string           `json:"engine,omitempty"`   // of the runtime node: "goja" or "node"
	Protocol    string           `json:"protocol,omitempty"` // of the runtime process
	Command     []string         `json:"command,omitempty"`  // of the runtime process
	Rights      []Right          `json:"rights"`             // sorted
	Tools       []SummaryTool    `json:"tools"`              // sorted by id
	Actions     []SummaryAction  `json:"actions,omitempty"`  // sorted by id
	Commands    []SummaryCommand `json:"commands,omitempty"` // sorted by id

	fresh bool // its schemas are canonical, since it was made here and not stored
}

// Right is one thing that a manifest asks for.
type Right struct {
	Rule  string `json:"rule"`            // "fs.read.paths", "fetch.static", "store", …
	Value string `json:"value,omitempty"` // the glob, host, name, or size; "" where the rule says it all
}

// SummaryTool is a tool as an agent sees it.
type SummaryTool struct {
	ID           string            `json:"id"`
	Title        string            `json:"title,omitempty"`
	Description  string            `json:"description"`
	InputSchema  json.RawMessage   `json:"inputSchema,omitempty"` // canonical; nil where the plugin's program has it
	OutputSchema json.RawMessage   `json:"outputSchema,omitempty"`
	Annotations  *host.Annotations `json:"annotations,omitempty"`
	Timeout      string            `json:"timeout,omitempty"` // of a call; "" where the manifest states none
}

// SummaryAction is an entry of the context menu whose prompt goes to an agent.
type SummaryAction struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Prompt string `json:"prompt"`
}

// SummaryCommand is a command, which people, and plugins that may do so, run with all that the
// plugin may touch.
type SummaryCommand struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
}

// Fingerprint gives "sha256:" and the hash of all that the user agrees to.
func (s *Summary) Fingerprint() string {
	c := *s
	c.Version, c.DisplayName, c.Description = "", "", ""
	if !c.fresh { // one that was stored may have its characters escaped otherwise
		c.Tools = slices.Clone(s.Tools)
		for i := range c.Tools {
			t := &c.Tools[i]
			t.InputSchema, t.OutputSchema = canonical(t.InputSchema), canonical(t.OutputSchema)
		}
	}
	sum := sha256.Sum256(jsondoc.Marshal(&c))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// summarise makes the summary of a plugin whose manifest and schemas were read.
func summarise(m *Manifest, tools []*host.Tool, prompts map[string]string) *Summary {
	s := &Summary{
		Plugin: m.Name, Version: m.Version, DisplayName: m.DisplayName, Description: m.Description,
		Runtime: cmp.Or(m.Runtime, "node"), Rights: m.Rights(), Tools: []SummaryTool{}, fresh: true,
	}
	if s.Runtime == "process" {
		s.Protocol, s.Command = cmp.Or(m.Protocol, "stdio"), slices.Clone(m.Command)
	} else {
		s.Engine = cmp.Or(m.Engine, "goja")
	}
	seen := map[string]bool{}
	for _, t := range tools {
		if t.Command {
			s.Commands = append(s.Commands, SummaryCommand{t.Name, t.Title})
			continue
		}
		if seen[t.Name] { // of a repeated tool the first one stays
			continue
		}
		seen[t.Name] = true
		tool := SummaryTool{
			ID: t.Name, Title: t.Title, Description: t.Description, Annotations: t.Annotations,
			InputSchema: canonical(t.InputSchema), OutputSchema: canonical(t.OutputSchema),
		}
		if t.Timeout > 0 {
			tool.Timeout = t.Timeout.String()
		}
		s.Tools = append(s.Tools, tool)
	}
	slices.SortFunc(s.Tools, func(a, b SummaryTool) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(s.Commands, func(a, b SummaryCommand) int { return cmp.Compare(a.ID, b.ID) })
	for _, a := range m.Contributes.Actions {
		if a.Prompt != "" {
			s.Actions = append(s.Actions, SummaryAction{a.ID, a.Title, prompts[a.Prompt]})
		}
	}
	slices.SortStableFunc(s.Actions, func(a, b SummaryAction) int { return cmp.Compare(a.ID, b.ID) })
	return s
}

// canonical gives JSON without white space and with sorted members.
func canonical(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return nil
	}
	if !json.Valid(raw) || !utf8.Valid(raw) {
		return raw // somebody has changed what was stored; its bytes will do
	}
	v, whole := jsondoc.Value(raw)
	if !whole {
		return raw
	}
	return jsondoc.Marshal(v)
}

// Rights lists what the permissions of a manifest ask for, sorted.
func (m *Manifest) Rights() []Right {
	list := []Right{}
	add := func(rule string, values ...string) {
		for _, v := range values {
			list = append(list, Right{rule, v})
		}
	}
	if m.Timeout > 0 {
		add("execution.timeout", m.Timeout.String())
	}
	if m.Memory > 0 {
		add("execution.memory", strconv.FormatInt(m.Memory, 10))
	}
	if p := m.Policy; p != nil {
		for _, r := range policyRights(p) {
			if (r.Rule == "fetch.settings" || r.Rule == "net.settings") && len(m.settingDefault(r.Value)) > 0 {
				// The default is a host that is connected to without the user having set any.
				r.Value += " = " + string(canonical(m.settingDefault(r.Value)))
			}
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b Right) int { return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Value, b.Value)) })
	return slices.Compact(list)
}

// settingDefault gives the default of a setting by its full key, or by its part after the
// plugin's name.
func (m *Manifest) settingDefault(key string) json.RawMessage {
	if s, ok := m.Contributes.Settings[key]; ok {
		return s.Default
	}
	return m.Contributes.Settings[m.Name+"."+key].Default
}

// policyRights lists what a policy allows.
func policyRights(p *permissions.Policy) []Right {
	list := []Right{}
	add := func(rule string, values ...string) {
		for _, v := range values {
			list = append(list, Right{rule, v})
		}
	}
	on := func(rule string, is bool) {
		if is {
			add(rule, "")
		}
	}
	files := func(rule string, a permissions.Access) {
		on(rule+".parameter", a.Parameter)
		on(rule+".folder", a.Folder)
		add(rule+".paths", a.Paths...)
		add(rule+".deny", a.Deny...)
	}
	files("fs.read", p.FS.Read)
	if p.FS.List != nil {
		files("fs.list", *p.FS.List)
	} else {
		files("fs.list", p.FS.Read) // it covers listings, too
	}
	files("fs.write", p.FS.Write)
	add("fetch.static", p.Fetch.Static...)
	add("fetch.settings", p.Fetch.Settings...)
	add("net.static", p.Net.Static...)
	add("net.settings", p.Net.Settings...)
	add("env", p.Env...)
	on("settings", p.Settings)
	on("store", p.Store)
	on("log", p.Log)
	on("toast", p.Toast)
	on("session", p.SessionGetActive)
	on("channels", p.ChannelsGetIntegrationConfig)
	on("ai", p.AIComplete)
	on("hostTrigger", p.HostTrigger)
	on("renderHtmlToPdf", p.RenderHTMLToPDF)
	return list
}
