package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/dop251/goja"

	"github.com/toolhost/toolhost/internal/lazyregexp"
)

// maxMessage is how many UTF-16 units of a thrown message reach the agent.
const maxMessage = 64 << 10

// exitError ends a call in which process.exit was called.
type exitError struct{ code int }

func (e *exitError) Error() string {
	return fmt.Sprintf("the handler called process.exit(%d)", e.code)
}

// exit ends the call as failed. The script does not run on.
func (e *engine) exit(code int) { e.vm.Interrupt(&exitError{code}) }

// failure is how a script failed: what the agent reads, and the stack for the log.
type failure struct {
	message string
	stack   string // in the author's files; may be empty
}

// topFrame is the first line of a stack that shows a place in a file of the plugin.
var topFrame = lazyregexp.New(`(?m)^    at (?:.* \()?([^():]+):(\d+):(\d+)\)?$`)

// top gives the author's file, line and column where it was thrown.
func (f *failure) top() (file string, line, column int, ok bool) {
	m := topFrame.FindStringSubmatch(f.stack)
	if m == nil {
		return "", 0, 0, false
	}
	line, _ = strconv.Atoi(m[2])
	column, _ = strconv.Atoi(m[3])
	return m[1], line, column, true
}

func (f *failure) Error() string { return f.message }

// attributes are those of its log line.
func (f *failure) attributes() []any {
	if f.stack == "" {
		return []any{"err", f.message}
	}
	return []any{"err", f.message, "stack", f.stack}
}

// failureOf says how a script failed, by the error that goja gave. An error that is not
// the script's doing comes back as it is.
func (e *engine) failureOf(err error) error {
	var interrupted *goja.InterruptedError
	var overflow *goja.StackOverflowError
	var thrown *goja.Exception
	switch {
	case errors.As(err, &interrupted):
		cause := interrupted.Unwrap()
		switch {
		case cause == nil:
			return err
		case errors.Is(cause, context.DeadlineExceeded):
			return &lateError{cause, e.authorStack(framesText(interrupted.Stack()))}
		}
		return cause
	case errors.As(err, &overflow):
		const message = "RangeError: Maximum call stack size exceeded"
		return &failure{message: message, stack: e.authorStack(message + "\n" + framesText(overflow.Stack()))}
	case errors.As(err, &thrown):
		f := e.thrown(thrown.Value())
		if f.stack == "" {
			f.stack = e.authorStack(framesText(thrown.Stack()))
		}
		return f
	}
	return err
}

// lateError is that a script ran past its deadline, and where it was when it was stopped.
type lateError struct {
	cause error
	stack string // in the author's files; "" where it was in none
}

func (e *lateError) Error() string { return e.cause.Error() }

func (e *lateError) Unwrap() error { return e.cause }

// logStopped says in the log where the code is that ran past its deadline: all that the answer
// can say, which does not wait for it, is that it did.
func logStopped(log *slog.Logger, err error) {
	var late *lateError
	if errors.As(err, &late) && late.stack != "" {
		log.Warn("the handler was stopped", "err", late.cause, "stack", late.stack)
	}
}

// thrown describes a thrown value.
func (e *engine) thrown(v goja.Value) *failure {
	f := &failure{}
	if err := e.protect(func() { f.message = e.message(v, 0) }); err != nil || strings.TrimSpace(f.message) == "" {
		f.message = "the handler threw a value that cannot be described"
	}
	if o, ok := v.(*goja.Object); ok {
		if e.protect(func() { f.stack = e.stackOf(o, 0) }) != nil {
			f.stack = ""
		}
	}
	return f
}

// maxCauses is how many errors below an error the log shows.
const maxCauses = 5

// stackOf gives an error's stack, and below it those of its causes. It may throw.
func (e *engine) stackOf(o *goja.Object, depth int) string {
	s, ok := o.Get("stack").(goja.String)
	if !ok || s.Length() >= 4*maxStackText {
		return ""
	}
	stack := e.authorStack(s.String())
	cause := o.Get("cause")
	if stack == "" || depth == maxCauses || optional(cause) == nil {
		return stack
	}
	below := ""
	if c, ok := cause.(*goja.Object); ok {
		below = e.stackOf(c, depth+1)
	}
	if below == "" {
		below = e.message(cause, 1)
	}
	return stack + "\n  [cause]: " + strings.ReplaceAll(below, "\n", "\n  ")
}

// message gives the text of a thrown value: an error's message, else what there is. It
// runs getters, so that it may throw.
func (e *engine) message(v goja.Value, depth int) string {
	switch {
	case v == nil || goja.IsUndefined(v):
		return "the handler threw undefined"
	case goja.IsNull(v):
		return "the handler threw null"
	}
	if s, ok := v.(*goja.Symbol); ok {
		return fmt.Sprintf("the handler threw Symbol(%s)", cutString(s))
	}
	o, ok := v.(*goja.Object)
	if !ok {
		if s := cutString(v); strings.TrimSpace(s) != "" {
			return s
		}
		return "the handler threw an empty text"
	}
	if m := o.Get("message"); m != nil && !goja.IsUndefined(m) && !goja.IsNull(m) {
		if s := cutString(m); strings.TrimSpace(s) != "" {
			return s
		}
	}
	if parts := e.aggregated(o, depth); len(parts) > 0 {
		return strings.Join(parts, "; ")
	}
	name := "object"
	if n, ok := o.Get("name").(goja.String); ok && n.Length() > 0 {
		name = cutString(n)
	}
	if s, ok := o.Get("code").(goja.String); ok && s.Length() > 0 {
		return fmt.Sprintf("the handler threw %s without a message (code %s)", name, cutString(s))
	}
	if s := e.shown(o); s != "" {
		return "the handler threw " + s
	}
	return fmt.Sprintf("the handler threw %s without a message", name)
}

// shown gives a plain object or a list as JSON, such as the body of an answer that a
// handler throws; "" for an error, and for what JSON has nothing of, or too much.
func (e *engine) shown(o *goja.Object) string {
	if c := o.ClassName(); c != "Object" && c != "Array" {
		return ""
	}
	var text goja.Value
	if e.protect(func() { text = e.stringify(o, maxMessage) }) != nil {
		return ""
	}
	s, ok := text.(goja.String)
	if !ok || s.Length() > maxMessage || s.Length() <= len("{}") {
		return ""
	}
	return cutString(s)
}

// aggregated gives the messages of the errors that an AggregateError holds: the one of
// Promise.any has no message of its own in this engine.
func (e *engine) aggregated(o *goja.Object, depth int) []string {
	list, ok := o.Get("errors").(*goja.Object)
	if !ok || list.ClassName() != "Array" || depth > 1 {
		return nil
	}
	var parts []string
	for i := range 5 {
		item := list.Get(fmt.Sprint(i))
		if item == nil {
			break
		}
		parts = append(parts, e.message(item, depth+1))
	}
	return parts
}

// cutString gives a value as text, cut where it is long. Lone surrogates become U+FFFD.
func cutString(v goja.Value) string {
	s, ok := v.ToString().(goja.String)
	if !ok {
		return v.String()
	}
	if s.Length() > maxMessage {
		return s.Substring(0, maxMessage).String() + "…"
	}
	return s.String()
}

// protect runs Go code that may run script code, from outside the engine, and gives what
// that threw. A panic of Go comes back as an error too.
func (e *engine) protect(f func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panicError(v)
		}
	}()
	if thrown := e.vm.Try(f); thrown != nil {
		return thrown
	}
	return nil
}

// panicError turns what was recovered into an error: goja panics with errors of its own
// where a script must not go on.
func panicError(v any) error {
	if err, ok := v.(error); ok {
		var interrupted *goja.InterruptedError
		var overflow *goja.StackOverflowError
		if errors.As(err, &interrupted) || errors.As(err, &overflow) {
			return err
		}
	}
	return &internalError{v}
}

// internalError is a panic of Go code below a script.
type internalError struct{ value any }

func (e *internalError) Error() string { return fmt.Sprintf("internal error: %v", e.value) }
