package node

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/dop251/goja"

	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
)

// exchange is one request and its response. script begins and aborts it, and operations
// carry it out, one after the other.
type exchange struct {
	scope *scope

	mu       sync.Mutex
	aborted  bool
	cancel   context.CancelFunc
	response *runtimes.Response
}

const (
	// maxExchanges is how many requests and responses one engine may have open.
	maxExchanges = 256
	// bodyChunk is how much of a body is read at a time.
	bodyChunk = 64 << 10
)

// loadFetch makes the library of fetch.
func loadFetch(e *engine) goja.Value {
	return fetchLibrary.load(e, e.object(map[string]any{
		"send":    e.sendRequest,
		"read":    e.readBody,
		"readAll": e.readWholeBody,
		"abort": func(c goja.FunctionCall) goja.Value { // (id)
			id := int(c.Argument(0).ToInteger())
			if x := e.api.exchanges[id]; x != nil {
				delete(e.api.exchanges, id)
				x.end()
			}
			return goja.Undefined()
		},
		"percentDecoded": func(c goja.FunctionCall) goja.Value { return e.uint8Array(percentDecoded(c.Argument(0).String())) },
		"text":           func(c goja.FunctionCall) goja.Value { return e.bodyText(e.mustBytes(c.Argument(0))) },
	}))
}

func loadBlob(e *engine) goja.Value {
	return blobLibrary.load(e, e.object(map[string]any{"uuid": func(goja.FunctionCall) goja.Value { return e.vm.ToValue(uuid()) }}))
}

// uuid makes a random one.
func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// fetch is the global fetch and ctx.fetch.
func (e *engine) fetch() goja.Value { return e.internal("fetch").ToObject(e.vm).Get("fetch") }

// sendRequest is (method, URL, headers, body, redirect) → [id, promise of the response's head].
// Headers are names and values in turn; the body is a Uint8Array or null.
func (e *engine) sendRequest(c goja.FunctionCall) goja.Value {
	request := &runtimes.Request{Method: c.Argument(0).String(), URL: c.Argument(1).String(), Header: http.Header{}, Redirect: c.Argument(4).String()}
	var pairs []goja.Value
	if err := e.vm.ExportTo(c.Argument(2), &pairs); err != nil {
		panic(err)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		request.Header.Add(pairs[i].String(), string(encodeText(textOf(pairs[i+1]), "latin1")))
	}
	if b, ok := e.bytes(c.Argument(3)); ok {
		request.Body = slices.Clone(b) // the script may change its own
		if request.Body == nil {
			request.Body = []byte{}
		}
	}
	if len(e.api.exchanges) >= maxExchanges {
		panic(e.newError("RangeError", "ERR_OUT_OF_RANGE", "more than %d requests and responses are open; read or cancel the body of each response", maxExchanges))
	}
	e.api.lastExchange++
	id, x := e.api.lastExchange, &exchange{scope: e.scope}
	if e.api.exchanges == nil {
		e.api.exchanges = map[int]*exchange{}
	}
	e.api.exchanges[id] = x
	grant, network, call := e.grant, e.services.Network, e.call
	promise := e.serve(func(ctx context.Context) (func() (goja.Value, error), error) {
		if ctx = x.begin(ctx); ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if call == nil {
			return nil, withoutCall("fetch", hostOf(request.URL))
		}
		if err := runtimes.CheckPlaceholders(call.Args, request); err != nil {
			return nil, err
		}
		response, err := network.Fetch(ctx, grant, request)
		if err != nil {
			x.end()
			return func() (goja.Value, error) {
				delete(e.api.exchanges, id)
				return nil, err
			}, nil
		}
		x.answer(ctx, response)
		return func() (goja.Value, error) { return e.responseHead(response), nil }, nil
	})
	return e.vm.NewArray(id, promise)
}

// withoutCall is why modules reach no host while they load.
func withoutCall(op, target string) error {
	return &permissions.DeniedError{Op: op, Target: target, Reason: "no call runs while a module loads: do it in the handler"}
}

func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Host
}

// begin gives the context of the exchange.
func (x *exchange) begin(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.cancel = cancel
	if x.aborted {
		cancel()
	}
	return ctx
}

// answer keeps the response. Its body is closed with the call.
func (x *exchange) answer(ctx context.Context, response *runtimes.Response) {
	context.AfterFunc(ctx, func() { _ = response.Body.Close() }) // its reader is told
	x.mu.Lock()
	defer x.mu.Unlock()
	x.response = response
}

// end aborts the exchange, or lets go of it.
func (x *exchange) end() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.aborted = true
	if x.cancel != nil {
		x.cancel()
	}
}

// body gives what is read of; nil where there is no response or no more of it.
func (x *exchange) body() io.Reader {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.response == nil {
		return nil
	}
	return x.response.Body
}

func (e *engine) responseHead(r *runtimes.Response) goja.Value {
	var raw []any
	names := make([]string, 0, len(r.Header))
	for name := range r.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range r.Header[name] {
			raw = append(raw, strings.ToLower(name), e.decodeText([]byte(strings.TrimSpace(value)), "latin1"))
		}
	}
	return e.vm.NewArray(r.Status, e.decodeText([]byte(r.StatusText), "latin1"), r.URL, r.Redirected, e.vm.NewArray(raw...))
}

// reading runs read for the body of an exchange, and gives a promise of what finish makes of it.
func (e *engine) reading(id int, read func(io.Reader) ([]byte, error), finish func([]byte) goja.Value) goja.Value {
	x := e.api.exchanges[id]
	return e.serve(func(ctx context.Context) (func() (goja.Value, error), error) {
		if x == nil || x.body() == nil {
			return nil, context.Canceled
		}
		data, err := read(x.body())
		over := errors.Is(err, io.EOF)
		if err != nil {
			x.end()
		}
		if err != nil && !over {
			if aborted := ctx.Err(); aborted != nil {
				err = aborted
			}
		}
		return func() (goja.Value, error) {
			if err != nil {
				delete(e.api.exchanges, id)
			}
			if err != nil && !over {
				return nil, err
			}
			return finish(data), nil
		}, nil
	})
}

// readBody is (id) → promise of a Uint8Array, null at the end.
func (e *engine) readBody(c goja.FunctionCall) goja.Value {
	return e.reading(int(c.Argument(0).ToInteger()), func(r io.Reader) ([]byte, error) {
		data := make([]byte, bodyChunk)
		for {
			n, err := r.Read(data)
			if n > 0 {
				if n < bodyChunk/2 {
					return bytes.Clone(data[:n]), nil // an error comes again with the next read
				}
				return data[:n:n], nil
			}
			if err != nil {
				return nil, err
			}
		}
	}, func(data []byte) goja.Value {
		if data == nil {
			return goja.Null()
		}
		return e.uint8Array(data)
	})
}

// readWholeBody is (id, as text) → promise of the rest of a body.
func (e *engine) readWholeBody(c goja.FunctionCall) goja.Value {
	asText := c.Argument(1).ToBoolean()
	return e.reading(int(c.Argument(0).ToInteger()), func(r io.Reader) ([]byte, error) {
		data, err := io.ReadAll(r)
		if err == nil {
			err = io.EOF
		}
		return data, err
	}, func(data []byte) goja.Value {
		if asText {
			return e.bodyText(data)
		}
		return e.uint8Array(slices.Clip(data))
	})
}

// bodyText decodes UTF-8, without a byte order mark.
func (e *engine) bodyText(data []byte) goja.Value {
	return e.text(bytes.TrimPrefix(data, []byte("\ufeff")))
}

// uint8Array makes a Uint8Array over b, which belongs to the VM from then on.
func (e *engine) uint8Array(b []byte) goja.Value {
	o, err := e.vm.New(e.vm.Get("Uint8Array"), e.vm.ToValue(e.vm.NewArrayBuffer(b)))
	if err != nil {
		panic(err)
	}
	return o
}

// closeExchanges ends those of a scope.
func (e *engine) closeExchanges(s *scope) {
	for id, x := range e.api.exchanges {
		if x.scope == s {
			delete(e.api.exchanges, id)
			x.end()
		}
	}
}

// percentDecoded decodes what is percent-encoded; a stray % stays.
func percentDecoded(text string) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if hi, lo := hexDigit(uint16(text[i+1])), hexDigit(uint16(text[i+2])); hi >= 0 && lo >= 0 {
				out = append(out, byte(hi<<4|lo))
				i += 2
				continue
			}
		}
		out = append(out, text[i])
	}
	return out
}
