package node

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// api is what the JavaScript API keeps of one engine.
type api struct {
	started  time.Time             // when the engine was made
	internal map[string]goja.Value // libraries that only other libraries may require

	turn, capture goja.Callable // turns.js says what they are; nil until they are needed

	eval         goja.Value            // eval by another name; nil until it is touched
	newBuffer    goja.Callable         // ArrayBuffer → Buffer; nil until Buffer is touched
	cardHost     *goja.Object          // what the SDK of cards calls; nil until it is touched
	fileHost     *goja.Object          // what node:fs calls; nil until it is touched
	lazy         map[*goja.Object]bool // proxies that make members when they are touched
	exchanges    map[int]*exchange     // requests whose responses are not read to their ends
	lastExchange int
	sockets      map[int]*socket // open connections of node:net and node:tls
	lastSocket   int
	files        map[int]openFile // open file descriptors
	forgetTimer  func(id int)     // tells node:timers that a timer is gone; nil until it is touched
	zipStreams   atomic.Int32     // open streams of node:zlib
	async        asyncContext
	ticks        goja.Callable // runs what process.nextTick was given; nil until process is touched
	ticksWait    bool          // something was given to process.nextTick
	inCallback   bool          // the loop is calling a callback, and looks after ticks then
}

// native is a function that JavaScript calls. It throws by panicking with a value.
type native = func(goja.FunctionCall) goja.Value

var bytesType = reflect.TypeFor[[]byte]()

// callContext ends with the call whose script runs, and with the engine.
func (e *engine) callContext() context.Context {
	if s := e.scope; s != nil && s.ctx != nil {
		return s.ctx
	}
	return e.loop.ctx
}

// object makes an object of host functions and values, in the order of their names: a
// script may list them, and what it sees must not change from call to call.
func (e *engine) object(members map[string]any) *goja.Object {
	o := e.vm.NewObject()
	for _, name := range slices.Sorted(maps.Keys(members)) {
		_ = o.Set(name, members[name]) // a plain object
	}
	return o
}

// bytes gives the bytes of a Uint8Array, not copied; ok is false for anything else.
func (e *engine) bytes(v goja.Value) (b []byte, ok bool) {
	o, isObject := v.(*goja.Object)
	if !isObject || o.ExportType() != bytesType {
		return nil, false
	}
	b, ok = o.Export().([]byte)
	return b, ok
}

// mustBytes is bytes for what a library has made a Uint8Array already.
func (e *engine) mustBytes(v goja.Value) []byte {
	b, ok := e.bytes(v)
	if !ok {
		panic(e.vm.NewTypeError("not a Uint8Array"))
	}
	return b
}

// buffer makes a Buffer over b, which belongs to the VM from then on.
func (e *engine) buffer(b []byte) goja.Value {
	if e.api.newBuffer == nil {
		e.internal("buffer")
	}
	v, err := e.api.newBuffer(goja.Undefined(), e.vm.ToValue(e.vm.NewArrayBuffer(b)))
	if err != nil {
		panic(err)
	}
	return v
}

// text makes a string of UTF-8; each maximal part of an ill-formed sequence becomes
// U+FFFD, as the Encoding Standard says.
func (e *engine) text(b []byte) goja.Value {
	if utf8.Valid(b) {
		return e.vm.ToValue(string(b))
	}
	return e.vm.ToValue(string(repairUTF8(b)))
}

// apply calls a function of JavaScript from Go; what it throws is thrown on.
func (e *engine) apply(f goja.Callable, args ...goja.Value) goja.Value {
	v, err := f(goja.Undefined(), args...)
	if err != nil {
		panic(err)
	}
	return v
}

// newError makes an Error of Node's: kind is its class ("TypeError"), code its code.
func (e *engine) newError(kind, code, format string, args ...any) *goja.Object {
	nodeError, _ := goja.AssertFunction(e.internal("errors").ToObject(e.vm).Get("nodeError"))
	return e.apply(nodeError, e.vm.ToValue(kind), e.vm.ToValue(code), e.vm.ToValue(fmt.Sprintf(format, args...))).ToObject(e.vm)
}

// optional gives an argument, or nil where it is undefined or null.
func optional(v goja.Value) goja.Value {
	if v == nil || goja.IsUndefined(v) || goja.IsNull(v) {
		return nil
	}
	return v
}

// textOf gives a value as a string of JavaScript, surrogates as they are.
func textOf(v goja.Value) goja.String {
	s, _ := v.ToString().(goja.String) // every string of goja is one
	return s
}
