package calllog

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/internal/lazyregexp"
)

// Redacted stands where a secret was.
const Redacted = "[redacted]"

const (
	// minSecret is the shortest secret that is looked for: a shorter one is found by chance.
	minSecret = 4
	// minEncoded is the same for encoded secrets, whose ends are cut off.
	minEncoded = 6
	// maxSecrets bounds how many secrets are remembered.
	maxSecrets = 10_000
)

// Redactor takes secrets out of texts and JSON values: by the names of keys, by the patterns
// of known kinds of secrets, and the values of secret settings, also in base64, in hexadecimal and as they
// stand in URLs. It is safe for concurrent use.
type Redactor struct {
	replacer *strings.Replacer // of secret values; nil where there are none
	values   map[string]bool
	forms    []string // in which secrets are looked for
	longest  int      // bytes of the longest of them
}

// NewRedactor makes a redactor that also takes out these secrets.
func NewRedactor(secrets []string) *Redactor {
	s := newSecrets()
	s.add(secrets)
	return s.redactor()
}

// secrets are the values that must not be written down.
type secrets struct {
	known map[string]bool
	made  *Redactor // nil where it is out of date
}

func newSecrets() *secrets { return &secrets{known: map[string]bool{}} }

func (s *secrets) add(list []string) {
	for _, one := range list {
		if len(one) >= minSecret && !s.known[one] && len(s.known) < maxSecrets {
			s.known[one] = true
			s.made = nil
		}
	}
}

func (s *secrets) redactor() *Redactor {
	if s.made != nil {
		return s.made
	}
	r := &Redactor{values: map[string]bool{}}
	if len(s.known) > 0 {
		var forms []string
		for one := range s.known {
			r.values[one] = true
			forms = append(forms, formsOf(one)...)
		}
		// The longest first: of two that begin alike the whole is to go.
		slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
		var pairs []string
		r.forms = slices.Compact(forms)
		for _, form := range r.forms {
			pairs = append(pairs, form, Redacted)
			r.longest = max(r.longest, len(form))
		}
		r.replacer = strings.NewReplacer(pairs...)
	}
	s.made = r
	return r
}

// formsOf gives the ways in which a secret may be written.
func formsOf(secret string) []string {
	quoted := jsondoc.Quote(secret)
	forms := []string{secret, quoted[1 : len(quoted)-1], url.QueryEscape(secret), url.PathEscape(secret), strings.ReplaceAll(url.QueryEscape(secret), "+", "%20"),
		hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret)))}
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			// In base64 a text looks in three ways, by how many bytes stand before it in the
			// same whole, such as those of "user:". Characters that its neighbours share go.
			text := encoding.EncodeToString(append(make([]byte, before), secret...))
			from, to := (before*8+5)/6, (before+len(secret))*8/6
			if to-from >= minEncoded {
				forms = append(forms, text[from:to])
			}
		}
	}
	return forms
}

// secretKeys are what the names of secrets have in them, in small letters without "-", "_" and such.
var secretKeys = []string{
	"password", "passwd", "passphrase", "secret", "token", "authorization", "apikey", "accesskey", "privatekey", "signingkey", "encryptionkey",
	"credential", "cookie", "sessionid", "clientkey", "connectionstring", "webhookurl",
}

// secretWords are names that are secrets only as a whole.
var secretWords = []string{"pwd", "pass", "auth", "pin", "otp", "bearer", "jwt", "dsn"}

// lastWords are names of secrets that others stand before: db_pass, userPwd.
var lastWords = []string{"pwd", "pass", "passcode", "otp", "jwt"}

// lastWord gives the last word of a name, in small letters.
func lastWord(name string) string {
	from := strings.LastIndexFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) + 1
	word := name[from:]
	for i, r := range word {
		if i > 0 && unicode.IsUpper(r) && unicode.IsLower(rune(word[i-1])) {
			return lastWord(word[i:])
		}
	}
	return strings.ToLower(word)
}

// harmlessKeys have a word of secretKeys in them, and are counts or names.
var harmlessKeys = []string{"maxtokens", "tokens", "tokencount", "tokenlimit", "totaltokens", "prompttokens", "completiontokens", "inputtokens", "outputtokens",
	"nextpagetoken", "pagetoken", "continuationtoken", "tokentype", "secretname", "cookieconsent"}

// IsSecretKey reports whether what stands under a key is taken for a secret.
func IsSecretKey(key string) bool {
	name := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, key)
	if slices.Contains(harmlessKeys, name) {
		return false
	}
	return slices.Contains(secretWords, name) || slices.Contains(lastWords, lastWord(key)) || slices.ContainsFunc(secretKeys, func(word string) bool { return strings.Contains(name, word) })
}

// pattern finds one kind of secret. Where none of its hints is in a text, in small letters, the
// expression is not tried: that takes a hundred times as long.
type pattern struct {
	hints []string
	find  *lazyregexp.Regexp
	with  string
}

var patterns = []pattern{
	{[]string{"private key"}, lazyregexp.New(`-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY( BLOCK)?-----[\s\S]*?(-----END [A-Z0-9 ]{0,40}PRIVATE KEY( BLOCK)?-----|\z)`), Redacted},
	{[]string{"://"}, lazyregexp.New(`([A-Za-z][A-Za-z0-9+.-]{0,30}://)[^/\s@"'<>?#]+@`), "${1}" + Redacted + "@"},
	{[]string{"hooks.slack.com/"}, lazyregexp.New(`(hooks\.slack\.com/(?:services|workflows|triggers)/)[A-Za-z0-9/_-]+`), "${1}" + Redacted},
	{[]string{"eyj"}, lazyregexp.New(`\beyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{4,}(\.[A-Za-z0-9_-]*)*`), Redacted},
	{[]string{"akia", "asia", "abia", "acca"}, lazyregexp.New(`\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b`), Redacted},
	{[]string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"}, lazyregexp.New(`\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})`), Redacted},
	{[]string{"glpat-", "gldt-", "glrt-"}, lazyregexp.New(`\bgl(?:pat|dt|rt)-[A-Za-z0-9_-]{16,}`), Redacted},
	{[]string{"xox", "xapp-"}, lazyregexp.New(`\b(?:xox[a-z]|xapp)-[A-Za-z0-9-]{8,}`), Redacted},
	{[]string{"sk-"}, lazyregexp.New(`\bsk-[A-Za-z0-9_-]{16,}`), Redacted},
	{[]string{"sk_", "rk_", "whsec_"}, lazyregexp.New(`\b(?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9]{12,}`), Redacted},
	{[]string{"aiza"}, lazyregexp.New(`\bAIza[A-Za-z0-9_-]{30,}`), Redacted},
	{[]string{"npm_", "hf_", "pypi-", "dop_v1_"}, lazyregexp.New(`\b(?:npm_|hf_|pypi-|dop_v1_)[A-Za-z0-9_-]{20,}`), Redacted},
	{[]string{"cookie:"}, lazyregexp.New(`(?i)\b((?:set-)?cookie:[ \t]*)[^\r\n"]+`), "${1}" + Redacted},
	{[]string{"sig", "key="}, lazyregexp.New(`(?i)([?&](?:sig|signature|key|x-amz-signature|x-goog-signature)=)[^&\s"'<>#]+`), "${1}" + Redacted},
	{[]string{"password>", "passwd>", "secret>", "token>", "apikey>", "api_key>"}, lazyregexp.New(`(?i)(<(?:[a-z0-9_-]{1,40}:)?[a-z0-9_-]{0,40}(?:password|passwd|secret|token|apikey|api_key)>)[^<]+`), "${1}" + Redacted},
	{[]string{"_pass="}, lazyregexp.New(`\b([A-Z][A-Z0-9_]{0,40}_PASS=)("[^"\n]*"|'[^'\n]*'|[^\s"'\\,;&]+)`), "${1}" + Redacted},
	{[]string{"--"}, lazyregexp.New(`(?i)(--(?:[a-z0-9]{1,20}-){0,4}(?:password|passwd|passphrase|secret|token|api-?key|access-?key|private-?key|credential)[ \t]+)("[^"\n]*"|'[^'\n]*'|[^\s"'\\-][^\s"'\\]*)`), "${1}" + Redacted},
	{[]string{"bearer", "basic", "digest", "negotiate"}, lazyregexp.New(`(?i)\b(bearer|basic|digest|negotiate)([ \t]+)[A-Za-z0-9._~+/=-]{8,}`), "${1}${2}" + Redacted},
}

// assignment finds what a name gets that stands before it: PASSWORD=…, "apiKey": "…", token: ….
var assignment = lazyregexp.New(`(?i)([A-Za-z0-9_.-]{0,40}(?:pass[_-]?word|passwd|passphrase|secret|token|authorization|api[_-]?key|access[_-]?key|private[_-]?key|credential|cookie|pwd)[A-Za-z0-9_.-]{0,40})(\\?["']?[ \t]{0,4}[:=][ \t]{0,4})(\\?"(?:[^"\\\n]|\\[^"\n])*\\?"|'[^'\n]*'|[^\s"'\\,;&<>(){}\[\]]+)`)

var assignmentHints = []string{"password", "pass_word", "pass-word", "passwd", "passphrase", "secret", "token", "authorization", "api_key", "api-key", "apikey", "access", "private", "credential", "cookie", "pwd"}

// Text gives a text without secrets.
func (r *Redactor) Text(s string) string {
	if r.replacer != nil {
		s = r.replacer.Replace(s)
	}
	lower := strings.ToLower(s)
	for _, p := range patterns {
		if containsAny(lower, p.hints) {
			s = p.find.ReplaceAllString(s, p.with)
		}
	}
	if containsAny(lower, assignmentHints) && strings.ContainsAny(s, ":=") {
		s = assignment.ReplaceAllStringFunc(s, redactAssignment)
	}
	return s
}

func redactAssignment(found string) string {
	m := assignment.FindStringSubmatch(found)
	name, between, value := m[1], m[2], m[3]
	if !IsSecretKey(name) || strings.Contains(value, Redacted) {
		return found
	}
	plain := strings.Trim(value, `\"'`)
	switch strings.ToLower(plain) {
	case "", "true", "false", "null", "undefined", "none", "string":
		return found
	case "bearer", "basic", "digest", "negotiate":
		return found // what follows was looked at already
	}
	if i := strings.Index(value, plain); i >= 0 {
		return name + between + value[:i] + Redacted + value[i+len(plain):]
	}
	return name + between + Redacted
}

func containsAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}

// slack is how much behind the end of a text is looked at besides, so that no secret is cut in two.
const slack = 4096

// bounded gives the first max bytes of a text, without secrets, and whether that is not all.
func (r *Redactor) bounded(s string, max int) (text string, isCut bool) {
	beyond := slack + r.longest
	if isCut = len(s) > max+beyond; !isCut {
		s = r.Text(s)
		return cut(s, max), len(s) > max
	}
	s = r.Text(s[:max+beyond])
	return cut(s, min(max, len(s)-beyond)), true
}

// cut gives at most the first n bytes of s that are whole characters.
func cut(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if len(s) > n {
		s = s[:n]
		for i := 0; i < 3 && s != "" && !validEnd(s); i++ {
			s = s[:len(s)-1]
		}
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

// JSON gives a JSON value without secrets, and whether it had any. What its schema marks goes
// too. Order, numbers and repeated keys stay as they are. ok is false where it is no JSON.
func (r *Redactor) JSON(raw []byte, m *marks) (out []byte, redacted, ok bool) {
	out, _, redacted, ok = r.rewrite(raw, m)
	return out, redacted, ok
}

// rewrite is JSON, and gives the values that it took out by their keys and marks besides.
func (r *Redactor) rewrite(raw []byte, m *marks) (out []byte, hidden []string, redacted, ok bool) {
	if !json.Valid(raw) {
		return nil, nil, false, false
	}
	w := &rewriter{r: r, raw: raw, in: json.NewDecoder(bytes.NewReader(raw)), marks: m}
	w.in.UseNumber()
	var nodes []any
	if m != nil {
		nodes = m.expand([]any{m.root})
	}
	w.value(nodes, false)
	return w.out, w.hidden, w.redacted, true
}

// with gives a redactor that takes out further secrets.
func (r *Redactor) with(more []string) *Redactor {
	if len(more) == 0 {
		return r
	}
	s := newSecrets()
	s.add(slices.Collect(maps.Keys(r.values)))
	s.add(more)
	return s.redactor()
}

// rewriter copies one JSON value, which is valid.
type rewriter struct {
	r        *Redactor
	raw      []byte
	in       *json.Decoder
	out      []byte
	marks    *marks
	redacted bool
	hidden   []string // values that were taken out by their keys and marks
}

// maxHidden bounds how many values of one call are looked for in its other texts.
const maxHidden = 50

func (w *rewriter) conceal(value string) {
	w.remember(value)
	w.hide()
}

// value copies the next value. nodes are the schemas that hold for it; secret says that its key
// is that of a secret.
func (w *rewriter) value(nodes []any, secret bool) {
	secret = secret || isMarked(nodes)
	token, err := w.in.Token()
	if err != nil {
		return // it is valid
	}
	switch t := token.(type) {
	case json.Delim:
		if secret {
			w.skip(t)
			w.hide()
			return
		}
		w.out = append(w.out, byte(t))
		var pair pair
		flag := false
		for i := 0; w.in.More(); i++ {
			if i > 0 {
				w.out = append(w.out, ',')
			}
			if t == '[' {
				_, item := w.member(w.marks.item(nodes, i), flag)
				flag = isSecretFlag(item)
				continue
			}
			key, _ := w.in.Token()
			name, _ := key.(string)
			w.text(name)
			w.out = append(w.out, ':')
			from, item := w.member(w.marks.property(nodes, name), IsSecretKey(name))
			pair.note(name, item, from, len(w.out))
		}
		w.hidePair(&pair)
		end, _ := w.in.Token()
		closing, _ := end.(json.Delim)
		w.out = append(w.out, byte(closing))
	case string:
		if secret && t != "" {
			w.conceal(t)
			return
		}
		w.text(t)
	case json.Number:
		if secret || w.r.values[t.String()] {
			w.conceal(t.String())
			return
		}
		w.out = append(w.out, t...)
	case bool:
		if t {
			w.out = append(w.out, "true"...)
		} else {
			w.out = append(w.out, "false"...)
		}
	default:
		w.out = append(w.out, "null"...)
	}
}

func (w *rewriter) text(s string) {
	clean := w.r.Text(s)
	w.redacted = w.redacted || clean != s
	w.out = append(w.out, jsondoc.Quote(clean)...)
}

func (w *rewriter) hide() {
	w.redacted = true
	w.out = append(w.out, jsondoc.Quote(Redacted)...)
}

// skip passes over the rest of an object or a list that has begun, and remembers the values in it.
func (w *rewriter) skip(open json.Delim) {
	for w.in.More() {
		if open == '{' {
			_, _ = w.in.Token() // the key
		}
		token, _ := w.in.Token() // it is valid
		switch t := token.(type) {
		case json.Delim:
			w.skip(t)
		case string:
			w.remember(t)
		case json.Number:
			w.remember(t.String())
		}
	}
	_, _ = w.in.Token() // the end
}

func (w *rewriter) remember(value string) {
	if len(w.hidden) < maxHidden {
		w.hidden = append(w.hidden, value)
	}
}
