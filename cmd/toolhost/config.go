package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/complete"
	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/internal/mounted"
	"github.com/toolhost/toolhost/internal/schema"
	"github.com/toolhost/toolhost/internal/suggest"
	"github.com/toolhost/toolhost/loader"
)

//go:embed config.schema.json
var configSchema []byte

// maxConfig is how large a configuration may be, in bytes.
const maxConfig = 256 << 10

// config is the configuration file: what it does not set is nil.
type config struct {
	Plugins         []string `json:"plugins"`
	NoBundled       *bool    `json:"no-bundled"`
	Folder          *string  `json:"folder"`
	State           *string  `json:"state"`
	Isolation       *string  `json:"isolation"`
	Sandbox         *string  `json:"sandbox"`
	Trust           *bool    `json:"trust"`
	Policy          *string  `json:"policy"`
	StrictArguments *bool    `json:"strict-arguments"`
	Tools           []string `json:"tools"`
	PluginsOnly     *bool    `json:"plugins-only"`
	Poll            *string  `json:"poll"`
	Strict          *bool    `json:"strict"`
	httpFlags
	LogFormat *string `json:"log-format"`
	LogLevel  *string `json:"log-level"`
	Limits    limits  `json:"limits"`
	Calls     calls   `json:"calls"`
	MaxText   *int    `json:"max-text"`
	// Profiles are what other agents are offered, by the names for --profile.
	Profiles map[string]profile `json:"profiles"`
	// MCPServers are the servers whose tools are offered too.
	MCPServers map[string]mounted.Config `json:"mcpServers"`
	Cards      []cardCopy                `json:"cards"`
	// AI says which model completes prompts for plugins.
	AI *complete.Config `json:"ai"`
}

// profile holds what is set for some agents in the place of what holds for all.
type profile struct {
	Tools       []string `json:"tools"`
	PluginsOnly *bool    `json:"plugins-only"`
	MaxText     *int     `json:"max-text"`
}

// choose lets the chosen profile set what it says.
func (c *config) choose(name string) error {
	if name == "" {
		return nil
	}
	p, known := c.Profiles[name]
	if !known {
		return unknownProfile(name, slices.Sorted(maps.Keys(c.Profiles)))
	}
	if p.Tools != nil {
		c.Tools = p.Tools
	}
	if p.PluginsOnly != nil {
		c.PluginsOnly = p.PluginsOnly
	}
	if p.MaxText != nil {
		c.MaxText = p.MaxText
	}
	return nil
}

func unknownProfile(name string, known []string) error {
	hint := `the configuration has no "profiles"`
	if len(known) > 0 {
		hint = "the configuration has " + strings.Join(known, ", ")
		if near := suggest.Nearest(name, known); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
	}
	return usagef(hint, "--profile %q is unknown", name)
}

// cardCopy is one copy of a card.
type cardCopy struct {
	Card string `json:"card"`
	ID   string `json:"id"`
	Name string `json:"name"`
}

type limits struct {
	Arguments  int    `json:"arguments"`
	Result     int    `json:"result"`
	Timeout    string `json:"timeout"`
	MaxTimeout string `json:"max-timeout"`
	Body       int64  `json:"body"` // of a request or a response
	Processes  int    `json:"processes"`
}

// calls says what the call log keeps.
type calls struct {
	Record *bool  `json:"record"`
	Keep   string `json:"keep"`
	Bytes  int64  `json:"bytes"`
}

// host gives the limits for the host. The schema has checked the texts.
func (l limits) host() (host.Limits, error) {
	out := host.Limits{Arguments: l.Arguments, Result: l.Result}
	for text, into := range map[string]*time.Duration{l.Timeout: &out.Timeout, l.MaxTimeout: &out.MaxTimeout} {
		if text == "" {
			continue
		}
		d, err := time.ParseDuration(text)
		if err != nil {
			return out, err
		}
		*into = d
	}
	return out, nil
}

// configFile gives where the configuration is, if there is any; "" for nowhere.
func (p *program) configFile() string {
	if p.flags.config != "" {
		return p.flags.config
	}
	dir := ownDir("XDG_CONFIG_HOME", ".config")
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "config.json")
}

// readConfig reads the configuration and lets it set the flags that the command line
// does not set.
func (p *program) readConfig(cmd *cobra.Command) error {
	path, named := p.configFile(), p.flags.config != ""
	if path == "" {
		return nil
	}
	raw, err := readAtMost(path, maxConfig)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return (&config{}).choose(p.flags.profile)
	}
	if err != nil {
		return usagef("", "reading the configuration: %w", err)
	}
	c, err := parseConfig(raw, path)
	if err != nil {
		return usagef("docs/config.schema.json says what it may hold", "the configuration is wrong:\n%w", err)
	}
	if err := c.choose(p.flags.profile); err != nil {
		return err
	}
	set := func(flag string) bool { return cmd.Flags().Changed(flag) }
	base := filepath.Dir(path)
	below := func(p string) string {
		if filepath.IsAbs(p) {
			return p
		}
		return filepath.Join(base, p)
	}
	f := &p.flags
	if !set("plugins") && c.Plugins != nil {
		for _, dir := range c.Plugins {
			f.plugins = append(f.plugins, below(dir))
		}
	}
	if !set("folder") && c.Folder != nil {
		f.folder = below(*c.Folder)
	}
	if !set("state") && c.State != nil {
		f.state = below(*c.State)
	}
	if !set("policy") && c.Policy != nil {
		f.policyFile = below(*c.Policy)
	}
	p.flags.http.fill(set, c.httpFlags, below)
	if !set("tools") && c.Tools != nil {
		f.tools = c.Tools
	}
	for flag, v := range map[string]struct {
		from *string
		to   *string
	}{"isolation": {c.Isolation, &f.isolation}, "sandbox": {c.Sandbox, &f.sandbox}, "log-format": {c.LogFormat, &f.logFormat}, "log-level": {c.LogLevel, &f.logLevel}} {
		if !set(flag) && v.from != nil {
			*v.to = *v.from
		}
	}
	for flag, v := range map[string]struct {
		from *bool
		to   *bool
	}{
		"no-bundled": {c.NoBundled, &f.noBundled}, "trust": {c.Trust, &f.trust}, "strict": {c.Strict, &f.strict},
		"strict-arguments": {c.StrictArguments, &f.strictArguments}, "plugins-only": {c.PluginsOnly, &f.pluginsOnly},
	} {
		if !set(flag) && v.from != nil {
			*v.to = *v.from
		}
	}
	if c.Poll != nil && !set("poll") {
		var err error
		if f.poll, err = time.ParseDuration(*c.Poll); err != nil {
			return failed(err) // the schema has checked it
		}
	}
	if !set("max-text") && c.MaxText != nil {
		f.maxText = *c.MaxText
	}
	f.limits, f.calls, f.mounts = c.Limits, c.Calls, c.MCPServers
	if f.cards, err = copies(c.Cards, path); err != nil {
		return err
	}
	if c.AI != nil {
		if p.model, err = complete.New(c.AI, p.logger(slog.LevelDebug)); err != nil {
			return usagef("", "the configuration %s names no model that could be used: \"ai\": %w", path, err)
		}
	}
	return nil
}

// copies gives the copies of cards, each of which has an id of its own.
func copies(all []cardCopy, path string) ([]loader.CardCopy, error) {
	var list []loader.CardCopy
	seen := map[cardCopy]bool{}
	for i, k := range all {
		key := cardCopy{Card: k.Card, ID: k.ID}
		if seen[key] {
			return nil, usagef("give each copy an id of its own", "the configuration is wrong:\n%s: /cards/%d: the card %q has two copies with the id %q", path, i, k.Card, k.ID)
		}
		seen[key] = true
		list = append(list, loader.CardCopy(k))
	}
	return list, nil
}

// parseConfig checks a configuration against its schema; the error holds all mistakes,
// each with its place.
func parseConfig(raw []byte, path string) (*config, error) {
	text, err := checkDocument(raw, path, configSchema)
	if err != nil {
		return nil, err
	}
	c := &config{}
	return c, json.Unmarshal(text, c)
}

// checkDocument checks a JSON document against a schema and gives it in plain form; the error
// holds all mistakes, each with its place.
func checkDocument(raw []byte, path string, documentSchema []byte) ([]byte, error) {
	doc, err := jsondoc.Parse(raw)
	if syntax := (*jsondoc.SyntaxError)(nil); errors.As(err, &syntax) {
		return nil, fmt.Errorf("%s:%d:%d: %s", path, syntax.Line, syntax.Column, syntax.Msg)
	}
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(doc.Value)
	if err != nil {
		return nil, err
	}
	s, err := schema.Compile(documentSchema)
	if err != nil {
		return nil, err
	}
	checked, err := s.Check(text, true)
	if err != nil {
		return nil, err
	}
	var wrong []error
	mistake := func(pointer, message string) {
		at, where := doc.KeyPosition(pointer), ""
		if pointer != "" {
			where = oneLine(pointer) + ": "
		}
		wrong = append(wrong, fmt.Errorf("%s:%d:%d: %s%s", path, at.Line, at.Column, where, message))
	}
	for _, pointer := range doc.Duplicates {
		mistake(pointer, "stands twice; keep one of them")
	}
	for _, i := range checked.Issues {
		message := i.Message
		if text := described(documentSchema, i.Pointer); i.Keyword == "pattern" && text != "" {
			message = i.Got + " does not fit: " + text // an expression says nothing to most
		}
		mistake(i.Pointer, message)
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	return text, nil
}

// described gives the description that a schema has for a place in a document; "" where there
// is none.
func described(documentSchema []byte, pointer string) string {
	type node struct {
		Description          string
		Properties           map[string]json.RawMessage
		AdditionalProperties json.RawMessage
		Items                json.RawMessage
	}
	at := json.RawMessage(documentSchema)
	steps := strings.Split(pointer, "/")
	for i := 0; ; i++ {
		var n node
		if json.Unmarshal(at, &n) != nil {
			return ""
		}
		if i == len(steps)-1 {
			return n.Description
		}
		switch next, ok := n.Properties[strings.NewReplacer("~1", "/", "~0", "~").Replace(steps[i+1])]; {
		case ok:
			at = next
		case n.Items != nil:
			at = n.Items
		default:
			at = n.AdditionalProperties
		}
	}
}

// readAtMost reads a file that must not be larger than limit bytes. Opening does not
// wait: a pipe that nobody writes to would hold the program for ever.
func readAtMost(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(raw)) > limit {
		err = fmt.Errorf("%s is larger than %d bytes", path, limit)
	}
	return raw, err
}
