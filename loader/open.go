package loader

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/internal/schema"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
)

// opened is what became of a plugin folder: an open plugin, or the reasons why not.
type opened struct {
	name     string // the manifest's, or the folder's where that has none
	dir      string // absolute, links resolved
	found    string // the folder as it was named, perhaps a link
	file     string // the manifest's name
	manifest *Manifest
	policy   *permissions.Policy // the manifest's, of this folder
	tools    []*host.Tool
	ids      []string // of tools, in the manifest
	visible  *visibility
	menu     *menu
	instance runtimes.Instance // nil where there are errors
	nameAt   jsondoc.Position  // of the name in the manifest
	held     *held             // where the user has not agreed to it; then instance is nil
	foreign  bool              // its code is a stranger's
	from     string            // see plugin
	inputs   sums              // what was read, with the handler modules where they were opened

	errors, warnings, notes []*ManifestError
}

// opener opens plugin folders, for a load and for a check.
type opener struct {
	rts        map[string]runtimes.Runtime
	maxTimeout time.Duration
	strict     bool
	lint       bool     // look for all that a check reports
	installed  []string // folders whose plugins came from elsewhere
	bundled    []string // folders whose plugins ship with the host
	consent    Consent  // nil agrees to everything
	copies     []CardCopy
	anyRuntime bool // take plugins for which there is no runtime: nothing is opened
	services   func(*Manifest) runtimes.Services
	dataDir    string
	closed     permissions.Closed // to every plugin
	enforced   func(*Manifest, string) []Enforcement
	hostTools  []string
	taken      map[string]string // tool ids that are in use, with who has them; of a check
	execute    executor          // runs commands of plugins; nil where nothing can
	proofs     schema.Proofs     // nil where everything is checked
	log        *slog.Logger
}

// newOpener gives the opener that options ask for.
func newOpener(rts map[string]runtimes.Runtime, o *Options) *opener {
	op := &opener{
		rts: rts, maxTimeout: o.MaxTimeout, strict: o.Strict, installed: o.Installed, bundled: o.Bundled, consent: o.Consent, copies: slices.Clone(o.Cards),
		services: o.Services, dataDir: o.DataDir, closed: o.Closed, enforced: o.Enforced, proofs: o.Proofs, hostTools: o.HostTools, log: o.Log,
	}
	if op.enforced == nil {
		op.enforced = enforcedAnywhere
	}
	if op.log == nil {
		op.log = slog.New(slog.DiscardHandler)
	}
	return op
}

// open opens the version of a plugin that its folder holds. It always gives an answer: a
// panic on the way is one of the plugin's errors, and leaves nothing open.
func (o *opener) open(ctx context.Context, dir string) (p *opened) {
	return o.openVersion(ctx, dir, version{})
}

// openVersion is open for a version.
func (o *opener) openVersion(ctx context.Context, dir string, v version) (p *opened) {
	p = &opened{name: filepath.Base(dir), dir: dir, found: dir, foreign: Foreign(dir, o.installed), visible: &visibility{}}
	defer func() {
		if r := recover(); r != nil {
			o.log.Error("panic while loading", "plugin", p.name, "err", fmt.Sprint(r), "stack", string(debug.Stack()))
			p.errors = append(p.errors, &ManifestError{
				Rule: ruleInternal, Msg: fmt.Sprintf("the host failed while loading the plugin: %v", r),
				Hint: "this is a fault of the host; its log has the details",
			})
		}
		if len(p.errors) > 0 {
			p.abandon(o.log)
		}
	}()
	f, err := v.open(dir)
	if err != nil {
		p.errors = append(p.errors, &ManifestError{Rule: ruleUnreadable, Msg: fmt.Sprintf("the plugin folder cannot be opened: %v", err)})
		return p
	}
	defer f.close()
	f.kept = v.files
	p.dir, p.inputs = f.dir, f.sums
	data, file, unreadable := f.manifest()
	p.file = file
	if unreadable != nil {
		p.errors = append(p.errors, unreadable)
		return p
	}
	c := newChecker(&ParseOptions{File: file, MaxTimeout: o.maxTimeout})
	c.proofs = o.proofs
	m := c.parse(data)
	if m != nil {
		p.nameAt = c.doc.Position("/name")
	}
	if m != nil && isPluginName(m.Name) {
		p.name = m.Name
	}
	p.errors, p.warnings = c.results()
	if m == nil {
		return p
	}
	p.manifest = m
	o.compile(p, f, c)
	sortByPlace(p.errors)
	rt, code := o.runtime(p, c)
	if o.lint || o.strict {
		p.lint(o, c)
	}
	if o.strict {
		p.refuseWarnings()
	}
	if len(p.errors) > 0 || !o.agreed(ctx, p, f, v) {
		return p
	}
	o.openRuntime(ctx, p, c, rt, code)
	return p
}

// compile compiles the schemas and makes the tools, still without handlers. It looks at
// every tool, whatever else is wrong.
func (o *opener) compile(p *opened, f *folder, c *checker) {
	m := p.manifest
	policy := *m.Policy
	policy.Root, policy.Closed = p.dir, o.closed
	p.policy = &policy
	for _, t := range m.Tools {
		tool := &host.Tool{
			Name: m.ToolName(t.ID), Title: t.Title, Description: m.modelText(t.Description), Annotations: t.Annotations,
			Extensions: t.FileExtensions, Timeout: t.Timeout, Policy: p.policy,
			Version: m.Version, Runtime: m.Runtime, Suffix: m.Kind == KindCard, Indent: m.Kind == KindCard,
		}
		if at := t.Pointer + "/name"; m.Card != nil && slices.Contains(o.hostTools, tool.Name) && !c.covered[at] {
			where := c.doc.Position(at)
			p.errors = append(p.errors, &ManifestError{
				Rule: ruleRefused, File: p.file, Line: where.Line, Column: where.Column, Pointer: at,
				Msg: fmt.Sprintf("the tool %q would be called %q, which is a tool of the host", t.ID, tool.Name), Hint: "give the tool another name",
			})
		}
		if tool.Timeout == 0 {
			tool.Timeout = m.Timeout
		}
		if t.InputSchema != nil {
			tool.Input = o.compileInline(p, c, t)
		} else {
			tool.Input = o.compileFile(p, f, c, t, "/schema", t.Schema)
		}
		if tool.Input != nil {
			tool.InputSchema = tool.Input.Public()
		}
		if tool.Output = o.compileFile(p, f, c, t, "/outputSchema", t.OutputSchema); tool.Output != nil {
			tool.OutputSchema = tool.Output.Public()
		}
		if at := t.Pointer + "/handler"; t.Handler != "" && m.Runtime == "node" && m.Card == nil && !c.covered[at] {
			if e := f.missing(c, fmt.Sprintf("tool %q", cut(t.ID)), at, t.Handler, endings); e != nil {
				p.errors = append(p.errors, e)
			}
		}
		p.tools, p.ids = append(p.tools, tool), append(p.ids, t.ID)
	}
	if m.Card != nil && !c.covered["/entry"] {
		if e := f.missing(c, "the card", "/entry", m.Card.Entry, nil); e != nil {
			p.errors = append(p.errors, e)
		}
	}
	o.menu(p, f, c)
}

// menu makes the commands, still without handlers, and reads the prompts of the actions.
func (o *opener) menu(p *opened, f *folder, c *checker) {
	m := p.manifest
	p.menu = &menu{actions: m.Contributes.Actions, prompts: map[string]string{}, conditions: map[string]*condition{}}
	for _, k := range m.commands() {
		p.menu.commands = append(p.menu.commands, k.Command)
		p.menu.conditions[k.ID], _ = parseCondition(k.When) // the checker has reported an error
		if at := k.pointer + "/handler"; k.Handler != "" && !c.covered[at] {
			if e := f.missing(c, fmt.Sprintf("command %q", cut(k.ID)), at, k.Handler, endings); e != nil {
				p.errors = append(p.errors, e)
			}
		}
		p.ids = append(p.ids, k.ID)
		p.tools = append(p.tools, &host.Tool{
			Name: k.ID, Title: k.Title, Timeout: m.Timeout, Policy: p.policy, Version: m.Version, Runtime: m.Runtime, Command: true,
		})
	}
	for i, a := range m.Contributes.Actions {
		at := "/contributes/actions/" + strconv.Itoa(i) + "/prompt"
		if a.Prompt == "" || c.covered[at] {
			continue
		}
		if e := f.missing(c, fmt.Sprintf("action %q", cut(a.ID)), at, a.Prompt, nil); e != nil {
			p.errors = append(p.errors, e)
			continue
		}
		text, err := f.prompt(path.Clean(a.Prompt))
		if err != nil {
			p.errors = append(p.errors, &ManifestError{Rule: ruleUnreadable, File: path.Clean(a.Prompt), Msg: err.Error()})
		}
		p.menu.prompts[a.Prompt] = text
	}
}

// compileFile compiles one schema file of a tool; nil where there is none, or a wrong one.
func (o *opener) compileFile(p *opened, f *folder, c *checker, t ManifestTool, member, name string) *schema.Schema {
	pointer := t.Pointer + member
	if name == "" || c.covered[pointer] {
		return nil
	}
	s, err := schema.CompileFile(f, path.Clean(name), o.proofs)
	if err == nil {
		if o.lint || o.strict {
			p.findings(s.Lint())
		}
		return s
	}
	if e := f.missing(c, fmt.Sprintf("tool %q", cut(t.ID)), pointer, name, nil); e != nil {
		p.errors = append(p.errors, e)
		return nil
	}
	var bad *schema.LoadError
	if errors.As(err, &bad) && len(bad.Findings) > 0 {
		p.findings(bad.Findings)
		return nil
	}
	p.add(&ManifestError{Rule: ruleUnreadable, File: path.Clean(name), Msg: err.Error()})
	return nil
}

// compileInline compiles the schema that a tool has in the manifest, with the argument that
// picks a copy of the card; nil where it is wrong.
func (o *opener) compileInline(p *opened, c *checker, t ManifestTool) *schema.Schema {
	pointer := t.Pointer + "/inputSchema"
	if c.covered[pointer] || c.around[pointer] {
		return nil // what is wrong with it was reported
	}
	s, err := schema.Compile(withCard(t.InputSchema))
	var found []schema.Finding
	var bad *schema.LoadError
	switch {
	case errors.As(err, &bad):
		found = bad.Findings
	case err != nil:
		p.add(&ManifestError{Rule: ruleCardSchema, File: p.file, Msg: err.Error()})
	case o.lint || o.strict:
		own := "/properties/" + copyArgument // is not the author's
		found = slices.DeleteFunc(s.Lint(), func(f schema.Finding) bool { return f.Pointer == own })
	}
	for i := range found { // they know the text of the schema alone
		f := &found[i]
		f.File, f.Pointer = p.file, pointer+f.Pointer
		at := c.doc.Position(f.Pointer)
		f.Line, f.Column = at.Line, at.Column
	}
	p.findings(found)
	return s
}

// findings takes what is wrong with a schema file; several tools may share one.
func (p *opened) findings(list []schema.Finding) {
	for _, f := range list {
		e := &ManifestError{
			Rule: f.Rule, File: f.File, Line: f.Line, Column: f.Column, Pointer: f.Pointer,
			Msg: f.Message, Hint: f.Hint, Warning: f.Severity != schema.Error, info: f.Severity == schema.Info,
		}
		p.add(e)
	}
}

// add puts a finding where it belongs, once.
func (p *opened) add(e *ManifestError) {
	to := &p.errors
	switch {
	case e.info:
		to = &p.notes
	case e.Warning:
		to = &p.warnings
	}
	if !slices.ContainsFunc(*to, func(o *ManifestError) bool { return *o == *e }) {
		*to = append(*to, e)
	}
}

// runtime gives the runtime that the plugin needs, and what it is to open. What this host
// cannot run is reported after the author's own mistakes.
func (o *opener) runtime(p *opened, c *checker) (runtimes.Runtime, []runtimes.Tool) {
	m := p.manifest
	lacking := func(pointer, msg, hint string) {
		at := c.doc.Position(pointer)
		p.errors = append(p.errors, &ManifestError{
			Rule: ruleNoRuntime, File: p.file, Line: at.Line, Column: at.Column, Pointer: pointer, Msg: msg, Hint: hint,
		})
	}
	rt := o.rts[m.Runtime]
	if rt == nil && m.Runtime == RuntimePage {
		rt = noPage{}
	}
	if m.Runtime != "" && rt == nil && !o.anyRuntime {
		have := oneOf(slices.Sorted(maps.Keys(o.rts)))
		if have == "" {
			have = "none"
		}
		lacking("/runtime", fmt.Sprintf("this host has no runtime %q for the plugin", m.Runtime), "the runtimes of this host: "+have)
	}
	var code []runtimes.Tool
	for _, t := range m.Tools {
		if m.Card != nil {
			code = append(code, runtimes.Tool{ID: t.ID, Handler: t.Handler, Field: "/entry"})
		} else if !t.Repeated {
			code = append(code, runtimes.Tool{ID: t.ID, Handler: path.Clean(t.Handler), Field: t.Pointer + "/handler"})
		}
	}
	for _, k := range m.commands() {
		code = append(code, runtimes.Tool{ID: k.ID, Handler: path.Clean(k.Handler), Field: k.pointer + "/handler"})
	}
	return rt, code
}

// openRuntime opens the plugin in its runtime, and gives the tools their handlers.
func (o *opener) openRuntime(ctx context.Context, p *opened, c *checker, rt runtimes.Runtime, code []runtimes.Tool) {
	m := p.manifest
	spec := runtimes.Spec{
		Plugin: p.name, Version: m.Version, Dir: p.dir, Tools: code, Policy: p.policy,
		Memory: m.Memory, Foreign: p.foreign, State: m.State, Engine: m.Engine,
		Command: m.Command, Protocol: m.Protocol, KeepAlive: m.KeepAlive, Sums: p.inputs,
		Log: o.log.With("plugin", p.name),
	}
	if o.dataDir != "" {
		spec.DataDir = filepath.Join(o.dataDir, p.name)
	}
	spec.Services = o.servicesFor(m)
	if spec.Services.Settings != nil {
		p.policy.Setting = spec.Services.Settings.Get
	}
	p.menu.settings = spec.Services.Settings
	var instance runtimes.Instance
	var err error
	if m.Card != nil {
		instance, err = o.openCopies(ctx, p, rt, spec)
	} else {
		instance, err = rt.Open(ctx, spec)
	}
	if err != nil {
		p.refuse(c, err)
		return
	}
	p.instance = instance
	if advisor, ok := rt.(runtimes.Advisor); ok && o.lint {
		o.advise(ctx, p, advisor, spec)
	}
	if surveyor, ok := rt.(runtimes.Surveyor); ok && o.lint {
		o.survey(ctx, p, c, surveyor, spec)
	}
	p.inputs = maps.Clone(p.inputs) // the consent and the instance have the others
	maps.Copy(p.inputs, instance.Inputs())
	o.ownSchemas(ctx, p, c)
	for i, t := range p.tools {
		t.Handler = instance.Handler(p.ids[i])
		t.Hidden = p.visible.hides(t.Name)
	}
}

// servicesFor gives what the host offers to a plugin, or to a copy of a card.
func (o *opener) servicesFor(m *Manifest) runtimes.Services {
	var services runtimes.Services
	if o.services != nil {
		services = o.services(m)
	}
	if services.Execute == nil {
		services.Execute = o.execute
	}
	return services
}

// ownSchemas gives the tools that have no schema in the manifest those that the plugin's
// program has for them.
func (o *opener) ownSchemas(ctx context.Context, p *opened, c *checker) {
	if !slices.ContainsFunc(p.tools, func(t *host.Tool) bool { return t.Input == nil && !t.Command }) {
		return
	}
	var found map[string]runtimes.Schemas
	if source, ok := p.instance.(runtimes.SchemaSource); ok {
		var err error
		if found, err = source.Schemas(ctx); err != nil {
			p.refuse(c, err)
			return
		}
	}
	for _, t := range p.tools {
		if t.Input != nil || t.Command {
			continue
		}
		own := found[t.Name]
		if len(own.Input) == 0 {
			p.add(&ManifestError{Rule: ruleMissing, File: p.file, Msg: fmt.Sprintf("the plugin's program has no schema for the tool %q", t.Name), Hint: `add a "schema" to the tool`})
			continue
		}
		var err error
		if t.Input, err = schema.Compile(own.Input); err != nil {
			p.add(&ManifestError{Rule: ruleModule, File: p.file, Msg: fmt.Sprintf("the schema that the plugin's program has for the tool %q cannot be used: %v", t.Name, err), Hint: `add a "schema" to the tool`})
			continue
		}
		t.InputSchema = t.Input.Public()
		if t.Output != nil || len(own.Output) == 0 {
			continue
		}
		if t.Output, err = schema.Compile(own.Output); err != nil {
			t.Output = nil
			p.add(&ManifestError{Rule: ruleModule, File: p.file, Warning: true, Msg: fmt.Sprintf("the output schema that the plugin's program has for the tool %q cannot be used and is left out: %v", t.Name, err)})
			continue
		}
		t.OutputSchema = t.Output.Public()
	}
}

// advise warns of what a runtime sees in the code of a plugin that opens.
func (o *opener) advise(ctx context.Context, p *opened, advisor runtimes.Advisor, spec runtimes.Spec) {
	found, err := advisor.Advise(ctx, spec)
	if err != nil {
		o.log.Warn("looking through the code of the plugin", "plugin", p.name, "err", err)
		return
	}
	for _, f := range found {
		p.add(&ManifestError{Rule: ruleSlow, File: f.File, Line: f.Line, Column: f.Column, Msg: f.Message, Hint: f.Hint, Warning: true})
	}
}

// Foreign reports whether a plugin's folder is, or lies in, one of the folders of installed
// plugins: its code counts as a stranger's. A link that stands there counts, wherever it leads.
func Foreign(dir string, installed []string) bool {
	if len(installed) == 0 {
		return false
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return true
	}
	dir, above := resolve(abs), resolve(filepath.Dir(abs))
	return slices.ContainsFunc(installed, func(folder string) bool {
		root := resolve(folder)
		return dir == root || filepath.Dir(dir) == root || above == root
	})
}

// liesIn reports whether a folder is, or lies in, one of others when all links are followed.
func liesIn(dir string, folders []string) bool {
	if len(folders) == 0 {
		return false
	}
	dir = resolve(dir)
	return slices.ContainsFunc(folders, func(folder string) bool {
		root := resolve(folder)
		return dir == root || filepath.Dir(dir) == root
	})
}

// refuse takes what a runtime found wrong, with the place of the field that it is about.
func (p *opened) refuse(c *checker, err error) {
	for _, e := range moduleErrors(err) {
		if e.Line == 0 && e.Pointer != "" && e.File == p.file {
			at := c.doc.Position(e.Pointer)
			e.Line, e.Column = at.Line, at.Column
		}
		p.errors = append(p.errors, e)
	}
}

// moduleErrors gives what a runtime found wrong.
func moduleErrors(err error) []*ManifestError {
	var bad *runtimes.LoadError
	if !errors.As(err, &bad) || len(bad.Problems) == 0 {
		return []*ManifestError{{Rule: ruleModule, Msg: strings.TrimSpace(err.Error())}}
	}
	list := make([]*ManifestError, len(bad.Problems))
	for i, b := range bad.Problems {
		list[i] = &ManifestError{Rule: ruleModule, File: b.File, Line: b.Line, Column: b.Column, Pointer: b.Field, Msg: b.Message, Hint: b.Hint}
	}
	return list
}

// abandon closes what was opened for a plugin that is not taken.
func (p *opened) abandon(log *slog.Logger) {
	if p.instance == nil {
		return
	}
	instance := p.instance
	p.instance = nil
	defer func() {
		if r := recover(); r != nil {
			log.Error("panic while closing", "plugin", p.name, "err", fmt.Sprint(r))
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	if err := instance.Close(ctx); err != nil {
		log.Warn("closing the plugin", "plugin", p.name, "err", err)
	}
}

// closeTime bounds the closing of an instance that never had a call.
const closeTime = 5 * time.Second
