package calllog

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

// Names of members that say what another member of the same object holds, as in
// {"name": "Authorization", "value": "…"}, and of those that hold it.
var (
	namingKeys = []string{"name", "key", "header", "field", "variable", "id"}
	holdingKey = []string{"value", "val", "data", "content"}
)

// pair notes whether one member of an object names a secret that another one holds.
type pair struct {
	secret   bool
	from, to int    // where the value stands in what is written
	raw      []byte // the value; nil where there is none
}

// note takes a member that was written to out[from:to].
func (p *pair) note(name string, raw []byte, from, to int) {
	name = strings.ToLower(name)
	var text string
	if slices.Contains(namingKeys, name) && json.Unmarshal(raw, &text) == nil && IsSecretKey(text) {
		p.secret = true
	}
	if p.raw == nil && slices.Contains(holdingKey, name) {
		p.raw, p.from, p.to = raw, from, to
	}
}

// hidePair takes out the value of an object whose name is that of a secret.
func (w *rewriter) hidePair(p *pair) {
	if !p.secret || p.raw == nil {
		return
	}
	switch string(p.raw) {
	case `""`, "null", "true", "false", "[]", "{}":
		return
	}
	rest := slices.Clone(w.out[p.to:])
	w.out = append(append(w.out[:p.from], jsondoc.Quote(Redacted)...), rest...)
	w.redacted = true
	in := json.NewDecoder(bytes.NewReader(p.raw))
	in.UseNumber()
	for {
		token, err := in.Token()
		if err != nil {
			return
		}
		switch t := token.(type) {
		case string:
			w.remember(t)
		case json.Number:
			w.remember(t.String())
		}
	}
}

// member copies the next value, and gives where it begins in what is written and how it came.
func (w *rewriter) member(nodes []any, secret bool) (from int, raw []byte) {
	from = len(w.out)
	begin := w.in.InputOffset()
	w.value(nodes, secret)
	return from, bytes.Trim(w.raw[begin:w.in.InputOffset()], " \t\r\n:,")
}

// isSecretFlag reports whether an item of a list is the flag of a program whose value comes next,
// such as "--password".
func isSecretFlag(raw []byte) bool {
	if !bytes.HasPrefix(raw, []byte(`"-`)) || len(raw) > 100 {
		return false
	}
	var text string
	return json.Unmarshal(raw, &text) == nil && !strings.ContainsAny(text, "= :") && IsSecretKey(text)
}

// end takes the beginning of a secret off the end of a text that somebody has cut.
func (r *Redactor) end(s string) string {
	longest := 0
	for _, form := range r.forms {
		for n := min(len(form)-1, len(s)); n >= minSecret && n > longest; n-- {
			if strings.HasSuffix(s, form[:n]) {
				longest = n
			}
		}
	}
	if longest == 0 {
		return s
	}
	return s[:len(s)-longest] + Redacted
}
