package loader

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolhost/toolhost/internal/lazyregexp"
	"github.com/toolhost/toolhost/internal/suggest"
	"github.com/toolhost/toolhost/permissions"
)

// cardPermissions are the permissions that cards can ask for, in the order of the app.
var cardPermissions = []string{
	"agents.read", "agents.output", "agents.prompt", "terminals.write", "cards.connected", "network", "network.local", "fs.read",
	"fs.write", "clipboard.write", "canvas.spawn", "background", "usage.read",
}

// localHosts are what network.local stands for.
var localHosts = []string{"localhost", "127.0.0.1", "[::1]"}

// maxCardHosts is how many hosts one permission may name.
const maxCardHosts = 32

// cardPermissions makes the policy from the card's permissions, and checks them.
func (c *checker) cardPermissions() {
	for i, value := range list(c.root, "permissions") {
		at := "/permissions/" + strconv.Itoa(i)
		p := CardPermission{}
		switch v := value.(type) {
		case string:
			p.ID = v
			c.permissionID(at, v)
		case map[string]any:
			p = c.permissionObject(at, v)
		default:
			c.error(at, ruleCardPermission, fmt.Sprintf("a permission must be its id, or an object with it, not %s", kind(v)), `for example "fs.read", or {"id": "network", "hosts": ["api.example.com"]}`)
			continue
		}
		if p.ID == "network" && len(p.Hosts) == 0 && !c.covered[at+"/hosts"] && !c.around[at+"/hosts"] {
			c.error(at, ruleCardPermission, `the permission "network" needs hosts`, `write {"id": "network", "hosts": ["api.example.com"]}`)
		}
		c.manifest.Card.Permissions = append(c.manifest.Card.Permissions, p)
		c.allow(p)
	}
}

// allow adds what a permission stands for to the policy.
func (c *checker) allow(p CardPermission) {
	policy := c.manifest.Policy
	switch p.ID {
	case "fs.read":
		policy.FS.Read = permissions.Access{Folder: true}
	case "fs.write":
		policy.FS.Read = permissions.Access{Folder: true}
		policy.FS.Write = permissions.Access{Folder: true}
	case "network":
		policy.Fetch.Static = append(policy.Fetch.Static, p.Hosts...)
	case "network.local":
		policy.Fetch.Static = append(policy.Fetch.Static, localHosts...)
	}
}

func (c *checker) permissionID(pointer, id string) {
	if slices.Contains(cardPermissions, id) {
		return
	}
	hint := "the permissions of cards are " + oneOf(cardPermissions)
	if near := suggest.Nearest(id, cardPermissions); near != "" {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	c.error(pointer, ruleCardPermission, fmt.Sprintf("cards have no permission %q", cut(id)), hint)
}

func (c *checker) permissionObject(pointer string, o map[string]any) CardPermission {
	p := CardPermission{Reason: localized(o["reason"])}
	p.ID, _ = text(o, "id")
	p.Optional, _ = o["optional"].(bool)
	for _, name := range c.doc.Keys(pointer) {
		at := pointer + "/" + name
		switch name {
		case "id":
			if p.ID == "" {
				c.error(at, ruleType, `"id" must be a string, not `+kind(o[name]), `for example "id": "fs.read"`)
				continue
			}
			c.permissionID(at, p.ID)
		case "optional":
			if _, ok := o[name].(bool); !ok {
				c.error(at, ruleType, `"optional" must be true or false, not `+kind(o[name]), "")
			}
		case "reason":
			c.localizedText(at, o[name], 300, true)
		case "hosts":
			p.Hosts = c.cardHosts(at, p.ID, o[name])
		default:
			hint := `the fields are "id", "hosts", "reason" and "optional"`
			if near := suggest.Nearest(name, []string{"id", "hosts", "reason", "optional"}); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			c.keyError(at, ruleCardField, fmt.Sprintf("permissions have no field %q", cut(name)), hint)
		}
	}
	if _, there := o["id"]; !there {
		c.error(pointer+"/id", ruleMissing, `"id" is missing in a permission`, `add "id": "fs.read"`)
	}
	return p
}

func (c *checker) cardHosts(pointer, id string, v any) []string {
	l, ok := v.([]any)
	switch {
	case !ok:
		c.error(pointer, ruleType, `"hosts" must be a list, not `+kind(v), `for example "hosts": ["api.example.com"]`)
		return nil
	case id != "network" && slices.Contains(cardPermissions, id):
		c.keyError(pointer, ruleCardPermission, fmt.Sprintf("the permission %q takes no hosts", id), `take "hosts" away`)
		return nil
	case len(l) > maxCardHosts:
		c.error(pointer, ruleCardBounds, fmt.Sprintf(`"hosts" has %d entries; %d are the most`, len(l), maxCardHosts), "")
		return nil
	}
	var hosts []string
	for i, one := range l {
		at := pointer + "/" + strconv.Itoa(i)
		s, ok := one.(string)
		if !ok {
			c.error(at, ruleType, "a host must be a string, not "+kind(one), "")
			continue
		}
		host, wrong := cardHost(s)
		if wrong != "" {
			c.error(at, ruleCardPermission, fmt.Sprintf("%q is no host that a card can ask for: %s", cut(s), wrong), `write a host such as "api.example.com", "*.example.org" or "api.example.com:8443"`)
			continue
		}
		hosts = append(hosts, host)
	}
	return hosts
}

var hostLabel = lazyregexp.New(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// cardHost checks a host of a card, which is a name in lower case, with a port where it is
// not that of https.
func cardHost(s string) (host, wrong string) {
	s = strings.TrimSpace(s)
	name, port := s, ""
	if i := strings.LastIndexByte(s, ':'); i >= 0 {
		name, port = s[:i], s[i+1:]
	}
	switch {
	case len(s) > 260:
		return "", "it is too long"
	case s != strings.ToLower(s):
		return "", "it must be in lower case"
	case strings.ContainsAny(s, "/@["):
		return "", "it must be a host alone, without scheme, path or address"
	}
	if s != name {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 || strings.HasPrefix(port, "+") {
			return "", "its port is no number from 1 to 65535"
		}
	}
	plain, wild := strings.CutPrefix(name, "*.")
	labels := strings.Split(plain, ".")
	switch {
	case strings.Contains(plain, "*"):
		return "", `a "*" may only stand alone at its beginning, as in "*.example.org"`
	case plain == "localhost" || strings.HasSuffix(plain, ".localhost"):
		return "", `the permission "network.local" is for this computer`
	case len(labels) < 2 && wild:
		return "", "a wildcard needs two labels after it"
	case len(labels) < 2 || len(plain) > 253 || slices.ContainsFunc(labels, func(l string) bool { return !hostLabel.MatchString(l) }):
		return "", "it is no host name"
	case strings.Trim(labels[len(labels)-1], "0123456789") == "":
		return "", "it must be a name, not an address"
	}
	return s, ""
}

// cardSettings reads and checks the settings.
func (c *checker) cardSettings() {
	m := c.manifest
	seen := map[string]bool{}
	for i, value := range list(c.root, "settings") {
		at := "/settings/" + strconv.Itoa(i)
		s, ok := value.(map[string]any)
		if !ok {
			continue
		}
		key, hasKey := text(s, "key")
		c.localizedText(at+"/label", s["label"], 80, false)
		c.localizedText(at+"/description", s["description"], 300, true)
		c.localizedText(at+"/placeholder", s["placeholder"], 80, false)
		options := c.settingOptions(at, s)
		kind, _ := text(s, "type")
		c.settingDefault(at, kind, s, options)
		switch {
		case hasKey && !cardSetting.MatchString(key):
			c.error(at+"/key", ruleCardSetting, fmt.Sprintf("the key %q must match %s", cut(key), cardSetting), "use letters, digits, _ and -, at most 64, and begin with a letter")
			continue
		case seen[key]:
			c.error(at+"/key", ruleCardSetting, fmt.Sprintf("the setting %q stands twice", key), "give one of the two another key")
			continue
		case !hasKey:
			continue
		}
		seen[key] = true
		scope, _ := text(s, "scope")
		if scope == "" {
			scope = "instance"
		}
		m.Card.Settings = append(m.Card.Settings, CardSetting{Key: key, Type: kind, Scope: scope})
		if m.Contributes.Settings == nil {
			m.Contributes.Settings = map[string]Setting{}
		}
		required, _ := s["required"].(bool)
		one := Setting{
			Type: settingTypes[kind], Title: localized(s["label"])["en"], Description: localized(s["description"])["en"],
			Enum: options, Required: required, Secret: kind == "secret", Order: float64(i),
			Color: kind == "color",
		}
		switch one.Type {
		case "number":
			one.Min, one.Max = bound(s["min"]), bound(s["max"])
		case "string":
			one.MaxLength = int(max(number(s["maxLength"]), 0))
		}
		if _, there := s["default"]; there {
			one.Default = json.RawMessage(c.doc.TextOf(at + "/default"))
		}
		m.Contributes.Settings[m.Name+"."+key] = one
	}
}

// settingTypes are the types of values of the types of a card's settings.
var settingTypes = map[string]string{
	"string": "string", "text": "string", "select": "string", "secret": "string", "color": "string", "number": "number", "boolean": "boolean",
}

func (c *checker) settingOptions(pointer string, s map[string]any) []json.RawMessage {
	_, there := s["options"]
	switch kind, _ := text(s, "type"); {
	case kind == "select" && !there:
		c.error(pointer+"/options", ruleCardSetting, "a setting of type \"select\" needs options", `add "options": [{"value": "metric", "label": "Metric"}]`)
	case kind != "select" && there && settingTypes[kind] != "":
		c.keyError(pointer+"/options", ruleCardSetting, fmt.Sprintf("a setting of type %q has no options", kind), `take them away, or write "type": "select"`)
	}
	var values []json.RawMessage
	for i, one := range list(s, "options") {
		at := pointer + "/options/" + strconv.Itoa(i)
		o, ok := one.(map[string]any)
		if !ok {
			continue
		}
		c.localizedText(at+"/label", o["label"], 80, false)
		if _, ok := o["value"].(string); ok {
			values = append(values, json.RawMessage(c.doc.TextOf(at+"/value")))
		}
	}
	return values
}

func (c *checker) settingDefault(pointer, kindOf string, s map[string]any, options []json.RawMessage) {
	least, hasLeast := float(s["min"])
	most, hasMost := float(s["max"])
	if hasLeast && hasMost && least > most {
		c.error(pointer+"/min", ruleCardSetting, `"min" is greater than "max"`, "")
	}
	length, hasLength := float(s["maxLength"])
	v, there := s["default"]
	if !there || settingTypes[kindOf] == "" {
		return
	}
	at := pointer + "/default"
	wrong := func(format string, args ...any) { c.error(at, ruleCardSetting, fmt.Sprintf(format, args...), "") }
	str, isText := v.(string)
	_, isBool := v.(bool)
	n, isNumber := float(v)
	switch {
	case kindOf == "secret":
		c.keyError(at, ruleCardSetting, "a secret cannot have a default", "take it away: everybody could read it")
	case settingTypes[kindOf] == "string" && !isText, kindOf == "boolean" && !isBool, kindOf == "number" && !isNumber:
		wrong(`the "default" of a setting of type %q must be a %s, not %s`, kindOf, settingTypes[kindOf], kind(v))
	case kindOf == "select" && len(options) > 0 && !slices.ContainsFunc(options, func(o json.RawMessage) bool {
		var value string
		return json.Unmarshal(o, &value) == nil && value == str
	}):
		wrong("the default %q is none of the options", cut(str))
	case kindOf == "color" && !cardColor.MatchString(str):
		wrong("the default %q is no colour; it must be like %q", cut(str), "#33aaff")
	case kindOf == "number" && (hasLeast && n < least || hasMost && n > most):
		wrong(`the default is outside of "min" and "max"`)
	case isText && hasLength && utf8.RuneCountInString(str) > int(length):
		wrong(`the default has %d characters; "maxLength" is %d`, utf8.RuneCountInString(str), int(length))
	}
}

// bound gives a number that bounds others; nil where there is none.
func bound(v any) *float64 {
	n, ok := float(v)
	if !ok {
		return nil
	}
	return &n
}

func float(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := n.Float64()
	return f, err == nil
}

// cardPorts checks the ports, which this host keeps for cards that list them.
func (c *checker) cardPorts() {
	ports := object(c.root, "ports")
	if ports == nil {
		return
	}
	c.manifest.Card.Ports = json.RawMessage(c.doc.TextOf("/ports"))
	for _, direction := range []string{"inputs", "outputs"} {
		seen := map[string]bool{}
		defaults := 0
		for i, value := range list(ports, direction) {
			at := "/ports/" + direction + "/" + strconv.Itoa(i)
			p, ok := value.(map[string]any)
			if !ok {
				continue
			}
			if id, ok := text(p, "id"); ok {
				switch {
				case !cardPort.MatchString(id):
					c.error(at+"/id", ruleCardPort, fmt.Sprintf("the port %q must match %s", cut(id), cardPort), "")
				case seen[id]:
					c.error(at+"/id", ruleCardPort, fmt.Sprintf("the port %q stands twice", id), "give one of the two another id")
				}
				seen[id] = true
			}
			if p["default"] == true {
				defaults++
			}
			c.port(at, p, direction == "outputs")
		}
		if defaults > 1 {
			c.error("/ports/"+direction, ruleCardPort, "more than one input is the default", "")
		}
	}
}

func (c *checker) port(at string, p map[string]any, output bool) {
	c.localizedText(at+"/label", p["label"], 80, false)
	c.localizedText(at+"/description", p["description"], 500, true)
	c.portType(at, p, true)
	for _, name := range []string{"mode", "response", "default"} {
		if _, there := p[name]; there && output {
			c.keyError(at+"/"+name, ruleCardPort, fmt.Sprintf("%q is for inputs; this is an output", name), "take it away")
		}
	}
	if _, there := p["retain"]; there && !output {
		c.keyError(at+"/retain", ruleCardPort, `"retain" is for outputs; this is an input`, "take it away")
	}
	response := object(p, "response")
	switch {
	case output:
	case p["mode"] == "request" && response == nil:
		c.error(at+"/response", ruleCardPort, "an input that is asked needs a response", `add "response": {"type": "ns:json"}`)
	case p["mode"] != "request" && response != nil:
		c.keyError(at+"/response", ruleCardPort, `only an input with "mode": "request" has a response`, "")
	}
	if response != nil {
		c.portType(at+"/response", response, false)
	}
}

func (c *checker) portType(at string, p map[string]any, ownNeedsSchema bool) {
	s := object(p, "schema")
	if t, ok := text(p, "type"); ok && t != "" {
		known := slices.Contains(hostTypes, t)
		switch {
		case !known && !cardType.MatchString(t):
			hint := "the types are " + oneOf(hostTypes) + `, or "CARD/TYPE" of a card's own`
			if near := suggest.Nearest(t, hostTypes); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			c.error(at+"/type", ruleCardPort, fmt.Sprintf("there is no type %q of ports", cut(t)), hint)
		case !known && s == nil && ownNeedsSchema:
			c.error(at+"/schema", ruleCardPort, fmt.Sprintf("the type %q is a card's own and needs a schema", t), "")
		}
	}
	if s != nil {
		c.cardSubset(at+"/schema", s)
	}
}
