package schema

import "encoding/json"

// publicText gives the schema as it is published. Clients that know only
// 2020-12 choke on an older $schema, so that of draft-06 and -07 is left out where
// the schema means the same without it.
func (c *compilation) publicText() json.RawMessage {
	doc := c.tree.doc
	if (c.dialect == draft06 || c.dialect == draft07) && c.tree.sameAs2020() {
		return doc.Apply(doc.Remove("", "$schema"))
	}
	return doc.Text()
}

// sameAs2020 says whether a schema of an older draft means the same when it is read as
// 2020-12.
func (t *tree) sameAs2020() bool {
	for _, n := range t.order {
		if len(n.refs) > 0 && t.besideRef(n) {
			return false
		}
		for name, v := range n.object {
			switch v.(type) {
			case []any:
				if name == "items" {
					return false
				}
			case bool:
				if name == "exclusiveMinimum" || name == "exclusiveMaximum" {
					return false
				}
			}
			k, known := keywords[name]
			if !known {
				continue
			}
			now := t.dialect >= k.from && t.dialect <= k.to
			later := draft2020 >= k.from && draft2020 <= k.to
			isID := name == "$id" || name == "id" && t.dialect == draft04
			if now != later && k.shape != shapeNote || isID && n.parent != nil || name == "$anchor" || name == "$dynamicAnchor" {
				return false
			}
		}
	}
	return true
}

// besideRef says whether a schema says more than a $ref that old drafts look at alone.
func (t *tree) besideRef(n *node) bool {
	for name := range n.object {
		k, known := keywords[name]
		if known && k.shape != shapeNote && k.shape != shapeDefs && name != "$ref" {
			return true
		}
	}
	return false
}
