package consent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/text"
	"github.com/toolhost/toolhost/loader"
)

// Difference is one thing in which a version of a plugin differs from the one before it.
type Difference struct {
	Text   string // in words, on one line
	Detail string // the texts before and after, as a diff; may be empty
	Wider  bool   // the user has to agree to it
}

// Differences compares what a version asks for with what was agreed to. What needs to be
// agreed to comes first.
func Differences(old, now *loader.Summary) []Difference {
	var list []Difference
	add := func(wider bool, format string, args ...any) {
		list = append(list, Difference{Text: fmt.Sprintf(format, args...), Wider: wider})
	}
	if old.Plugin != now.Plugin {
		add(true, "the plugin %q calls itself %q now, and would have the settings and the store of that one", old.Plugin, now.Plugin)
	}
	if old.Runtime != now.Runtime || old.Engine != now.Engine || old.Protocol != now.Protocol {
		add(true, "it runs otherwise: %s, before %s", how(now), how(old))
	}
	if !slices.Equal(old.Command, now.Command) {
		add(true, "it starts another program: %s, before %s", words(now.Command), words(old.Command))
	}
	for _, r := range Wider(old.Rights, now.Rights) {
		add(true, "it may %s", Words(r))
	}
	tools := map[string]loader.SummaryTool{}
	for _, t := range old.Tools {
		tools[t.ID] = t
	}
	for _, t := range now.Tools {
		before, known := tools[t.ID]
		delete(tools, t.ID)
		if !known {
			add(true, "it adds the tool %q: %s", t.ID, cut(t.Description))
			continue
		}
		list = append(list, reworded(&before, &t)...)
		if longer(old.Rights, now.Rights, before.Timeout, t.Timeout) {
			add(true, "the tool %q may take up to %s for a call", t.ID, t.Timeout)
		}
	}
	list = append(list, prompts(old, now)...)
	list = append(list, commands(old, now)...)
	for _, r := range gone(old.Rights, now.Rights) {
		add(false, "it may no longer %s", Words(r))
	}
	for _, t := range old.Tools {
		if _, gone := tools[t.ID]; gone {
			add(false, "it has no tool %q any more", t.ID)
		}
	}
	slices.SortStableFunc(list, func(a, b Difference) int { return cmp.Compare(order(a.Wider), order(b.Wider)) })
	return list
}

func order(wider bool) int {
	if wider {
		return 0
	}
	return 1
}

func how(s *loader.Summary) string {
	return strings.Join(strings.Fields(s.Runtime+" "+s.Engine+" "+s.Protocol), " ")
}

func words(command []string) string {
	if len(command) == 0 {
		return "none"
	}
	quoted := make([]string, len(command))
	for i, w := range command {
		quoted[i] = strconv.Quote(w)
	}
	return strings.Join(quoted, " ")
}

// reworded tells of what a model reads of a tool.
func reworded(old, now *loader.SummaryTool) []Difference {
	var list []Difference
	compare := func(what, before, after string) {
		if before != after {
			list = append(list, Difference{Text: fmt.Sprintf("it changes the %s of the tool %q", what, now.ID), Detail: lines(before, after), Wider: true})
		}
	}
	compare("title", old.Title, now.Title)
	compare("description", old.Description, now.Description)
	compare("schema", indented(old.InputSchema), indented(now.InputSchema))
	compare("output schema", indented(old.OutputSchema), indented(now.OutputSchema))
	a, _ := json.Marshal(old.Annotations)
	b, _ := json.Marshal(now.Annotations)
	compare("annotations", string(a), string(b))
	return list
}

func prompts(old, now *loader.Summary) []Difference {
	var list []Difference
	before := map[string]loader.SummaryAction{}
	for _, a := range old.Actions {
		before[a.ID] = a
	}
	for _, a := range now.Actions {
		was, known := before[a.ID]
		switch {
		case !known:
			list = append(list, Difference{Text: fmt.Sprintf("it adds the prompt %q", a.ID), Detail: lines("", a.Title+"\n"+a.Prompt), Wider: true})
		case was != a:
			list = append(list, Difference{Text: fmt.Sprintf("it changes the prompt %q", a.ID), Detail: lines(was.Title+"\n"+was.Prompt, a.Title+"\n"+a.Prompt), Wider: true})
		}
	}
	return list
}

// commands tells of what is run under which title.
func commands(old, now *loader.Summary) []Difference {
	var list []Difference
	for _, c := range now.Commands {
		i := slices.IndexFunc(old.Commands, func(o loader.SummaryCommand) bool { return o.ID == c.ID })
		switch {
		case i < 0:
			list = append(list, Difference{Text: fmt.Sprintf("it adds the command %q: %s", c.ID, cut(c.Title)), Wider: true})
		case old.Commands[i].Title != c.Title:
			list = append(list, Difference{Text: fmt.Sprintf("it changes the title of the command %q", c.ID), Detail: lines(old.Commands[i].Title, c.Title), Wider: true})
		}
	}
	for _, c := range old.Commands {
		if !slices.ContainsFunc(now.Commands, func(n loader.SummaryCommand) bool { return n.ID == c.ID }) {
			list = append(list, Difference{Text: fmt.Sprintf("it has no command %q any more", c.ID)})
		}
	}
	return list
}

// longer reports whether a tool may take longer than what was agreed to, and than the limit of
// its plugin says, which is told by itself.
func longer(old, now []loader.Right, before, after string) bool {
	t := duration(after)
	return t > max(duration(before), limit(old, timeRule, defaultTime)) && t > limit(now, timeRule, defaultTime)
}

// duration reads how long a tool may take; 0 where it does not say.
func duration(text string) time.Duration {
	d, _ := time.ParseDuration(text) // a record that somebody has edited is found by its fingerprint
	return d
}

func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if len(raw) == 0 || json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// maxDetail is how many bytes of two texts are compared by lines.
const maxDetail = 64 << 10

// lines gives what changes from one text to another, as a diff without its head.
func lines(before, after string) string {
	if len(before)+len(after) > maxDetail {
		return fmt.Sprintf("(%d bytes, before %d)\n", len(after), len(before))
	}
	_, diff, _ := strings.Cut(text.Diff(newline(before), newline(after), "a", "b"), "@@\n")
	return diff
}

func newline(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// cut keeps a long text from filling a line.
func cut(s string) string {
	const longest = 200
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > longest {
		return string(runes[:longest]) + "…"
	}
	return s
}

// Wider gives the rights of now that those of old do not cover. A deny rule that is missing
// is a right, and so is a limit that is higher.
func Wider(old, now []loader.Right) []loader.Right {
	var list []loader.Right
	for _, r := range now {
		if !strings.HasSuffix(r.Rule, ".deny") && !covered(old, r) {
			list = append(list, r)
		}
	}
	for _, rule := range []string{"fs.read", "fs.list", "fs.write"} {
		if !opens(now, rule) {
			continue // what is not open needs no deny
		}
		for _, r := range old {
			if r.Rule == rule+".deny" && !slices.Contains(now, r) {
				list = append(list, loader.Right{Rule: rule + ".undenied", Value: r.Value})
			}
		}
	}
	list = append(list, limits(old, now)...)
	// fs.read covers listings: what is said of reading need not be said again.
	return slices.DeleteFunc(list, func(r loader.Right) bool {
		rest, isList := strings.CutPrefix(r.Rule, "fs.list")
		return isList && slices.Contains(list, loader.Right{Rule: "fs.read" + rest, Value: r.Value})
	})
}

// opens reports whether a rule for files opens any.
func opens(rights []loader.Right, rule string) bool {
	return slices.ContainsFunc(rights, func(r loader.Right) bool {
		return strings.HasPrefix(r.Rule, rule+".") && !strings.HasSuffix(r.Rule, ".deny")
	})
}

// covered reports whether rights allow what a right does.
func covered(rights []loader.Right, r loader.Right) bool {
	if r.Rule == timeRule || r.Rule == memoryRule {
		return true // limits looks at them
	}
	return slices.ContainsFunc(rights, func(have loader.Right) bool {
		if have == r {
			return true
		}
		switch r.Rule {
		case "fs.read.parameter", "fs.list.parameter", "fs.write.parameter", "fs.read.paths", "fs.list.paths", "fs.write.paths":
			// All of these lie in the agent's folder, but for the plugin's own files.
			rule := r.Rule[:strings.LastIndexByte(r.Rule, '.')] + ".folder"
			return have.Rule == rule && !strings.HasPrefix(r.Value, "plugin:")
		case "fetch.static", "net.static":
			return have.Rule == r.Rule && hostCovers(have.Value, r.Value)
		}
		return false
	})
}

// hostCovers reports whether a host pattern such as *.example.org:8443 allows all that another
// one does.
func hostCovers(have, want string) bool {
	have, want = strings.ToLower(have), strings.ToLower(want)
	below, isPattern := strings.CutPrefix(have, "*")
	name := strings.TrimPrefix(want, "*")
	return isPattern && strings.HasPrefix(below, ".") && len(name) > len(below) && strings.HasSuffix(name, below)
}

const (
	timeRule   = "execution.timeout"
	memoryRule = "execution.memory"
)

// What a plugin has that states no limit.
const (
	defaultTime   = 30 * time.Second
	defaultMemory = 1 << 30
)

// limits gives the limits that are higher than they were.
func limits(old, now []loader.Right) []loader.Right {
	var list []loader.Right
	if t := limit(now, timeRule, defaultTime); t > limit(old, timeRule, defaultTime) {
		list = append(list, loader.Right{Rule: timeRule, Value: t.String()})
	}
	if m := limit(now, memoryRule, defaultMemory); m > limit(old, memoryRule, defaultMemory) {
		list = append(list, loader.Right{Rule: memoryRule, Value: strconv.FormatInt(int64(m), 10)})
	}
	return list
}

// limit gives the value of a limit; of one that cannot be read, the default.
func limit(rights []loader.Right, rule string, otherwise time.Duration) time.Duration {
	for _, r := range rights {
		if r.Rule != rule {
			continue
		}
		if d, err := time.ParseDuration(r.Value); err == nil {
			return d
		}
		if n, err := strconv.ParseInt(r.Value, 10, 64); err == nil {
			return time.Duration(n)
		}
	}
	return otherwise
}

// gone gives the rights of old that now does not cover; limits and deny rules are not told.
func gone(old, now []loader.Right) []loader.Right {
	var list []loader.Right
	for _, r := range old {
		if !strings.HasSuffix(r.Rule, ".deny") && !strings.HasPrefix(r.Rule, "fs.list.") && !covered(now, r) {
			list = append(list, r)
		}
	}
	return list
}
