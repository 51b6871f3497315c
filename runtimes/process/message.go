package process

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/jsondoc"
)

// message is one line of the protocol: a request or a notification where it has a method,
// else an answer.
type message struct {
	ID     json.RawMessage // nil: none
	Method string
	Params json.RawMessage
	Result json.RawMessage // nil: none
	Error  json.RawMessage // nil or null: none
}

// parseMessage reads a line; false where it is no message. Names of members are taken
// exactly as they are written, unlike encoding/json does.
func parseMessage(line []byte) (m message, ok bool) {
	var members map[string]json.RawMessage
	if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &members) != nil {
		return m, false
	}
	m = message{ID: members["id"], Params: members["params"], Result: members["result"], Error: members["error"]}
	if string(m.ID) == "null" {
		m.ID = nil
	}
	method, has := members["method"]
	if has && (json.Unmarshal(method, &m.Method) != nil || m.Method == "") {
		return m, false
	}
	return m, has || m.ID != nil
}

// maxSalvage is at how many places of a line a message is looked for.
const maxSalvage = 16

// readMessage reads a line that may have noise before the message, such as what was
// printed without a line end. noise is what is no message; it is the whole line where ok
// is false.
func readMessage(line []byte) (m message, noise string, ok bool) {
	line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff")))
	if !utf8.Valid(line) {
		line = bytes.ToValidUTF8(line, []byte("\ufffd"))
	}
	if m, ok := parseMessage(line); ok {
		return m, "", true
	}
	at := 0
	for range maxSalvage {
		i := bytes.IndexByte(line[at:], '{')
		if i < 0 {
			break
		}
		at += i
		if at > 0 {
			if m, ok := parseMessage(line[at:]); ok {
				return m, string(line[:at]), true
			}
		}
		at++
	}
	return m, string(line), false
}

// result gives what an answer says: a failed result's text is an error.
func (m message) result() (*host.Result, error) {
	if m.Error != nil && string(m.Error) != "null" {
		return host.ErrorResult(errorText(m.Error)), nil
	}
	if m.Result == nil {
		return &host.Result{}, nil // JSON leaves a member out that is undefined
	}
	var text string
	if m.Result[0] == '"' && json.Unmarshal(m.Result, &text) == nil {
		return host.TextResult(text), nil
	}
	return host.ValueResult(plain(m.Result)), nil
}

// errorText gives the text of an error: it is one, or an object with a message.
func errorText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(raw, &object) == nil && json.Unmarshal(object["message"], &text) == nil && text != "" {
		return text
	}
	return string(plain(raw))
}

// plain writes valid JSON as JSON.stringify does: without white space, and with characters
// for themselves. The order of members and the spelling of numbers stay.
func plain(value json.RawMessage) json.RawMessage {
	var compact bytes.Buffer
	if json.Compact(&compact, value) != nil {
		return value
	}
	text := compact.Bytes()
	if !bytes.ContainsRune(text, '\\') {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); {
		if text[i] != '"' {
			out = append(out, text[i])
			i++
			continue
		}
		end := i + 1
		for text[end] != '"' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		end++
		var s string
		if token := text[i:end]; bytes.IndexByte(token, '\\') < 0 || json.Unmarshal(token, &s) != nil {
			out = append(out, token...)
		} else {
			out = append(out, jsondoc.Marshal(s)...)
		}
		i = end
	}
	return out
}

// cut shortens a text for a log line or an error message.
func cut(text string, limit int) string {
	text = strings.TrimSpace(text)
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}
