package mcpserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/internal/lazyregexp"
)

// maxLine is the longest line that is read. It is four times the host's default limit
// of arguments, since JSON may write one byte as up to six (\u0041) and a call that is
// a little too big should learn so from the host; more is not worth the memory.
const maxLine = 16 << 20

var errTooLong = fmt.Errorf("the line is longer than %d bytes", maxLine)

// lineReader reads lines of bounded length.
type lineReader struct{ r *bufio.Reader }

func newLineReader(in io.Reader) *lineReader { return &lineReader{bufio.NewReaderSize(in, 64<<10)} }

// next gives the next line, without its end, in memory of its own. A last line without
// an end counts. A line that is too long is passed over; the error is errTooLong, and
// the line after it can be read.
func (l *lineReader) next() ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := l.r.ReadSlice('\n')
		if len(line)+len(bytes.TrimSuffix(part, []byte("\n"))) > maxLine {
			tooLong, line = true, nil
		}
		if !tooLong {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case tooLong:
			return nil, errTooLong // an error of the stream comes again with the next read
		case err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)):
			return nil, err
		}
		return bytes.TrimSuffix(line, []byte("\n")), nil
	}
}

// hasLine reports whether a whole line has been read ahead.
func (l *lineReader) hasLine() bool {
	ahead, _ := l.r.Peek(l.r.Buffered()) // as much is there
	return bytes.IndexByte(ahead, '\n') >= 0
}

// message is a JSON-RPC message as it came.
type message struct{ version, id, method, params, result, failure json.RawMessage }

// parseMessage reads a JSON object.
func parseMessage(line []byte) (m message) {
	for name, value := range jsondoc.Members(line) {
		switch name {
		case "jsonrpc":
			m.version = value
		case "id":
			m.id = value
		case "method":
			m.method = value
		case "params":
			m.params = value
		case "result":
			m.result = value
		case "error":
			m.failure = value
		}
	}
	return m
}

// parseLine reads a line. It gives the message, or nil where there is none, as in an empty
// line. Where the line is no message it gives the error to answer, and the id if there is one.
func parseLine(line []byte) (jsonrpc.Message, json.RawMessage, *jsonrpc.Error) {
	line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff"))) // some shells begin a file with the mark
	switch {
	case len(line) == 0:
		return nil, nil, nil
	case !json.Valid(line):
		return nil, nil, rpcError(jsonrpc.CodeParseError, "the message is not JSON: %s", cut(whyInvalid(line), 200))
	case line[0] == '[':
		return nil, nil, rpcError(jsonrpc.CodeInvalidRequest, "JSON-RPC batches are not supported: send one message a line")
	case line[0] != '{':
		return nil, nil, rpcError(jsonrpc.CodeInvalidRequest, "a message must be a JSON object")
	}
	m := parseMessage(line)
	id, idOK := parseID(m.id)
	if !idOK && m.id != nil {
		return nil, nil, rpcError(jsonrpc.CodeInvalidRequest, "the id must be a text or a whole number of at most 2^53")
	}
	if !utf8.Valid(line) {
		return nil, m.id, rpcError(jsonrpc.CodeParseError, "the message is not UTF-8")
	}
	if version, ok := parseText(m.version); !ok || version != "2.0" {
		return nil, m.id, rpcError(jsonrpc.CodeInvalidRequest, `"jsonrpc" must be "2.0"`)
	}
	if m.method == nil {
		if m.id != nil && (m.result != nil || m.failure != nil) {
			return parseAnswer(id, m), nil, nil
		}
		return nil, m.id, rpcError(jsonrpc.CodeInvalidRequest, `"method" is missing`)
	}
	method, ok := parseText(m.method)
	if !ok {
		return nil, m.id, rpcError(jsonrpc.CodeInvalidRequest, `"method" must be a text`)
	}
	if m.id != nil && m.params != nil && m.params[0] != '{' && string(m.params) != "null" {
		return nil, m.id, rpcError(jsonrpc.CodeInvalidParams, `"params" must be an object`)
	}
	return &jsonrpc.Request{ID: id, Method: method, Params: m.params}, m.id, nil
}

func whyInvalid(text []byte) string {
	var value json.RawMessage
	if err := json.Unmarshal(text, &value); err != nil {
		return err.Error()
	}
	return ""
}

// parseAnswer reads the answer to a request of the server. To one that is wrong in itself
// nobody answers.
func parseAnswer(id jsonrpc.ID, m message) *jsonrpc.Response {
	answer := &jsonrpc.Response{ID: id, Result: m.result}
	if m.failure == nil {
		return answer
	}
	var failure jsonrpc.Error
	if err := json.Unmarshal(m.failure, &failure); err != nil {
		failure.Message = "an error that is none: " + cut(string(m.failure), 200)
	}
	answer.Result, answer.Error = nil, &failure
	return answer
}

// parseText reads a text, a JSON value; most have nothing to unescape.
func parseText(raw json.RawMessage) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), true
	}
	var text string
	err := json.Unmarshal(raw, &text)
	return text, err == nil
}

// parseID reads an id, a JSON value. The SDK keeps numbers as whole ones, so others would come back
// as something else and are refused; so is null, which MCP does not allow.
func parseID(raw json.RawMessage) (jsonrpc.ID, bool) {
	var v any
	if text, ok := parseText(raw); ok {
		v = text
	} else if n, err := strconv.ParseFloat(string(raw), 64); err == nil && n == math.Trunc(n) && math.Abs(n) <= 1<<53 {
		v = n
	} else {
		return jsonrpc.ID{}, false
	}
	id, err := jsonrpc.MakeID(v)
	return id, err == nil
}

// cancelledID gives the id that a cancellation names.
func cancelledID(params json.RawMessage) (jsonrpc.ID, bool) {
	var p struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(params, &p) != nil {
		return jsonrpc.ID{}, false
	}
	return parseID(p.RequestID)
}

func rpcError(code int64, format string, args ...any) *jsonrpc.Error {
	return &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// maxErrorMessage is how many characters of an error's message are sent: the SDK
// quotes whole requests in some.
const maxErrorMessage = 1000

// encodeResponse gives the line of an answer. id is JSON; nil is null.
func encodeResponse(id json.RawMessage, result json.RawMessage, err error) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	line := make([]byte, 0, len(result)+len(id)+64)
	line = append(line, `{"jsonrpc":"2.0","id":`...)
	line = append(line, id...)
	if err == nil {
		line = append(line, `,"result":`...)
		line = append(line, result...)
	} else {
		// The SDK gives errors of its own without a code; all of them are about
		// requests that do not fit the state of the session.
		wire := jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest}
		var coded *jsonrpc.Error
		if errors.As(err, &coded) && coded.Code != 0 {
			wire.Code, wire.Data = coded.Code, coded.Data
		}
		wire.Message = cut(err.Error(), maxErrorMessage)
		if coded != nil && error(coded) == err {
			wire.Message = cut(coded.Message, maxErrorMessage)
		}
		line = append(line, `,"error":`...)
		text, failed := json.Marshal(wire)
		if failed != nil { // of its fields only Data can be what does not marshal
			wire.Data = nil
			text, _ = json.Marshal(wire)
		}
		line = append(line, text...)
	}
	return wellFormed(append(line, "}\n"...))
}

// encodeResult gives the line of an answer that is a result: what encoding/json makes of it, which
// looks at each value by reflection.
func encodeResult(id json.RawMessage, result *callResult) ([]byte, error) {
	line := bytes.NewBuffer(make([]byte, 0, 256))
	line.WriteString(`{"jsonrpc":"2.0","id":`)
	line.Write(id)
	line.WriteString(`,"result":{`)
	if len(result.Meta) > 0 {
		line.WriteString(`"_meta":`)
		line.Write(jsondoc.Marshal(result.Meta))
		line.WriteByte(',')
	}
	if result.ResultType != "" {
		line.WriteString(`"resultType":`)
		line.Write(jsondoc.AppendText(nil, result.ResultType))
		line.WriteByte(',')
	}
	line.WriteString(`"content":[`)
	for i, block := range result.Content {
		if i > 0 {
			line.WriteByte(',')
		}
		text, err := block.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("encoding a content block: %w", err)
		}
		line.Write(text)
	}
	line.WriteByte(']')
	if len(result.Structured) > 0 {
		line.WriteString(`,"structuredContent":`)
		if err := json.Compact(line, result.Structured); err != nil { // a line end in it would end the line
			return nil, fmt.Errorf("encoding the structured content: %w", err)
		}
	}
	if result.IsError {
		line.WriteString(`,"isError":true`)
	}
	line.WriteString("}}\n")
	return wellFormed(line.Bytes()), nil
}

// surrogates finds escapes in JSON text: a pair of surrogates, a lone one, or any other.
var surrogates = lazyregexp.New(`\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[dD][89a-fA-F][0-9a-fA-F]{2}|.)`)

// wellFormed gives JSON text in which all is UTF-8 and no surrogate stands alone, each
// fault replaced by U+FFFD: strict clients end the session over such a line. It is the
// last guard; the host's results are sound already. U+2028 and U+2029, which end lines for
// some readers such as that of Node.js, are escaped: they can be in texts only.
func wellFormed(line []byte) []byte {
	if !utf8.Valid(line) {
		line = bytes.ToValidUTF8(line, []byte("\ufffd"))
	}
	if bytes.Contains(line, []byte("\u2028")) || bytes.Contains(line, []byte("\u2029")) {
		line = bytes.ReplaceAll(line, []byte("\u2028"), []byte(`\u2028`))
		line = bytes.ReplaceAll(line, []byte("\u2029"), []byte(`\u2029`))
	}
	if !bytes.Contains(line, []byte(`\ud`)) && !bytes.Contains(line, []byte(`\uD`)) {
		return line
	}
	return surrogates.ReplaceAllFunc(line, func(escape []byte) []byte {
		if len(escape) == len(`\ud800`) {
			return []byte(`\ufffd`)
		}
		return escape
	})
}
