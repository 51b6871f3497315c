package loader

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/toolhost/toolhost/internal/lazyregexp"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
)

// survey warns of what a plugin's code uses and may not, and notes what it may and does not.
func (o *opener) survey(ctx context.Context, p *opened, c *checker, surveyor runtimes.Surveyor, spec runtimes.Spec) {
	found, err := surveyor.Survey(ctx, spec)
	if err != nil {
		// Code that another engine runs may be nothing for this one.
		o.log.Debug("looking through the code of the plugin", "plugin", p.name, "err", err)
		return
	}
	seen := map[string]bool{} // one place of each is enough to be told
	for _, u := range found.Uses {
		e := &ManifestError{File: u.File, Line: u.Line, Column: u.Column, Warning: true}
		if u.Kind == runtimes.UseModule {
			if p.manifest.Engine == "node" {
				continue
			}
			e.Rule, e.Hint = ruleNoModule, u.Hint
			e.Msg = fmt.Sprintf("%q can be imported, but throws when it is used: this runtime has no such module", u.Text)
		} else {
			d := demandOf(u)
			if d == nil || d.declared(p.policy) || p.manifest.Card != nil { // a card asks for other things by other names

				continue
			}
			e.Rule, e.Hint = ruleUndeclared, fmt.Sprintf("add %s to the manifest, or do without", d.line)
			e.Msg = fmt.Sprintf("%s is used, and the manifest declares no permission for it", u.Text)
		}
		if key := e.Rule + u.Kind + "\x00" + u.Name; !seen[key] {
			seen[key] = true
			p.add(e)
		}
	}
	if p.manifest.Card != nil {
		return
	}
	if wordOfFiles.MatchString(found.Code) {
		way := "read"
		if seen[ruleUndeclared+runtimes.UseWrite+"\x00"] && !wordsOfReading.MatchString(found.Code) {
			way = "write"
		}
		p.marksWithoutRule(way)
	}
	for _, one := range unused(p.policy, found.Code) {
		at := c.doc.KeyPosition(one.pointer)
		p.add(&ManifestError{
			Rule: ruleUnused, File: p.file, Line: at.Line, Column: at.Column, Pointer: one.pointer, Warning: true, info: true,
			Msg: fmt.Sprintf("the plugin may use %s, and its code does not", one.what), Hint: "take the permission away: people see it when they are asked to agree",
		})
	}
}

// demand is a permission that a use needs.
type demand struct {
	declared func(p *permissions.Policy) bool
	line     string // what to add to the manifest
}

func demandOf(u runtimes.Use) *demand {
	line := func(rule string) string { return `"permissions": {` + rule + `}` }
	hosts := func(name string, of func(p *permissions.Policy) permissions.HostPolicy) *demand {
		host := u.Name
		if host == "" {
			host = "api.example.com"
		}
		return &demand{
			func(p *permissions.Policy) bool { return len(of(p).Static)+len(of(p).Settings) > 0 },
			line(fmt.Sprintf(`%q: {"static": [%s]}`, name, strconv.Quote(host))),
		}
	}
	switch u.Kind {
	case runtimes.UseEnv:
		return &demand{func(p *permissions.Policy) bool { return slices.Contains(p.Env, u.Name) }, line(fmt.Sprintf(`"env": [%q]`, u.Name))}
	case runtimes.UseWrite:
		return &demand{
			func(p *permissions.Policy) bool { w := p.FS.Write; return w.Parameter || w.Folder || len(w.Paths) > 0 },
			line(`"fs": {"write": {"parameter": true}}`),
		}
	case runtimes.UseFetch:
		return hosts("fetch", func(p *permissions.Policy) permissions.HostPolicy { return p.Fetch })
	case runtimes.UseNet:
		return hosts("net", func(p *permissions.Policy) permissions.HostPolicy { return p.Net })
	case runtimes.UseSettings:
		return &demand{func(p *permissions.Policy) bool { return p.Settings }, line(`"settings": true`)}
	case runtimes.UseStore:
		return &demand{func(p *permissions.Policy) bool { return p.Store }, line(`"store": true`)}
	case runtimes.UseExecute:
		return &demand{func(p *permissions.Policy) bool { return p.HostTrigger }, line(`"hostTrigger": true`)}
	case runtimes.UseAI:
		return &demand{func(p *permissions.Policy) bool { return p.AIComplete }, line(`"ai": {"complete": true}`)}
	case runtimes.UseToast:
		return &demand{func(p *permissions.Policy) bool { return p.Toast }, line(`"toast": true`)}
	case runtimes.UseSession:
		return &demand{func(p *permissions.Policy) bool { return p.SessionGetActive }, line(`"session": {"getActive": true}`)}
	case runtimes.UseChannels:
		return &demand{func(p *permissions.Policy) bool { return p.ChannelsGetIntegrationConfig }, line(`"channels": {"getIntegrationConfig": true}`)}
	case runtimes.UsePDF:
		return &demand{func(p *permissions.Policy) bool { return p.RenderHTMLToPDF }, line(`"renderHtmlToPdf": true`)}
	}
	return nil
}

// permitted is a permission that a manifest declares.
type permitted struct{ pointer, what string }

var (
	// Words without which code does not do what they stand for, however it comes by them.
	wordsOfWriting = lazyregexp.New(`(?i)write|append|mkdir|mkdtemp|copy|\bcp|rename|\brm|unlink|truncate|utimes|\bopen`)
	wordOfFiles    = lazyregexp.New(`\bfs\b`)
	wordsOfReading = lazyregexp.New(`(?i)read|\b(l?stat|list|exists|access|open)`)
	wordsOfFetch   = lazyregexp.New(`fetch|https?\b|undici`)
	wordsOfNet     = lazyregexp.New(`\b(net|tls)\b`)
)

// unused gives the permissions of which a plugin's code does not hold the words. It tells
// nothing of code that makes the names of members, which most does not.
func unused(p *permissions.Policy, code string) []permitted {
	word := func(w string) *lazyregexp.Regexp { return lazyregexp.New(`\b` + regexp.QuoteMeta(w) + `\b`) }
	var found []permitted
	look := func(declared bool, words *lazyregexp.Regexp, pointer, what string) {
		if declared && !words.MatchString(code) {
			found = append(found, permitted{"/permissions/" + pointer, what})
		}
	}
	w := p.FS.Write
	look(w.Parameter || w.Folder || len(w.Paths) > 0, wordsOfWriting, "fs/write", "files to write")
	look(len(p.Fetch.Static)+len(p.Fetch.Settings) > 0, wordsOfFetch, "fetch", "fetch")
	look(len(p.Net.Static)+len(p.Net.Settings) > 0, wordsOfNet, "net", "connections")
	look(p.Settings, word("settings"), "settings", "settings")
	look(p.Store, word("store"), "store", "the store")
	look(p.HostTrigger, word("execute"), "hostTrigger", "commands of plugins")
	look(p.AIComplete, word("ai"), "ai", "a model")
	look(p.Toast, word("toast"), "toast", "short messages")
	look(p.SessionGetActive, word("session"), "session", "the active session")
	look(p.ChannelsGetIntegrationConfig, word("channels"), "channels", "the set-up of channels")
	look(p.RenderHTMLToPDF, word("renderHtmlToPdf"), "renderHtmlToPdf", "printing")
	if !regexp.MustCompile(`\benv\b\s*(?:[^.\s\w]|$)`).MatchString(code) { // else the variables are taken by other means than by name
		for i, name := range p.Env {
			look(true, word(name), "env/"+strconv.Itoa(i), "the environment variable "+name)
		}
	}
	return found
}
