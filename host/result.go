package host

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/internal/lazyregexp"
	"github.com/toolhost/toolhost/internal/schema"
)

// Result is what a call gives.
type Result struct {
	// Content has at least one block once Host.Call returns it.
	Content []Content
	IsError bool
	// Structured is a JSON object, or nil. Failed results have none.
	Structured json.RawMessage
	// Meta is a JSON object, or nil.
	Meta json.RawMessage

	// Failure says in a word how the call failed. Host.Call sets it; handlers need not.
	Failure FailureKind

	// Value is what the handler returned, as JSON text, where that is still to be
	// shaped; Host.Call makes the fields above from it. Host.Execute leaves it there.
	Value json.RawMessage
}

// Content is one block of a result: a JSON object as MCP defines it. Make one with
// [Text] or [Image], or let a handler return an envelope. The zero value is an empty text.
type Content struct {
	kind string
	text string
	raw  json.RawMessage // nil for a plain text
}

// Text makes a text block. Bytes that are no UTF-8 become U+FFFD.
func Text(text string) Content { return Content{text: strings.ToValidUTF8(text, "\ufffd")} }

// Image makes an image block. mimeType is a type such as "image/png".
func Image(data []byte, mimeType string) Content {
	raw, _ := json.Marshal(map[string]any{"type": "image", "data": data, "mimeType": mimeType}) // such a map always marshals
	return Content{kind: "image", raw: raw}
}

// Type gives the block's type: "text", "image", "audio", "resource_link" or "resource".
func (c Content) Type() string {
	if c.kind == "" {
		return "text"
	}
	return c.kind
}

// Text gives the text of a text block, "" for others.
func (c Content) Text() string { return c.text }

// Data gives the bytes and the type of an image or audio block.
func (c Content) Data() (data []byte, mimeType string, ok bool) {
	var b struct {
		Data     []byte
		MIMEType string `json:"mimeType"`
	}
	if c.kind != "image" && c.kind != "audio" || json.Unmarshal(c.raw, &b) != nil {
		return nil, "", false
	}
	return b.Data, b.MIMEType, true
}

// MarshalJSON gives the block as MCP has it on the wire, without white space between its parts.
func (c Content) MarshalJSON() ([]byte, error) {
	if c.raw != nil {
		return c.raw, nil
	}
	const head = `{"type":"text","text":`
	text := append(make([]byte, 0, len(head)+len(c.text)+8), head...)
	return append(jsondoc.AppendText(text, c.text), '}'), nil
}

// TextResult is a result with one text block.
func TextResult(text string) *Result { return &Result{Content: []Content{Text(text)}} }

// ErrorResult is a failed result with one text block.
func ErrorResult(text string) *Result {
	if strings.TrimSpace(text) == "" {
		text = "the tool failed without a message"
	}
	return &Result{Content: []Content{Text(text)}, IsError: true}
}

// ValueResult is a result made from any JSON value, which must be valid: an MCP
// content envelope is forwarded, anything else becomes one text block.
func ValueResult(value json.RawMessage) *Result { return &Result{Value: value} }

// shape turns what a handler returned into what the agent gets, and says how it failed where
// it did.
func (h *Host) shape(t Registered, r *Result, log *slog.Logger) (*Result, FailureKind) {
	if r == nil {
		r = &Result{}
	}
	out := &Result{Content: r.Content, IsError: r.IsError, Structured: repairSurrogates(r.Structured), Meta: repairSurrogates(r.Meta)}
	value := r.Value
	envelope := value == nil && r.Structured != nil
	if value != nil {
		value = repairSurrogates(value)
		e, wrong := parseEnvelope(value)
		if wrong != "" {
			log.Warn("the result is no well-formed content envelope and goes out as JSON text", "err", wrong)
		}
		if e != nil {
			out, envelope, value = e.result, true, nil
			for _, w := range e.warnings {
				log.Warn("odd content in the result", "err", w)
			}
		} else {
			out.Content = []Content{Text(string(written(value, t.Indent)))}
		}
	}
	if t.Command && !out.IsError {
		out.Value = r.Value
		if out.Value == nil && len(r.Content) == 1 && r.Content[0].Type() == "text" && r.Structured == nil {
			out.Value = jsondoc.Marshal(r.Content[0].Text())
		}
	}
	if len(out.Content) == 0 && (!t.Command || out.IsError) {
		out.Content = []Content{Text("OK")}
	}
	if t.Output != nil && !out.IsError {
		if failed := matchOutput(t, out, value, envelope); failed != nil {
			return failed, FailureOutput
		}
	}
	kind := NoFailure
	if out.IsError {
		out.Structured, kind = nil, FailureError
	}
	if size := out.Size(); size > h.limits.Result {
		return ErrorResult(fmt.Sprintf("the result of tool %q is %d bytes; the limit is %d bytes", t.Name, size, h.limits.Result)), FailureTooLarge
	}
	return out, kind
}

// written gives JSON as the agent gets it.
func written(value json.RawMessage, indent bool) []byte {
	var b bytes.Buffer
	if !indent || json.Indent(&b, value, "", "  ") != nil {
		return value
	}
	return b.Bytes()
}

// Size gives how many bytes the content and the structured content have as JSON, without
// writing them.
func (r *Result) Size() int {
	size := len("[]") + len(r.Content) - 1 + len(r.Structured)
	for _, c := range r.Content {
		if c.raw != nil {
			size += len(c.raw)
			continue
		}
		size += len(`{"type":"text","text":""}`) + len(c.text)
		size += (len(`\u2028`) - len("\u2028")) * (strings.Count(c.text, "\u2028") + strings.Count(c.text, "\u2029"))
		for i := range len(c.text) {
			switch b := c.text[i]; {
			case b == '"' || b == '\\' || b == '\n' || b == '\r' || b == '\t' || b == '\b' || b == '\f':
				size++
			case b < ' ':
				size += len(`\u0000`) - 1
			}
		}
	}
	return size
}

// matchOutput checks a result against the tool's output schema and sets its structured
// content; it gives the failed result where it does not fit.
func matchOutput(t Registered, out *Result, value json.RawMessage, envelope bool) *Result {
	lead := fmt.Sprintf("The result of tool %q does not fit its outputSchema.", t.Name)
	if envelope {
		value = out.Structured
	}
	if value == nil {
		missing := "the handler returned a text or nothing; an object is required"
		if envelope {
			missing = "the content envelope has no structuredContent"
		}
		return ErrorResult(lead + "\n- " + missing)
	}
	checked, err := t.Output.Check(value, true)
	if err != nil {
		return ErrorResult(lead + "\n- " + err.Error())
	}
	if len(checked.Issues) > 0 {
		return ErrorResult(schema.Explain(lead, checked.Issues))
	}
	out.Structured = value
	return nil
}

// envelope is a handler's MCP content envelope.
type envelope struct {
	result   *Result
	warnings []string
}

// maxBlocks is how many blocks an envelope may have (NeuroSquad's limit).
const maxBlocks = 16

// parseEnvelope reads a JSON value as a content envelope. Data gives (nil, ""); what
// was meant as an envelope but is malformed gives (nil, why).
func parseEnvelope(value json.RawMessage) (e *envelope, wrong string) {
	if len(value) == 0 || value[0] != '{' {
		return nil, ""
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(value, &fields) != nil || fields["content"] == nil {
		return nil, ""
	}
	for name := range fields {
		if !slices.Contains([]string{"content", "isError", "structuredContent", "_meta"}, name) {
			return nil, ""
		}
	}
	var blocks []json.RawMessage
	if json.Unmarshal(fields["content"], &blocks) != nil {
		return nil, "content is no list"
	}
	if len(blocks) == 0 || len(blocks) > maxBlocks {
		return nil, fmt.Sprintf("content has %d blocks, not 1 to %d", len(blocks), maxBlocks)
	}
	e = &envelope{result: &Result{}}
	if raw, ok := fields["isError"]; ok && kindOf(raw) != "null" {
		if kindOf(raw) != "boolean" {
			return nil, "isError is no boolean"
		}
		e.result.IsError = string(raw) == "true"
	}
	for i, raw := range blocks {
		c, warning, wrong := parseBlock(raw)
		if wrong != "" {
			return nil, fmt.Sprintf("content[%d]: %s", i, wrong)
		}
		if warning != "" {
			e.warnings = append(e.warnings, fmt.Sprintf("content[%d]: %s", i, warning))
		}
		e.result.Content = append(e.result.Content, c)
	}
	e.result.Structured = e.object(fields, "structuredContent")
	e.result.Meta = e.object(fields, "_meta")
	return e, ""
}

// object gives a field that must be an object; another value is left out with a warning.
func (e *envelope) object(fields map[string]json.RawMessage, name string) json.RawMessage {
	raw, ok := fields[name]
	if !ok || kindOf(raw) == "null" {
		return nil
	}
	if kindOf(raw) != "object" {
		e.warnings = append(e.warnings, name+" is no object and was left out")
		return nil
	}
	return raw
}

var mimeType = lazyregexp.New(`^[A-Za-z0-9][\w!#$&^.+-]*/[A-Za-z0-9][\w!#$&^.+-]*(\s*;.*)?$`)

// blockFields says for each type of block which fields MCP requires and what kind of
// value each known field holds. Source: schema of MCP revision 2025-11-25.
var blockFields = map[string]struct {
	required []string
	kinds    map[string]string
}{
	"text":          {[]string{"text"}, map[string]string{"text": "string"}},
	"image":         {[]string{"data", "mimeType"}, map[string]string{"data": "string", "mimeType": "string"}},
	"audio":         {[]string{"data", "mimeType"}, map[string]string{"data": "string", "mimeType": "string"}},
	"resource_link": {[]string{"uri", "name"}, map[string]string{"uri": "string", "name": "string", "title": "string", "description": "string", "mimeType": "string", "size": "number", "icons": "array"}},
	"resource":      {[]string{"resource"}, map[string]string{"resource": "object"}},
}

// parseBlock checks one block of an envelope.
func parseBlock(raw json.RawMessage) (c Content, warning, wrong string) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		return c, "", "not an object"
	}
	text := func(name string) string {
		var s string
		_ = json.Unmarshal(fields[name], &s) // another kind of value stays "", and is refused below
		return s
	}
	kind := text("type")
	known, ok := blockFields[kind]
	if !ok {
		return c, "", fmt.Sprintf("unknown type %.40q", kind)
	}
	if wrong := checkFields(fields, known.required, known.kinds); wrong != "" {
		return c, "", wrong
	}
	c = Content{kind: kind, raw: compact(raw)}
	switch kind {
	case "text":
		c.text = text("text")
	case "image", "audio":
		if !mimeType.MatchString(text("mimeType")) {
			return c, "", fmt.Sprintf("mimeType %.60q is no type/subtype", text("mimeType"))
		}
		data, err := decodeBase64(text("data"))
		if err != "" {
			return c, "", err
		}
		warning = sniff(data, text("mimeType"))
	case "resource":
		wrong = checkResource(fields["resource"])
	}
	return c, warning, wrong
}

func checkFields(fields map[string]json.RawMessage, required []string, kinds map[string]string) (wrong string) {
	for _, name := range required {
		if fields[name] == nil {
			return name + " is missing"
		}
	}
	for _, name := range []string{"annotations", "_meta"} {
		if raw, ok := fields[name]; ok && kindOf(raw) != "object" {
			return name + " is no object"
		}
	}
	for name, kind := range kinds {
		if raw, ok := fields[name]; ok && kindOf(raw) != kind {
			return fmt.Sprintf("%s is %s, not %s", name, kindOf(raw), kind)
		}
	}
	return ""
}

func checkResource(raw json.RawMessage) (wrong string) {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(raw, &fields) // checkFields saw an object
	kinds := map[string]string{"uri": "string", "mimeType": "string", "text": "string", "blob": "string"}
	if wrong := checkFields(fields, []string{"uri"}, kinds); wrong != "" {
		return "resource: " + wrong
	}
	if fields["text"] != nil {
		return ""
	}
	if fields["blob"] == nil {
		return "resource: it has neither text nor blob"
	}
	var blob string
	_ = json.Unmarshal(fields["blob"], &blob) // checkFields saw a string
	if blob == "" {
		return ""
	}
	if _, wrong := decodeBase64(blob); wrong != "" {
		return "resource: blob: " + wrong
	}
	return ""
}

// decodeBase64 decodes standard base64 with padding, as clients demand it.
func decodeBase64(s string) (data []byte, wrong string) {
	if s == "" {
		return nil, "the data is empty"
	}
	if strings.ContainsAny(s, "\r\n") {
		return nil, "the data is no valid base64 (it has line breaks)"
	}
	data, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, fmt.Sprintf("the data is no valid base64 (%s)", err)
	}
	return data, ""
}

// sniff gives a warning where bytes are plainly of another image type than was said.
func sniff(data []byte, said string) string {
	found := http.DetectContentType(data)
	known := []string{"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"}
	said, _, _ = strings.Cut(strings.ToLower(said), ";")
	if slices.Contains(known, said) && found != said {
		return fmt.Sprintf("the bytes do not look like %s (they look like %s)", said, found)
	}
	return ""
}

// kindOf names the kind of a valid JSON value.
func kindOf(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	default:
		return "number"
	}
}

func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return raw
	}
	return b.Bytes()
}

// repairSurrogates replaces escapes of lone surrogates in JSON text by U+FFFD:
// strict clients refuse a message that has one.
func repairSurrogates(text []byte) []byte {
	if !bytes.Contains(text, []byte(`\u`)) {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		n := 1
		if text[i] == '\\' {
			n = 2
		}
		unit := codeUnit(text[i:])
		switch {
		case unit < 0:
		case utf16.IsSurrogate(unit) && utf16.DecodeRune(unit, codeUnit(text[i+6:])) == utf8.RuneError:
			out = append(out, `\ufffd`...)
			i += 6
			continue
		case utf16.IsSurrogate(unit):
			n = 12
		default:
			n = 6
		}
		n = min(n, len(text)-i) // what a handler made may be no JSON
		out = append(out, text[i:i+n]...)
		i += n
	}
	return out
}

// codeUnit gives the UTF-16 unit of the escape \uXXXX with which b begins, else -1.
func codeUnit(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}
