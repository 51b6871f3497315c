package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/dop251/goja"
)

// maxZipStreams is how many streams of node:zlib an engine may have open. Those that are not
// closed end with the call.
const maxZipStreams = 256

func tooLong(most int) error {
	return &scriptError{class: "RangeError", code: "ERR_BUFFER_TOO_LARGE", message: fmt.Sprintf("Cannot create a Buffer larger than %d bytes", most)}
}

// zipErrorValue is errorValue for what packing and unpacking give.
func (e *engine) zipErrorValue(err error) goja.Value {
	var z *zipError
	if !errors.As(err, &z) {
		return e.errorValue(err)
	}
	o := e.makeError("", z.message)
	_ = o.Set("errno", z.errno) // a fresh error takes any field
	_ = o.Set("code", z.code)
	return o
}

// zipOptions reads the options that zlib.js has checked.
func (e *engine) zipOptions(v goja.Value) zipOptions {
	o := v.ToObject(e.vm)
	options := zipOptions{format: zipFormat(o.Get("format").String()), unpack: o.Get("unpack").ToBoolean(), level: int(o.Get("level").ToInteger()),
		window: int(o.Get("window").ToInteger()), chunk: int(min(max(o.Get("chunk").ToInteger(), 1), maxChunkSize))}
	if d := optional(o.Get("dictionary")); d != nil {
		options.dictionary = bytes.Clone(e.mustBytes(d))
	}
	return options
}

func loadZlib(e *engine) goja.Value {
	return zlibLibrary.load(e, e.object(map[string]any{
		"maxBytes": maxBytes,
		// (options, bytes, flush, longest) → [ArrayBuffer, bytes used]
		"sync": func(c goja.FunctionCall) goja.Value {
			out, used, err := zipAll(e.callContext(), e.zipOptions(c.Argument(0)), e.mustBytes(c.Argument(1)), zipFlush(c.Argument(2).ToInteger()), int(c.Argument(3).ToInteger()))
			if err != nil {
				panic(e.zipErrorValue(err))
			}
			return e.vm.NewArray(e.vm.NewArrayBuffer(out), used)
		},
		// (callback(error, ArrayBuffer, bytes used), options, bytes, flush, longest)
		"start": func(c goja.FunctionCall) goja.Value {
			done, options, in := e.captureContext(c.Argument(0)), e.zipOptions(c.Argument(1)), bytes.Clone(e.mustBytes(c.Argument(2)))
			flush, most := zipFlush(c.Argument(3).ToInteger()), int(c.Argument(4).ToInteger())
			here := e.here()
			e.loop.start(func(ctx context.Context) func() error {
				out, used, err := zipAll(ctx, options, in, flush, most)
				if err != nil {
					return here(func() error { return e.macrotask(done, e.zipErrorValue(err)) })
				}
				return func() error {
					return e.macrotask(done, goja.Null(), e.vm.ToValue(e.vm.NewArrayBuffer(out)), e.vm.ToValue(used))
				}
			})
			return goja.Undefined()
		},
		"open": func(c goja.FunctionCall) goja.Value { return e.openZip(e.zipOptions(c.Argument(0))) },
		"crc32": func(c goja.FunctionCall) goja.Value { // (bytes, value so far)
			return e.vm.ToValue(crc32.Update(uint32(c.Argument(1).ToInteger()), crc32.IEEETable, e.mustBytes(c.Argument(0))))
		},
	}))
}

// openZip makes what a stream of node:zlib calls: feed(bytes, flush, last), then step(callback)
// or stepSync() until they say that the input is used up, and close() at the end.
func (e *engine) openZip(options zipOptions) goja.Value {
	if e.api.zipStreams.Load() >= maxZipStreams {
		panic(e.newError("RangeError", "ERR_OUT_OF_RANGE", "too many streams of node:zlib are open at once: %d; close those that are not needed", maxZipStreams))
	}
	z, err := newZipper(options)
	if err != nil {
		panic(e.zipErrorValue(err))
	}
	e.api.zipStreams.Add(1)
	s := &zipStream{z: z, closed: func() { e.api.zipStreams.Add(-1) }}
	stop := context.AfterFunc(e.callContext(), s.close)
	open := true
	step := func() (out []byte, done bool, used int64, err error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.z == nil {
			return nil, true, 0, nil
		}
		out, done, err = s.z.step()
		return out, done, s.z.consumed(), err
	}
	result := func(out []byte, done bool, used int64) []goja.Value {
		chunk := goja.Undefined()
		if len(out) > 0 {
			chunk = e.buffer(out)
		}
		return []goja.Value{goja.Null(), chunk, e.vm.ToValue(done), e.vm.ToValue(used)}
	}
	return e.object(map[string]any{
		"feed": func(c goja.FunctionCall) goja.Value {
			in := bytes.Clone(e.mustBytes(c.Argument(0))) // script may change it while it is read
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.z != nil {
				s.z.feed(in, zipFlush(c.Argument(1).ToInteger()), c.Argument(2).ToBoolean())
			}
			return goja.Undefined()
		},
		"step": func(c goja.FunctionCall) goja.Value { // (callback(error, chunk, done, bytes used))
			callback := e.captureContext(c.Argument(0))
			here := e.here()
			e.loop.start(func(context.Context) func() error {
				out, done, used, err := step()
				if err != nil {
					return here(func() error { return e.macrotask(callback, e.zipErrorValue(err)) })
				}
				return func() error { return e.macrotask(callback, result(out, done, used)...) }
			})
			return goja.Undefined()
		},
		"stepSync": func(goja.FunctionCall) goja.Value { // → [null, chunk, done, bytes used]
			out, done, used, err := step()
			if err != nil {
				panic(e.zipErrorValue(err))
			}
			list := result(out, done, used)
			return e.vm.NewArray(list[0], list[1], list[2], list[3])
		},
		"close": func(goja.FunctionCall) goja.Value {
			if open {
				open = false
				stop()
				// A step that runs may take a moment to its end, which the loop must not wait for.
				e.loop.start(func(context.Context) func() error {
					s.close()
					return func() error { return nil }
				})
			}
			return goja.Undefined()
		},
	})
}
