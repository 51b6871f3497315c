package mounted

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	// maxBody bounds an answer that is one JSON document, and one event of a stream.
	maxBody = 16 << 20
	// leastRetry is the least time after which a stream that has ended is taken up again: the SDK
	// waits as long as the server says, which may be next to nothing, and as often as it likes.
	leastRetry = 100 * time.Millisecond
)

// document is an answer that is one JSON document. Its message passes the gate.
type document struct {
	gate *gate
	body io.ReadCloser
	out  *bytes.Reader // nil until it is asked for
}

func (d *document) Read(p []byte) (int, error) {
	if d.out == nil {
		raw, err := io.ReadAll(io.LimitReader(d.body, maxBody+1))
		if err == nil && len(raw) > maxBody {
			err = fmt.Errorf("its answer is larger than %d bytes", maxBody)
		}
		if err != nil {
			return 0, err
		}
		if passed, changed := d.gate.passRaw(raw); changed && passed != nil {
			raw = passed
		}
		d.out = bytes.NewReader(raw)
	}
	return d.out.Read(p)
}

func (d *document) Close() error { return d.body.Close() }

// events is a stream of server-sent events. Their messages pass the gate.
type events struct {
	gate *gate
	body io.Closer
	in   *bufio.Reader
	out  []byte // what is left of an event that is being handed on
	err  error  // what comes after it
}

func newEvents(g *gate, body io.ReadCloser) *events {
	return &events{gate: g, body: body, in: bufio.NewReader(body)}
}

func (e *events) Read(p []byte) (int, error) {
	for len(e.out) == 0 {
		if e.err != nil {
			return 0, e.err
		}
		e.out, e.err = e.next()
	}
	n := copy(p, e.out)
	e.out = e.out[n:]
	return n, nil
}

func (e *events) Close() error { return e.body.Close() }

// next reads an event and gives it as the SDK is to get it.
func (e *events) next() ([]byte, error) {
	var whole, others, data []byte // the event as it came; its lines but those of data; its data
	message := true                // by its name
	for {
		line, err := readLine(e.in, maxBody-len(whole))
		if errors.Is(err, errLongLine) {
			return nil, fmt.Errorf("it sent an event of more than %d bytes", maxBody)
		}
		if name, value, _ := bytes.Cut(line, []byte(":")); string(name) == "retry" && isSoon(value) {
			line = fmt.Appendf(nil, "retry: %d\n", leastRetry.Milliseconds())
		}
		whole = append(whole, line...)
		plain := bytes.TrimRight(line, "\r\n")
		if len(plain) == 0 {
			return e.pass(whole, others, data, message), err
		}
		switch name, value, _ := bytes.Cut(plain, []byte(":")); string(name) {
		case "data":
			data = append(append(data, bytes.TrimSpace(value)...), '\n')
		case "event":
			value = bytes.TrimSpace(value)
			message = len(value) == 0 || string(value) == "message"
			fallthrough
		default:
			others = append(append(others, plain...), '\n')
		}
		if err != nil {
			return e.pass(whole, others, data, message), err
		}
	}
}

// isSoon reports whether the SDK would wait for less than leastRetry. What is no time, or none
// at all, has it wait for a second or two, and what is too long for it may come out short.
func isSoon(retry []byte) bool {
	n, err := strconv.ParseInt(string(bytes.TrimSpace(retry)), 10, 64)
	wait := time.Duration(n) * time.Millisecond
	return err == nil && wait > 0 && wait < leastRetry
}

func (e *events) pass(whole, others, data []byte, message bool) []byte {
	if !message || len(data) == 0 {
		return whole
	}
	passed, changed := e.gate.passRaw(data)
	switch {
	case !changed:
		return whole
	case passed == nil:
		return append(others, '\n') // its id still says where the stream can be taken up
	}
	return fmt.Appendf(others, "data: %s\n\n", passed)
}

// passRaw is pass for a message that has not been read yet. What is no message is not
// changed: the SDK says what is wrong with it.
func (g *gate) passRaw(raw []byte) (passed []byte, changed bool) {
	msg, err := jsonrpc.DecodeMessage(raw)
	if err != nil {
		return nil, false
	}
	switch out := g.pass(msg); out {
	case msg:
		return nil, false
	case nil:
		return nil, true
	default:
		passed, err := jsonrpc.EncodeMessage(out)
		if err != nil {
			return nil, false
		}
		// In a text of JSON a line ends only between values.
		return bytes.ReplaceAll(passed, []byte("\n"), []byte(" ")), true
	}
}

// readLine reads one line, with its end. One without an end must not be waited for.
func readLine(in *bufio.Reader, limit int) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > limit {
			return nil, errLongLine
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}
