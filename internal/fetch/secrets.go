package fetch

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"strings"

	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/internal/lazyregexp"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
)

// filler puts secrets in the place of placeholders, and takes them out of what is told.
type filler struct {
	lookup Secrets
	used   []secret
}

// secret is one that a request holds.
type secret struct{ key, value string }

// minConcealed is the shortest secret that is looked for in texts: a shorter one is found
// by chance, and taking it out would spoil them.
const minConcealed = 4

// fill puts secrets into a text. encode makes a value fit its surroundings.
func (f *filler) fill(ctx context.Context, text string, encode func(string) string) (string, error) {
	if !mayHold(text) {
		return text, nil
	}
	var failed error
	filled := runtimes.Placeholder.ReplaceAllStringFunc(text, func(found string) string {
		if failed != nil {
			return ""
		}
		value, err := f.value(ctx, keyOf(found))
		if err != nil {
			failed = err
			return ""
		}
		return encode(value)
	})
	return filled, failed
}

func mayHold(text string) bool {
	return strings.Contains(text, "secret") || strings.Contains(strings.ToLower(text), "secret")
}

// keyOf gives the key in a placeholder, which may be percent-encoded.
func keyOf(found string) string {
	key := runtimes.Placeholder.FindStringSubmatch(found)[1]
	if plain, err := url.PathUnescape(key); err == nil {
		return plain
	}
	return key
}

func (f *filler) value(ctx context.Context, key string) (string, error) {
	for _, s := range f.used {
		if s.key == key {
			return s.value, nil
		}
	}
	full := key
	if !strings.Contains(key, ".") {
		full = "PLUGIN." + key
	}
	unknown := mistake("nothing was sent: {{secret:%s}} names no secret setting of this plugin that has a value; the user sets it with: toolhost settings set %s", key, full)
	if f.lookup == nil {
		return "", unknown
	}
	value, ok, err := f.lookup(ctx, key)
	switch {
	case err != nil:
		return "", fmt.Errorf("reading the setting %q: %w", key, err)
	case !ok:
		return "", unknown
	}
	f.used = append(f.used, secret{key, value})
	return value, nil
}

// Encodings of a value by its place.

func inText(value string) string { return value }

// inQuery leaves nothing that means something in a query or a form.
func inQuery(value string) string { return strings.ReplaceAll(url.QueryEscape(value), "+", "%20") }

func inPath(value string) string { return url.PathEscape(value) }

func inJSON(value string) string {
	quoted := jsondoc.Quote(value)
	return quoted[1 : len(quoted)-1]
}

func inXML(value string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(value)) // a buffer takes everything
	return b.String()
}

// fillURL puts secrets into the path and the query of a URL.
func (f *filler) fillURL(ctx context.Context, text string) (string, error) {
	end := strings.IndexByte(text, '?')
	if end < 0 {
		end = len(text)
	}
	path, err := f.fill(ctx, text[:end], inPath)
	if err != nil {
		return "", err
	}
	query, err := f.fill(ctx, text[end:], inQuery)
	return path + query, err
}

var jsonType = lazyregexp.New(`^application/(.*\+)?(json|x-ndjson|jsonl|json-seq)$`)
var xmlType = lazyregexp.New(`^(application|text)/(.*\+)?(xml|html)$`)

// fillBody puts secrets into a body of text. Others, also those of several parts, stay as they are.
func (f *filler) fillBody(ctx context.Context, body []byte, contentType string) ([]byte, error) {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil || len(body) == 0 {
		return body, nil // no type: not said to be text
	}
	encode := inText
	switch {
	case kind == "application/x-www-form-urlencoded":
		encode = inQuery
	case jsonType.MatchString(kind):
		encode = inJSON
	case xmlType.MatchString(kind):
		encode = inXML
	case !strings.HasPrefix(kind, "text/") && kind != "application/graphql":
		return body, nil
	}
	if !runtimes.Placeholder.Match(body) {
		return body, nil
	}
	filled, err := f.fill(ctx, string(body), encode)
	return []byte(filled), err
}

// concealText puts the placeholder back where a secret stands.
func (f *filler) concealText(text string) string {
	for _, s := range f.used {
		if len(s.value) < minConcealed {
			continue
		}
		for _, form := range []string{s.value, inPath(s.value), inQuery(s.value), url.QueryEscape(s.value), inJSON(s.value)} {
			text = strings.ReplaceAll(text, form, "{{secret:"+s.key+"}}")
		}
	}
	return text
}

// conceal keeps secrets out of an error.
func (f *filler) conceal(err error) error {
	text := err.Error()
	concealed := f.concealText(text)
	if concealed == text {
		return err
	}
	var network *runtimes.NetworkError
	var denied *permissions.DeniedError
	switch {
	case errors.As(err, &network):
		c := *network
		c.Message, c.Hostname = f.concealText(c.Message), f.concealText(c.Hostname)
		return &c
	case errors.As(err, &denied):
		c := *denied
		c.Target, c.Reason, c.Rule = f.concealText(c.Target), f.concealText(c.Reason), f.concealText(c.Rule)
		return &c
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return context.DeadlineExceeded
	}
	return errors.New(concealed)
}
