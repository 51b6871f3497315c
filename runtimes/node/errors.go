package node

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/dop251/goja"

	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
)

// scriptError is an error that Go code gives a script, with a class and a code of Node's.
type scriptError struct {
	class   string // "TypeError", "RangeError", …; "" is Error
	code    string // "ERR_INVALID_ARG_TYPE", …; may be empty
	message string
}

func (e *scriptError) Error() string { return e.message }

// errorValue turns an error of Go into a JavaScript Error with Node's code, errno,
// syscall and path where it is one of the file system, and into a PluginPermissionError
// where access was denied.
func (e *engine) errorValue(err error) goja.Value {
	var thrown *goja.Exception
	if errors.As(err, &thrown) {
		return thrown.Value()
	}
	o := e.errorObject(err)
	if len(e.origin) > 0 && len(e.vm.CaptureCallStack(1, nil)) == 0 {
		// Made between turns, so that no script is running: show where the script began the operation.
		if e.protect(func() { e.hidden(o, "stack", o.Get("stack").String()+framesText(e.origin)) }) != nil {
			return o
		}
	}
	return o
}

// here remembers where the script is that begins an operation, for the stack of the
// error which f may make in a later turn, and the call that it belongs to. What a call has
// begun that is over when its turn comes does not run.
func (e *engine) here() func(f func() error) func() error {
	const depth = 10
	origin, s := e.vm.CaptureCallStack(depth, nil), e.scope
	return func(f func() error) func() error {
		return func() error {
			e.origin = origin
			defer func() { e.origin = nil }()
			return e.loop.runIn(s, f)
		}
	}
}

func (e *engine) errorObject(err error) *goja.Object {
	var script *scriptError
	if errors.As(err, &script) {
		o := e.makeError(script.class, script.message)
		if script.code != "" {
			_ = o.Set("code", script.code) // a fresh error takes any field
		}
		return o
	}
	var lacking *runtimes.UnsupportedError
	if errors.As(err, &lacking) {
		o := e.makeError("", lacking.Error())
		_ = o.Set("code", "ERR_UNSUPPORTED_IN_HOST")
		return o
	}
	var network *runtimes.NetworkError
	if errors.As(err, &network) {
		return e.networkError(network)
	}
	var denied *permissions.DeniedError
	if errors.As(err, &denied) {
		o := e.makeError("", denied.Error())
		e.hidden(o, "name", "PluginPermissionError")
		_ = o.Set("code", "EACCES")
		_ = o.Set("op", denied.Op)
		_ = o.Set("target", denied.Target)
		return o
	}
	if sys := asSystemError(err); sys != nil {
		o := e.makeError("", sys.message())
		_ = o.Set("errno", -int(sys.errno))
		_ = o.Set("code", sys.code())
		_ = o.Set("syscall", sys.syscall)
		if sys.named {
			_ = o.Set("path", sys.path)
		}
		if sys.dest != "" {
			_ = o.Set("dest", sys.dest)
		}
		return o
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		o := e.makeError("", "The operation was aborted")
		e.hidden(o, "name", "AbortError")
		_ = o.Set("code", "ABORT_ERR")
		return o
	}
	return e.makeError("", err.Error())
}

// networkError gives an error of a connection the fields that Node gives it.
func (e *engine) networkError(n *runtimes.NetworkError) *goja.Object {
	o := e.makeError("", n.Message)
	set := func(name string, value any, have bool) {
		if have {
			_ = o.Set(name, value) // a fresh error takes any field
		}
	}
	set("errno", n.Errno, n.Errno != 0)
	set("code", n.Code, n.Code != "")
	set("syscall", n.Syscall, n.Syscall != "")
	set("hostname", n.Hostname, n.Hostname != "")
	set("address", n.Address, n.Address != "")
	set("port", n.Port, n.Port != 0)
	return o
}

// makeError makes a JavaScript error of a built-in class with the engine's own
// constructors, whatever a script has put in their place. "" is Error.
func (e *engine) makeError(class, message string) *goja.Object {
	e.takeErrors()
	var constructor goja.Value
	switch class {
	case "TypeError":
		constructor = e.pristine.typeError
	case "RangeError":
		constructor = e.pristine.rangeError
	case "SyntaxError":
		constructor = e.vm.Get("SyntaxError") // rare, and not worth having ready
	default:
		constructor = e.pristine.error
	}
	o, err := e.vm.New(constructor, e.vm.ToValue(message))
	if err != nil {
		panic(err) // only an interrupt: it ends the call
	}
	return o
}

// pristine holds what the host needs of JavaScript's own. JSON, by which results are shaped,
// is always taken before any code of a plugin runs: a script that runs sloppy reaches the
// globals through this, and can make up their names. The constructors of errors, which go
// to the script itself, are taken when the module loads where its text names them, else when
// the first is made, since making them is a good part of what a call costs.
type pristine struct {
	error, typeError, rangeError goja.Value
	stringify, parse             goja.Callable
}

func (e *engine) takeErrors() {
	if e.pristine.error == nil {
		g := e.vm.GlobalObject()
		e.pristine.error, e.pristine.typeError, e.pristine.rangeError = g.Get("Error"), g.Get("TypeError"), g.Get("RangeError")
	}
}

func (e *engine) takeJSON() {
	if e.pristine.stringify == nil {
		json := e.vm.GlobalObject().Get("JSON").ToObject(e.vm)
		e.pristine.stringify, _ = goja.AssertFunction(json.Get("stringify"))
		e.pristine.parse, _ = goja.AssertFunction(json.Get("parse"))
	}
}

// replaceRegExp makes the engine's own RegExp way for the one among the lazy globals, which is made from it.
func (e *engine) replaceRegExp() { _ = e.vm.GlobalObject().Delete("RegExp") }

// ownNames says what of the engine's own a script may touch by name.
type ownNames struct {
	errors, regexp, json bool
	statics              bool // what RegExp keeps of the last match
}

// ownNamesIn looks through the text of a script, and how it reaches members.
func ownNamesIn(code string, c computed) ownNames {
	all := makesNames(code)
	named := func(words ...string) bool {
		return all || slices.ContainsFunc(words, func(word string) bool { return strings.Contains(code, word) })
	}
	return ownNames{
		errors: named("Error", ".constructor"), regexp: named("RegExp", ".constructor"),
		json:    c.names || named("JSON", "constructor"),
		statics: statics.MatchString(code),
	}
}

// takeOwn readies the engine for a script.
func (e *engine) takeOwn(names ownNames) {
	if names.json {
		e.takeJSON()
	}
	if names.errors {
		e.takeErrors()
	}
	if names.regexp {
		e.replaceRegExp()
	}
	if names.statics {
		e.internal("regexp") // before the first match
	}
}

// hidden sets a property that enumeration does not show.
func (e *engine) hidden(o *goja.Object, name string, v any) {
	_ = o.DefineDataProperty(name, e.vm.ToValue(v), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE)
}

// systemError is an error of the operating system as Node tells it.
type systemError struct {
	errno      syscall.Errno
	syscall    string
	path, dest string
	named      bool // the operation was on a path, which may be the empty text
}

// asSystemError finds an error of the operating system in err; nil where there is none.
func asSystemError(err error) *systemError {
	s := &systemError{}
	var path *fs.PathError
	var link *os.LinkError
	var call *os.SyscallError
	switch {
	case errors.As(err, &link):
		s.syscall, s.path, s.dest = link.Op, link.Old, link.New
	case errors.As(err, &path):
		s.syscall, s.path = path.Op, path.Path
	case errors.As(err, &call):
		s.syscall = call.Syscall
	}
	if !errors.As(err, &s.errno) {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			s.errno = syscall.ENOENT
		case errors.Is(err, fs.ErrExist):
			s.errno = syscall.EEXIST
		case errors.Is(err, fs.ErrPermission):
			s.errno = syscall.EACCES
		case errors.Is(err, fs.ErrClosed):
			s.errno = syscall.EBADF
		default:
			return nil
		}
	}
	if name, ok := nodeSyscalls[s.syscall]; ok {
		s.syscall = name
	}
	s.named = s.path != "" || link != nil || path != nil && !slices.Contains(fileSyscalls, s.syscall)
	return s
}

// fileSyscalls are operations on an open file, whose errors name no path.
var fileSyscalls = []string{"close", "fchmod", "fchown", "fdatasync", "fstat", "fsync", "ftruncate", "futime", "read", "seek", "write", ""}

// nodeSyscalls gives Node's name of an operation where Go has another.
var nodeSyscalls = map[string]string{
	"openat": "open", "openfdat": "open", "newfstatat": "stat", "fstatat": "stat", "statat": "stat", "lstatat": "lstat",
	"mkdirat": "mkdir", "unlinkat": "unlink", "remove": "unlink", "removeall": "rm", "RemoveAll": "rm", "renameat": "rename",
	"readdir": "scandir", "readdirent": "scandir", "fdopendir": "scandir", "getdents": "scandir", "readlinkat": "readlink",
	"linkat": "link", "symlinkat": "symlink", "chtimes": "utime", "utimensat": "utime", "truncate": "ftruncate",
	"chmodat": "chmod", "fchmodat": "chmod",
}

// message gives the text that Node gives: `ENOENT: no such file or directory, open 'x'`.
func (s *systemError) message() string {
	text := s.code() + ": " + s.description()
	if s.syscall != "" {
		text += ", " + s.syscall
	}
	if s.named {
		text += " '" + s.path + "'"
	}
	if s.dest != "" {
		text += " -> '" + s.dest + "'"
	}
	return text
}

func (s *systemError) code() string {
	if t, ok := systemErrors[s.errno]; ok {
		code, _, _ := strings.Cut(t, ": ")
		return code
	}
	return "UNKNOWN"
}

func (s *systemError) description() string {
	if t, ok := systemErrors[s.errno]; ok {
		_, text, _ := strings.Cut(t, ": ")
		return text
	}
	return s.errno.Error()
}

// systemErrors are the codes and texts of libuv, which Node shows.
var systemErrors = map[syscall.Errno]string{
	syscall.E2BIG:        "E2BIG: argument list too long",
	syscall.EACCES:       "EACCES: permission denied",
	syscall.EAGAIN:       "EAGAIN: resource temporarily unavailable",
	syscall.EBADF:        "EBADF: bad file descriptor",
	syscall.EBUSY:        "EBUSY: resource busy or locked",
	syscall.ECANCELED:    "ECANCELED: operation canceled",
	syscall.ECONNREFUSED: "ECONNREFUSED: connection refused",
	syscall.ECONNRESET:   "ECONNRESET: connection reset by peer",
	syscall.EEXIST:       "EEXIST: file already exists",
	syscall.EFAULT:       "EFAULT: bad address in system call argument",
	syscall.EFBIG:        "EFBIG: file too large",
	syscall.EHOSTUNREACH: "EHOSTUNREACH: host is unreachable",
	syscall.EINTR:        "EINTR: interrupted system call",
	syscall.EINVAL:       "EINVAL: invalid argument",
	syscall.EIO:          "EIO: i/o error",
	syscall.EISDIR:       "EISDIR: illegal operation on a directory",
	syscall.ELOOP:        "ELOOP: too many symbolic links encountered",
	syscall.EMFILE:       "EMFILE: too many open files",
	syscall.EMLINK:       "EMLINK: too many links",
	syscall.ENAMETOOLONG: "ENAMETOOLONG: name too long",
	syscall.ENFILE:       "ENFILE: file table overflow",
	syscall.ENODEV:       "ENODEV: no such device",
	syscall.ENOENT:       "ENOENT: no such file or directory",
	syscall.ENOMEM:       "ENOMEM: not enough memory",
	syscall.ENOSPC:       "ENOSPC: no space left on device",
	syscall.ENOSYS:       "ENOSYS: function not implemented",
	syscall.ENOTDIR:      "ENOTDIR: not a directory",
	syscall.ENOTEMPTY:    "ENOTEMPTY: directory not empty",
	syscall.ENOTSUP:      "ENOTSUP: operation not supported on socket",
	syscall.ENXIO:        "ENXIO: no such device or address",
	syscall.EPERM:        "EPERM: operation not permitted",
	syscall.EPIPE:        "EPIPE: broken pipe",
	syscall.EROFS:        "EROFS: read-only file system",
	syscall.ESPIPE:       "ESPIPE: invalid seek",
	syscall.ETIMEDOUT:    "ETIMEDOUT: connection timed out",
	syscall.ETXTBSY:      "ETXTBSY: text file is busy",
	syscall.EXDEV:        "EXDEV: cross-device link not permitted",
}

// systemErrorList gives [[-number, [name, text]], …], in the order of the numbers.
func (e *engine) systemErrorList() goja.Value {
	numbers := slices.SortedFunc(maps.Keys(systemErrors), func(a, b syscall.Errno) int { return int(a) - int(b) })
	list := make([]any, len(numbers))
	for i, n := range numbers {
		code, text, _ := strings.Cut(systemErrors[n], ": ")
		list[i] = e.vm.NewArray(-int(n), e.vm.NewArray(code, text))
	}
	return e.vm.NewArray(list...)
}
