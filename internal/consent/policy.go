package consent

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/pack"
	"github.com/toolhost/toolhost/loader"
)

// PolicySchema is the JSON Schema of a policy file.
//
//go:embed policy.schema.json
var PolicySchema []byte

// Policy says which plugins may run where nobody can be asked: what it does not list may not.
type Policy struct {
	file    string
	plugins map[string]*allowance
}

// allowance is what a policy says of one plugin.
type allowance struct {
	Fingerprint string          `json:"fingerprint"`
	Tree        string          `json:"tree"`
	Tools       []string        `json:"tools"`
	Command     []string        `json:"command"`
	Engine      string          `json:"engine"`
	Permissions json.RawMessage `json:"permissions"`
	rights      []loader.Right
}

// NewPolicy reads a policy that fits [PolicySchema]. file is its name, for messages.
func NewPolicy(raw []byte, file string) (*Policy, error) {
	var doc struct {
		Plugins map[string]*allowance `json:"plugins"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, err
	}
	for name, a := range doc.Plugins {
		if len(a.Permissions) == 0 {
			continue
		}
		manifest := fmt.Sprintf(`{"name": "policy", "permissions": %s}`, a.Permissions)
		m, mistakes, _ := loader.ParseManifest([]byte(manifest), nil)
		for _, e := range mistakes {
			if strings.HasPrefix(e.Pointer, "/permissions") {
				return nil, fmt.Errorf("the permissions of %q: %s: %s", name, e.Pointer, e.Msg)
			}
		}
		if m == nil {
			return nil, fmt.Errorf("the permissions of %q cannot be read", name)
		}
		a.rights = m.Rights()
	}
	return &Policy{file: file, plugins: doc.Plugins}, nil
}

// Refusals says why a plugin may not run; nothing where it may. tree gives the hash of its
// files.
func (p *Policy) Refusals(asks *loader.Summary, tree func() (string, error)) []string {
	a := p.plugins[asks.Plugin]
	if a == nil {
		return []string{fmt.Sprintf("the policy %s does not list the plugin", p.file)}
	}
	var list []string
	refuse := func(format string, args ...any) {
		list = append(list, fmt.Sprintf("the policy %s does not allow it: ", p.file)+fmt.Sprintf(format, args...))
	}
	if a.Tree != "" {
		if hash, err := tree(); err != nil {
			refuse("its files cannot be looked at: %v", err)
		} else if hash != a.Tree {
			refuse("its files have the hash %s, not %s", hash, a.Tree)
		}
	}
	for _, t := range asks.Tools {
		if a.Tools != nil && !slices.ContainsFunc(a.Tools, func(glob string) bool { ok, err := path.Match(glob, t.ID); return ok && err == nil }) {
			refuse("it has the tool %q", t.ID)
		}
	}
	if a.Fingerprint != "" { // it says all of what follows
		if print := asks.Fingerprint(); print != a.Fingerprint {
			refuse("its fingerprint is %s, not %s", print, a.Fingerprint)
		}
		return list
	}
	for _, t := range asks.Tools {
		if longer(a.rights, asks.Rights, "", t.Timeout) {
			refuse("the tool %q may take up to %s for a call", t.ID, t.Timeout)
		}
	}
	if asks.Runtime == "process" && !slices.Equal(a.Command, asks.Command) {
		refuse("it starts %s", words(asks.Command))
	}
	if asks.Engine == "node" && a.Engine != "node" {
		refuse("it wants the engine \"node\"")
	}
	for _, r := range Wider(a.rights, asks.Rights) {
		refuse("it may %s", Words(r))
	}
	return list
}

// answer is what the loader is told under a policy.
func (p *Policy) answer(q *loader.ConsentQuestion) loader.ConsentAnswer {
	refusals := p.Refusals(q.Asks, func() (string, error) { return pack.Hash(q.Dir) })
	return loader.ConsentAnswer{Agreed: len(refusals) == 0, Waits: refusals, Allow: "allow it in the policy " + p.file}
}
