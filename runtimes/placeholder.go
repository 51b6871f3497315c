package runtimes

import (
	"encoding/json"
	"slices"

	"github.com/toolhost/toolhost/internal/lazyregexp"
)

// Placeholder matches a placeholder for a secret setting, {{secret:KEY}}, as it stands in a
// text or, percent-encoded, in a URL or form. Its only group is the key.
var Placeholder = lazyregexp.New(`(?i)(?:\{|%7B){2}secret(?::|%3A)([^{}"\s&=/?#\\]{1,300}?)(?:\}|%7D){2}`)

// CheckPlaceholders refuses a request that holds a placeholder for a secret while the
// arguments of its call hold one, too. An agent, or whoever writes what it reads, must not
// have a secret sent by writing a placeholder into an argument that a handler passes on.
// Every runtime asks it before a request of a call is made.
func CheckPlaceholders(args json.RawMessage, r *Request) error {
	if !r.holdsPlaceholder() || !holdPlaceholder(args) {
		return nil
	}
	return &NetworkError{Code: "ERR_INVALID_ARG_VALUE", Message: "nothing was sent: the arguments of this call hold a placeholder of a secret ({{secret:…}}), which only the plugin's own code may write; take it out of the arguments"}
}

func (r *Request) holdsPlaceholder() bool {
	if Placeholder.MatchString(r.URL) || Placeholder.Match(r.Body) {
		return true
	}
	for _, values := range r.Header {
		if slices.ContainsFunc(values, Placeholder.MatchString) {
			return true
		}
	}
	return false
}

// holdPlaceholder looks at every text of the arguments, names included.
func holdPlaceholder(args json.RawMessage) bool {
	var v any
	if json.Unmarshal(args, &v) != nil {
		return false
	}
	var holds func(v any) bool
	holds = func(v any) bool {
		switch v := v.(type) {
		case string:
			return Placeholder.MatchString(v)
		case []any:
			return slices.ContainsFunc(v, holds)
		case map[string]any:
			for name, member := range v {
				if holds(name) || holds(member) {
					return true
				}
			}
		}
		return false
	}
	return holds(v)
}
