package loader

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/Masterminds/semver/v3"

	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/internal/lazyregexp"
	"github.com/toolhost/toolhost/permissions"
)

// CardProtocol is the version of the card protocol that this host speaks.
const CardProtocol = 1

// Card is what the manifest of a card has besides what all plugins have.
type Card struct {
	DisplayName Localized
	Description Localized
	Protocol    int
	Homepage    string
	// Entry is the card's page, or the module of a card without one, as a clean slash path.
	Entry       string
	Permissions []CardPermission
	Settings    []CardSetting
	Ports       json.RawMessage // as written; nil where there are none
	// Copy is the id of the copy for which a host opens the card; the card's own name, which
	// "" counts as, where the user has made no copies.
	Copy string
}

// Localized is a text in some of the languages "en", "ru" and "zh"; "en" is always there.
type Localized map[string]string

// CardPermission is one permission of a card.
type CardPermission struct {
	ID       string   // "fs.read"
	Hosts    []string // of "network" and "network.local"
	Optional bool
	Reason   Localized
}

// CardSetting is what cards' settings have besides what all settings have. Its [Setting]
// stands in Manifest.Contributes, by the key after the card's name.
type CardSetting struct {
	Key, Type, Scope string // Scope is "instance" or "package"
}

// Headless reports whether the card has a module instead of a page.
func (k *Card) Headless() bool { return !isPage(k.Entry) }

func isPage(entry string) bool {
	ext := strings.ToLower(path.Ext(entry))
	return ext == ".html" || ext == ".htm"
}

// cardModules are the endings of modules that can be the entry of a card.
var cardModules = []string{".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx"}

var (
	cardName    = lazyregexp.New(`^[a-z][a-z0-9-]{1,47}$`)
	cardTool    = lazyregexp.New(`^[a-z][a-z0-9_]{0,39}$`)
	cardSetting = lazyregexp.New(`^[a-zA-Z][a-zA-Z0-9_-]{0,63}$`)
	cardPort    = lazyregexp.New(`^[a-z][a-z0-9-]{0,31}$`)
	cardType    = lazyregexp.New(`^[a-z0-9][a-z0-9-]{0,47}/[a-z0-9][a-z0-9-]{0,47}$`)
	cardColor   = lazyregexp.New(`^#[0-9a-fA-F]{6}$`)
)

// reservedCards are names that the app keeps for itself.
var reservedCards = []string{
	"neurosquad", "neurosquad-card", "custom", "canvas", "browser", "terminal", "agent", "note", "todo", "kanban", "host", "system",
	"telegram", "image", "reference", "ports", "web-watch", "watch", "timer", "sticky", "standup", "squad", "mcp", "skill", "official",
}

// reservedTools are the app's own tools that a card's tool could be mistaken for, as far as
// no reserved name of a card keeps them free already.
var reservedTools = []string{
	"canvas_remove_card", "canvas_spawn_card", "browser_press_key", "skill_read_file", "terminal_send_keys", "watch_check_now",
}

// hostTypes are the types of ports that the app knows.
var hostTypes = []string{
	"ns:any", "ns:text", "ns:markdown", "ns:number", "ns:boolean", "ns:json", "ns:url", "ns:image", "ns:file-ref", "ns:task", "ns:tasks",
	"ns:task-patch", "ns:table", "ns:event", "ns:trigger",
}

// takeForm decides what kind of manifest it is.
func (c *checker) takeForm(root map[string]any) {
	_, versioned := root["manifestVersion"]
	if path.Base(c.file) == CardFile || !c.named && versioned {
		c.form = cardForm
		if !c.named {
			c.file = CardFile
		}
	}
}

// card reads and checks the manifest of a card.
func (c *checker) card() *Manifest {
	known, _ := c.prune(c.form.tree(), c.root, "").(map[string]any)
	card := &Card{DisplayName: localized(known["displayName"]), Description: localized(known["description"])}
	m := &Manifest{
		Kind: KindCard, Card: card, Runtime: "node", State: "plugin",
		DisplayName: card.DisplayName["en"], Description: card.Description["en"],
		Policy: &permissions.Policy{Settings: true, Store: true, Log: true, Toast: true},
	}
	c.manifest = m
	fill := func(name string) string { s, _ := text(known, name); return s }
	m.Schema, m.Name, m.Version, m.License, m.Icon = fill("$schema"), fill("name"), fill("version"), fill("license"), fill("icon")
	card.Homepage = fill("homepage")
	m.Keywords = texts(known["keywords"])
	author := object(known, "author")
	m.Author.Name, _ = text(author, "name")
	m.Author.URL, _ = text(author, "url")

	c.cardIdentity()
	c.cardEntry()
	c.cardSizes()
	c.cardPermissions()
	c.cardSettings()
	c.cardPorts()
	c.cardTools()
	c.cardTexts()
	c.checkSchema(written(known))
	return m
}

// CardNameProblem says why a text is no name of a card; "" where it is one.
func CardNameProblem(name string) string {
	switch {
	case !cardName.MatchString(name):
		return fmt.Sprintf("the card name %q must match %s", cut(name), cardName)
	case slices.Contains(reservedCards, name):
		return fmt.Sprintf("the card name %q is reserved", name)
	}
	return ""
}

func (c *checker) cardIdentity() {
	if v, there := c.root["manifestVersion"]; there && number(v) != 1 {
		c.error("/manifestVersion", ruleCardVersion, fmt.Sprintf(`"manifestVersion" must be 1, not %s`, shown(v)), `write "manifestVersion": 1`)
	}
	if name, ok := text(c.root, "name"); ok {
		switch problem := CardNameProblem(name); {
		case !cardName.MatchString(name):
			hint := "use 2 to 48 lower-case letters, digits and hyphens, and begin with a letter"
			if fixed := fixName(name); cardName.MatchString(fixed) {
				hint = fmt.Sprintf(`write "name": %q`, fixed)
			}
			c.error("/name", ruleCardName, problem, hint)
		case problem != "":
			c.error("/name", ruleCardName, problem, fmt.Sprintf(`choose another one, such as "my-%s"`, name))
		}
	}
	for _, field := range []string{"version", "minAppVersion"} {
		v, ok := text(c.root, field)
		if !ok {
			continue
		}
		if _, err := semver.StrictNewVersion(v); err != nil {
			hint := fmt.Sprintf(`write three numbers, such as %q: "1.0.0"`, field)
			if loose, err := semver.NewVersion(v); err == nil && len(v) < 64 {
				hint = fmt.Sprintf(`write %q: %q`, field, loose)
			}
			c.error("/"+field, ruleVersion, fmt.Sprintf("%q is no semantic version", cut(v)), hint)
		}
	}
	if v, there := c.root["protocol"]; there {
		n := number(v)
		c.manifest.Card.Protocol = int(max(n, 0))
		if n > CardProtocol && n <= 1000 {
			c.error("/protocol", ruleCardVersion, fmt.Sprintf("the card was written for card protocol %d; this host speaks %d", n, CardProtocol),
				"update toolhost, or install an older version of the card")
		}
	}
	if url, ok := text(object(c.root, "author"), "url"); ok {
		c.address("/author/url", url)
	}
	if page, ok := text(c.root, "homepage"); ok {
		c.address("/homepage", page)
	}
}

func (c *checker) address(pointer, s string) {
	rest, ok := strings.CutPrefix(s, "https://")
	if !ok || rest == "" || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		c.error(pointer, ruleCardAddress, fmt.Sprintf("%s must be an address that begins with https://, not %q", field(pointer), cut(s)), "write the whole address, or leave it out")
	}
}

func (c *checker) cardEntry() {
	entry := "index.html"
	if s, ok := text(c.root, "entry"); ok && s != "" {
		entry = s
		switch ext := strings.ToLower(path.Ext(s)); {
		case c.packagePath("/entry", s):
		case !isPage(s) && !slices.Contains(cardModules, ext):
			c.error("/entry", ruleCardEntry, fmt.Sprintf(`"entry" must be a page (.html), or the module of a card without one (.js, .ts), not %q`, cut(s)), `for example "entry": "index.html", or "entry": "card.js"`)
		}
	}
	c.manifest.Card.Entry = path.Clean(entry)
	if isPage(entry) {
		c.manifest.Runtime, c.manifest.State = RuntimePage, ""
	}
	if s, ok := text(c.root, "icon"); ok && s != "" && !c.packagePath("/icon", s) {
		if ext := strings.ToLower(path.Ext(s)); ext != ".png" && ext != ".webp" {
			c.error("/icon", ruleCardEntry, fmt.Sprintf(`"icon" must be a .png or .webp file, not %q`, cut(s)), `for example "icon": "icon.png"`)
		}
	}
}

// devices are names that no file has on Windows.
var devices = lazyregexp.New(`(?i)^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$|clock\$) *(\..*)?$`)

// packagePath checks a path in a card, which must be one on every system. It reports whether
// there was something wrong.
func (c *checker) packagePath(pointer, s string) bool {
	before := len(c.errors) + c.moreErrors
	c.path(pointer, s)
	for part := range strings.SplitSeq(s, "/") {
		switch {
		case part == "" || part == "." || part == "..":
			c.error(pointer, rulePath, fmt.Sprintf("%s has an empty part, . or ..: %q", field(pointer), cut(s)), "write the path from the card's folder, such as \"dist/index.html\"")
		case strings.HasSuffix(part, ".") || strings.HasSuffix(part, " "):
			c.error(pointer, rulePath, fmt.Sprintf("%s has a part that ends with a dot or a space: %q", field(pointer), cut(s)), "such names cannot be made on every system")
		case devices.MatchString(part):
			c.error(pointer, rulePath, fmt.Sprintf("%s has a name that Windows keeps for a device: %q", field(pointer), cut(part)), "rename the file")
		case strings.ContainsAny(part, `<>:"|?*`) || strings.ContainsFunc(part, unicode.IsControl):
			c.error(pointer, rulePath, fmt.Sprintf("%s has a character that file names do not have on every system: %q", field(pointer), cut(s)), `leave out < > : " | ? * and control characters`)
		}
	}
	if n := strings.Count(s, "/") + 1; n > 20 {
		c.error(pointer, rulePath, fmt.Sprintf("%s is %d folders deep; 20 are the most", field(pointer), n), "")
	}
	return len(c.errors)+c.moreErrors > before
}

func (c *checker) cardSizes() {
	sizes := object(c.root, "card")
	size := func(name string, w, h int64) (int64, int64) {
		if o := object(sizes, name); o != nil {
			return number(o["w"]), number(o["h"])
		}
		return w, h
	}
	w, h := size("defaultSize", 420, 320)
	leastW, leastH := size("minSize", 200, 120)
	mostW, mostH := size("maxSize", 2400, 1800)
	if leastW > w || leastH > h || w > mostW || h > mostH {
		c.error("/card", ruleCardBounds, fmt.Sprintf(`the sizes of "card" do not go together: %d × %d at least, %d × %d by default, %d × %d at most`, leastW, leastH, w, h, mostW, mostH),
			"make minSize no larger, and maxSize no smaller, than defaultSize, which is 420 × 320 where it is left out")
	}
}

// number gives a whole number; -1 for anything else.
func number(v any) int64 {
	n, ok := v.(json.Number)
	if !ok {
		return -1
	}
	i, err := n.Int64()
	if err != nil {
		f, err := n.Float64()
		if err != nil || f != float64(int64(f)) {
			return -1
		}
		i = int64(f)
	}
	return i
}

// localized reads a text that may be written once for each language.
func localized(v any) Localized {
	switch v := v.(type) {
	case string:
		return Localized{"en": v}
	case map[string]any:
		l := Localized{}
		for _, language := range languages {
			if s, ok := text(v, language); ok {
				l[language] = s
			}
		}
		return l
	}
	return nil
}

var languages = []string{"en", "ru", "zh"}

// localizedText checks a text that may be written once for each language.
func (c *checker) localizedText(pointer string, v any, most int, lines bool) {
	switch v := v.(type) {
	case nil:
		if c.value(pointer) == nil {
			return // it is not there, or the schema says that it must be
		}
	case string:
		c.cardText(pointer, v, most, lines)
	case map[string]any:
		if _, there := v["en"]; !there {
			c.error(pointer+"/en", ruleMissing, fmt.Sprintf(`"en" is missing in %s`, field(pointer)), "English is what is shown where a language is missing")
		}
		for _, name := range c.doc.Keys(pointer) {
			at := pointer + "/" + jsondoc.Escape(name)
			if !slices.Contains(languages, name) {
				c.keyError(at, ruleCardField, fmt.Sprintf("%s knows no language %q", field(pointer), cut(name)), `the languages are "en", "ru" and "zh"`)
				continue
			}
			if s, ok := v[name].(string); ok {
				c.cardText(at, s, most, lines)
			} else {
				c.error(at, ruleType, fmt.Sprintf("%s must be a string, not %s", field(at), kind(v[name])), "")
			}
		}
	default:
		c.error(pointer, ruleType, fmt.Sprintf(`%s must be a string, or an object with "en", "ru" and "zh", not %s`, field(pointer), kind(v)), "")
	}
}

// cardText checks a text that people or models read. most is 0 where the schema bounds it.
func (c *checker) cardText(pointer, s string, most int, lines bool) {
	if r, found := hiddenInCard(s, lines); found {
		c.error(pointer, ruleCardText, fmt.Sprintf("%s holds the character %U: control, bidirectional and invisible characters are not allowed", field(pointer), r), "take it out")
	}
	switch n := utf8.RuneCountInString(s); {
	case strings.TrimSpace(s) == "":
		c.error(pointer, ruleBlank, field(pointer)+" must not be empty", "")
	case most > 0 && n > most:
		c.error(pointer, ruleCardBounds, fmt.Sprintf("%s has %d characters; %d are the most", field(pointer), n, most), "shorten it")
	}
}

// hiddenInCard gives the first character that cards' texts must not have: the app knows no
// exceptions but line breaks and tabs, and those in longer texts only.
func hiddenInCard(s string, lines bool) (rune, bool) {
	for _, r := range s {
		switch {
		case lines && (r == '\n' || r == '\t'):
		case unicode.In(r, unicode.Cc, unicode.Cf), r == '\u2028', r == '\u2029':
			return r, true
		}
	}
	return 0, false
}

// cardTexts checks the texts that have no rule of their own.
func (c *checker) cardTexts() {
	c.localizedText("/displayName", c.root["displayName"], 80, false)
	c.localizedText("/description", c.root["description"], 300, true)
	plain := func(pointer string, v any) {
		if s, ok := v.(string); ok && s != "" {
			c.cardText(pointer, s, 0, false)
		}
	}
	plain("/author/name", object(c.root, "author")["name"])
	plain("/license", c.root["license"])
	for i, v := range list(c.root, "keywords") {
		plain(fmt.Sprintf("/keywords/%d", i), v)
	}
}
