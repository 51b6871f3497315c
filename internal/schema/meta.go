package schema

import (
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/xeipuuv/gojsonschema"
)

// meta is the meta-schema of a dialect, as the engines have it inside them.
type meta struct {
	quick *quick // nil from 2019-09 on
	full  *full
}

// metas are compiled when they are first needed.
var metas = func() (all [draft2020 + 1]func() (*meta, error)) {
	for d := range all {
		all[d] = sync.OnceValues(func() (*meta, error) { return newMeta(dialect(d)) })
	}
	return all
}()

func newMeta(d dialect) (m *meta, err error) {
	defer recovered(&err)
	c := jsonschema.NewCompiler()
	c.UseLoader(nil)
	c.UseRegexpEngine(func(expr string) (jsonschema.Regexp, error) {
		return compilePattern(expr, maxPatternSize, nil)
	})
	s, err := c.Compile(d.metaURL())
	if err != nil {
		return nil, err
	}
	m = &meta{full: &full{schema: s, compiler: c}}
	if d <= draft07 {
		l := gojsonschema.NewSchemaLoader()
		l.AutoDetect, l.Draft = false, d.gojs()
		// The address is one of those that the library answers by itself.
		q, err := l.Compile(gojsonschema.NewReferenceLoader(d.metaURL()))
		if err != nil {
			return nil, err
		}
		m.quick = &quick{q}
	}
	return m, nil
}

// checkMeta checks the bundled document against the meta-schema of its dialect.
func (c *compilation) checkMeta() {
	m, err := metas[c.dialect]()
	if err != nil {
		c.find("S04", Error, "", false, "the meta-schema cannot be compiled: "+err.Error(), "")
		return
	}
	v := c.tree.doc.Value
	if m.quick != nil {
		if ok, err := m.quick.valid(v); ok && err == nil {
			return
		}
	}
	problem, err := m.full.explain(m.full.schema, v)
	if err != nil {
		c.find("S04", Error, "", false, "cannot be checked against the meta-schema: "+err.Error(), "")
		return
	}
	if problem == nil && m.quick != nil {
		r, err := m.quick.result(v)
		for _, issue := range quickIssues(r, err) {
			c.find("S04", Error, issue.Pointer, false, issue.Message, "see "+c.dialect.metaURL())
		}
		return
	}
	if problem == nil {
		return
	}
	x := explainer{value: v}
	for _, issue := range x.issues(problem) {
		if issue.Keyword == "format" && strings.HasSuffix(issue.Expected, "regex") {
			continue // patterns are checked on their own
		}
		message := fmt.Sprintf("no valid %s schema: %s", c.dialect, issue.Message)
		if i := strings.LastIndexByte(issue.Pointer, '/'); i >= 0 {
			message = fmt.Sprintf("%q is no valid %s: %s", lastToken(issue.Pointer), c.dialect, issue.Message)
		}
		c.find("S04", Error, issue.Pointer, false, message, "")
	}
}
