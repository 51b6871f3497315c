package consent

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/toolhost/toolhost/internal/lazyregexp"
	"github.com/toolhost/toolhost/internal/schema"
	"github.com/toolhost/toolhost/loader"
)

// aimed matches what a description says to a model rather than about a tool.
var aimed = []struct {
	pattern *lazyregexp.Regexp
	what    string
}{
	{lazyregexp.New(`(?i)\b(ignore|disregard|forget|override)\b.{0,30}\b(previous|prior|above|earlier|other|all|your)\b.{0,30}\b(instruction|prompt|rule|guideline|tool)s?`), "tells the model to pass over its instructions"},
	{lazyregexp.New(`(?i)\b(do not|don't|never|without)\b.{0,20}\b(tell(ing)?|mention(ing)?|inform(ing)?|ask(ing)?|show(ing)?|reveal(ing)?|notify(ing)?)\b.{0,30}\b(user|human|anyone|them)\b`), "tells the model to keep something from the user"},
	{lazyregexp.New(`(?i)<\s*/?\s*(important|system|instructions?|secret|admin|assistant|hidden)\b[^>]{0,40}>`), "has a tag that models take for an instruction"},
	{lazyregexp.New(`(?i)\b(system prompt|developer message|jailbreak)\b`), "speaks of the model's own instructions"},
	{lazyregexp.New(`(?i)\b(always|must|first|immediately)\b.{0,30}\b(call|use|run|invoke|execute)\b.{0,40}\b(before|instead of|prior to)\b.{0,40}\b(any|every|all|other|another|each)\b`), "puts the tool before all others"},
	{lazyregexp.New(`(?i)(~/\.ssh|id_rsa|id_ed25519|/etc/passwd|\.aws/credentials|\.env\b.{0,20}\b(content|value|secret)|\bapi[ _-]?keys?\b.{0,30}\b(send|include|pass|append))`), "names places of secrets"},
	{lazyregexp.New(`(?i)\b(send|forward|upload|post|include|append|pass)\b.{0,40}\b(conversation|chat history|context|previous messages|credentials|passwords?|secrets?)\b`), "asks for what the model knows from elsewhere"},
}

// Lint gives what somebody should look at twice before agreeing: characters that are not seen,
// instructions aimed at the model, and names that look like others. taken are the ids of other
// tools with who has them.
func Lint(s *loader.Summary, taken map[string]string) []string {
	var found []string
	look := func(where, text string) {
		if r, hidden := schema.Hidden(text); hidden {
			found = append(found, fmt.Sprintf("%s holds the character %U, which people do not see and models read", where, r))
		}
		for _, a := range aimed {
			if m := a.pattern.FindString(text); m != "" {
				found = append(found, fmt.Sprintf("%s %s: %q", where, a.what, cut(m)))
			}
		}
		if word := mixed(text); word != "" {
			found = append(found, fmt.Sprintf("%s mixes letters of several scripts in the word %q", where, word))
		}
	}
	look("the name", s.DisplayName)
	look("the description of the plugin", s.Description)
	for _, t := range s.Tools {
		look(fmt.Sprintf("the title of the tool %q", t.ID), t.Title)
		look(fmt.Sprintf("the description of the tool %q", t.ID), t.Description)
		for _, raw := range []json.RawMessage{t.InputSchema, t.OutputSchema} {
			var v any
			if json.Unmarshal(raw, &v) == nil {
				each(v, func(text string) { look(fmt.Sprintf("a text in the schema of the tool %q", t.ID), text) })
			}
		}
		for other, by := range taken {
			if other != t.ID && skeleton(other) == skeleton(t.ID) {
				found = append(found, fmt.Sprintf("the tool %q looks like %q of %s", t.ID, other, by))
			}
		}
	}
	for _, c := range s.Commands {
		look(fmt.Sprintf("the title of the command %q", c.ID), c.Title)
	}
	for _, a := range s.Actions {
		look(fmt.Sprintf("the prompt %q", a.ID), a.Title+"\n"+a.Prompt)
	}
	return found
}

// each gives all texts of a JSON value, the names of members too.
func each(v any, do func(string)) {
	switch v := v.(type) {
	case string:
		do(v)
	case []any:
		for _, item := range v {
			each(item, do)
		}
	case map[string]any:
		for name, item := range v {
			do(name)
			each(item, do)
		}
	}
}

// mixed gives a word that is written with Latin letters and with those of a script that has
// some which look the same; "" where there is none.
func mixed(text string) string {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		latin, alike := false, false
		for _, r := range word {
			latin = latin || unicode.Is(unicode.Latin, r)
			alike = alike || unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee)
		}
		if latin && alike {
			return word
		}
	}
	return ""
}

// skeleton gives a name as it looks at a glance.
func skeleton(name string) string {
	return strings.NewReplacer("rn", "m", "vv", "w", "cl", "d", "0", "o", "1", "l", "i", "l", "5", "s", "-", "", "_", "").Replace(strings.ToLower(name))
}
