package schema

import "encoding/json"

// publicText gives the schema as it is published. Clients that know only
// 2020-12 choke on an older $schema, so that of draft-06 and -07 is left out where
// the schema means the same without it.
func (c *compilation) publicText() json.RawMessage {
	doc := c.tree.doc
	if (c.dialect == draft06 || c.dialect == draft07) && c.portable() {
		return doc.Apply(doc.Remove("", "$schema"))
	}
	return doc.Text()
}

// portable says whether a draft-06 or -07 schema means the same when it is read
// as 2020-12.
func (c *compilation) portable() bool {
	for _, n := range c.tree.order {
		if len(n.refs) > 0 && c.besideRef(n) {
			return false
		}
		for name, v := range n.object {
			if _, list := v.([]any); name == "items" && list {
				return false
			}
			k, known := keywords[name]
			if !known {
				continue
			}
			now := c.dialect >= k.from && c.dialect <= k.to
			later := draft2020 >= k.from && draft2020 <= k.to
			if now != later && k.shape != shapeNote || name == "$id" && n.parent != nil || name == "$anchor" || name == "$dynamicAnchor" {
				return false
			}
		}
	}
	return true
}

// besideRef says whether a schema says more than a $ref that old drafts look at alone.
func (c *compilation) besideRef(n *node) bool {
	for name := range n.object {
		k, known := keywords[name]
		if known && k.shape != shapeNote && k.shape != shapeDefs && name != "$ref" {
			return true
		}
	}
	return false
}
