package schema

import (
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

// link is a reference of one source whose text must be another in the bundle.
type link struct {
	from   *source
	at     string // pointer to the reference
	to     *source
	target string // pointer in to
}

// bundle follows the references of the first source into other files and puts
// those files into its definitions. It gives the text of the whole.
func (c *compilation) bundle() []byte {
	main := c.sources[0]
	if main.tree = c.treeOf(main, nil, ""); main.tree == nil {
		return nil
	}
	c.dialect = main.tree.dialect
	var links []link
	for i := 0; i < len(c.sources); i++ {
		s := c.sources[i]
		for j := 0; j < len(s.tree.refs); j++ { // grows where a reference leads to an unknown place
			if l, ok := c.follow(s, s.tree.refs[j]); ok {
				links = append(links, l)
			}
		}
	}
	if len(c.sources) == 1 || c.failed() != nil {
		return main.doc.Text()
	}
	c.refuseDynamic()
	return c.join(links)
}

// treeOf finds the schemas of a source, which must have the dialect of the first.
func (c *compilation) treeOf(s *source, from *source, at string) *tree {
	d := draft2020
	if from != nil {
		d = c.dialect
	}
	object, _ := s.doc.Value.(map[string]any)
	if declared, ok := object["$schema"]; ok {
		text, isText := declared.(string)
		var known bool
		if d, known = dialectOf(text); !isText || !known {
			c.findIn(s, "S03", Error, "/$schema", false, fmt.Sprintf("$schema is %s, which is none of the five dialects that are supported", literal(declared)),
				"use http://json-schema.org/draft-04/schema#, http://json-schema.org/draft-06/schema#, http://json-schema.org/draft-07/schema#, "+
					"https://json-schema.org/draft/2019-09/schema or https://json-schema.org/draft/2020-12/schema, or leave it out for 2020-12")
			return nil
		}
		if from != nil && d != c.dialect {
			c.findIn(from, "S03", Error, at, false, fmt.Sprintf(`"$ref" to file %q, which declares %s, while this schema is read as %s`, s.file, d, c.dialect),
				"declare one dialect in all files of a schema")
			return nil
		}
	}
	return newTree(s.doc, d)
}

// follow looks where a reference leads. It gives the link to be rewritten, and
// false where the reference may stay as it is, or after a finding.
func (c *compilation) follow(s *source, r *reference) (link, bool) {
	file, fragment, _ := strings.Cut(r.text, "#")
	to := s
	if file != "" && !s.tree.isSelf(file) {
		if to = c.other(s, r, file); to == nil {
			return link{}, false
		}
	}
	target := to.tree.target(fragment)
	if target == nil {
		c.findIn(s, "S05", Error, r.pointer(), false, fmt.Sprintf("%q to %q leads to no schema", r.keyword, clip(r.text, 200)), nearestHint(to.tree, fragment))
		return link{}, false
	}
	if to == s && s == c.sources[0] {
		r.target = target
		return link{}, false
	}
	return link{s, r.pointer(), to, target.pointer}, true
}

// isSelf says whether an address is the one that the document gives itself.
func (t *tree) isSelf(address string) bool {
	id, _ := t.root.object[t.dialect.idKeyword()].(string)
	id, _, _ = strings.Cut(id, "#")
	return id != "" && id == address
}

// other gives the source that a reference to another file means. It gives nil
// after a finding.
func (c *compilation) other(s *source, r *reference, file string) *source {
	refuse := func(why, hint string) *source {
		c.findIn(s, "S05", Error, r.pointer(), false, fmt.Sprintf("%q to %q %s", r.keyword, clip(r.text, 200), why), hint)
		return nil
	}
	const inline = "put the schema into $defs of this one, or into a file of the plugin"
	u, err := url.Parse(file)
	switch {
	case err != nil:
		return refuse("is no valid reference", inline)
	case u.Scheme != "" || u.Host != "":
		return refuse("leaves the plugin; nothing is fetched", inline)
	case u.RawQuery != "":
		return refuse("has a query; only files can be referred to", inline)
	case c.root == nil:
		return refuse("leaves the document", "put the schema into $defs of this one")
	case strings.HasPrefix(u.Path, "/"), strings.Contains(u.Path, `\`):
		return refuse("is no relative path with slashes", "use a path relative to this file")
	}
	name := path.Join(path.Dir(s.file), u.Path)
	if name == ".." || strings.HasPrefix(name, "../") {
		return refuse("leaves the plugin's folder", inline)
	}
	for _, known := range c.sources {
		if known.file == name {
			return known
		}
	}
	if len(c.sources) >= maxFiles {
		return refuse(fmt.Sprintf("is one file too many: a schema may consist of %d", maxFiles), "")
	}
	next := c.readFile(name, s, r.pointer())
	if next == nil {
		return nil
	}
	if next.tree = c.treeOf(next, s, r.pointer()); next.tree == nil {
		return nil
	}
	if next.tree.root == nil {
		c.findIn(next, "S04", Error, "", false, "a schema must be an object", "")
		return nil
	}
	c.sources = append(c.sources, next)
	return next
}

// refuseDynamic refuses what means another thing when files are put together.
func (c *compilation) refuseDynamic() {
	for _, s := range c.sources {
		for _, n := range s.tree.order {
			for _, k := range []string{"$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor"} {
				if _, ok := n.object[k]; ok {
					c.findIn(s, "S05", Error, n.pointer+"/"+k, true, k+" in a schema of several files", `use "$ref"`)
				}
			}
		}
	}
}

// join puts the files together.
func (c *compilation) join(links []link) []byte {
	main := c.sources[0]
	defs := c.dialect.definitions()
	taken, _ := main.doc.Value.(map[string]any)[defs].(map[string]any)
	names := map[string]bool{}
	for name := range taken {
		names[name] = true
	}
	for _, s := range c.sources[1:] {
		name := definitionName(s.file)
		for n, base := 2, name; names[name]; n++ {
			name = fmt.Sprintf("%s_%d", base, n)
		}
		names[name] = true
		s.prefix = "/" + defs + "/" + name
	}
	edits := map[*source][]jsondoc.Edit{}
	for _, l := range links {
		fragment := (&url.URL{Fragment: l.to.prefix + l.target}).EscapedFragment()
		edits[l.from] = append(edits[l.from], l.from.doc.Replace(l.at, jsondoc.Quote("#"+fragment)))
	}
	var members strings.Builder
	for _, s := range c.sources[1:] {
		e := append(edits[s], s.doc.Remove("", "$schema", c.dialect.idKeyword())...)
		text := string(s.doc.Apply(e))
		name := lastToken(s.prefix)
		if taken != nil {
			edits[main] = append(edits[main], main.doc.Append("/"+defs, name, text))
			continue
		}
		if members.Len() > 0 {
			members.WriteByte(',')
		}
		members.WriteString(jsondoc.Quote(name) + ":" + text)
	}
	if taken == nil {
		edits[main] = append(edits[main], main.doc.Append("", defs, "{"+members.String()+"}"))
	}
	return main.doc.Apply(edits[main])
}

// definitionName makes a name without characters that references must escape.
func definitionName(file string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-':
			return r
		}
		return '_'
	}, file)
}
