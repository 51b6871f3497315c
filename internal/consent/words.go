package consent

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/loader"
)

// Words says what a right lets a plugin do, as in "it may …".
func Words(r loader.Right) string {
	if act, rest, ok := fileRule(r.Rule); ok {
		switch rest {
		case "parameter":
			return act + " the files and folders that the arguments of a call name"
		case "folder":
			return act + " the agent's whole folder"
		case "undenied":
			return act + " what was closed before: " + r.Value
		case "deny":
			return "not " + act + " " + r.Value
		}
		if own, ok := strings.CutPrefix(r.Value, "plugin:"); ok {
			return act + " its own files " + own
		}
		return act + " " + r.Value + " in the agent's folder"
	}
	switch r.Rule {
	case "fetch.static":
		return "make requests to " + r.Value
	case "net.static":
		return "connect to " + r.Value + " by any protocol"
	case "fetch.settings":
		return "make requests to the host in the setting " + r.Value
	case "net.settings":
		return "connect by any protocol to the host in the setting " + r.Value
	case "env":
		return "see the environment variable " + r.Value
	case timeRule:
		return "take up to " + r.Value + " for a call"
	case memoryRule:
		if n, err := strconv.ParseInt(r.Value, 10, 64); err == nil {
			return fmt.Sprintf("use up to %d MiB of memory", (n+1<<20-1)>>20)
		}
	}
	if text := capabilities[r.Rule]; text != "" {
		return text
	}
	return "use " + strings.TrimSpace(r.Rule+" "+r.Value)
}

var capabilities = map[string]string{
	"settings":        "read the settings that you make for it",
	"store":           "keep values of its own between calls",
	"log":             "write to the host's log",
	"toast":           "show short messages",
	"session":         "see which session is active",
	"channels":        "see how channels are set up",
	"ai":              "ask a language model that you have set up",
	"hostTrigger":     "run commands of other plugins",
	"renderHtmlToPdf": "have pages printed",
}

// fileRule takes a rule for files apart.
func fileRule(rule string) (act, rest string, ok bool) {
	for _, act := range []string{"read", "list", "write"} {
		if rest, ok := strings.CutPrefix(rule, "fs."+act+"."); ok {
			return act, rest, true
		}
	}
	return "", "", false
}

// Risk says how much harm a right can do.
type Risk int

const (
	Low Risk = iota
	Medium
	High
)

// String gives "low", "medium" or "high".
func (r Risk) String() string {
	switch r {
	case High:
		return "high"
	case Medium:
		return "medium"
	default:
		return "low"
	}
}

// RiskOf says how much harm a rule of a manifest can do that is enforced as it says.
func RiskOf(e loader.Enforcement) Risk {
	rule, at := e.Rule, e.Pointer[strings.LastIndexByte(e.Pointer, '/')+1:]
	switch {
	case at == "deny":
		return Low
	case e.Enforced == loader.Advisory:
		return High
	case rule == "fs.write" && at != "parameter", rule == "net", rule == "hostTrigger":
		return High
	case rule == "fs.write", rule == "fs.read" && at != "parameter", rule == "fs.list" && at != "parameter", rule == "fetch", rule == "env", rule == "settings", rule == "ai":
		return Medium
	}
	return Low
}
