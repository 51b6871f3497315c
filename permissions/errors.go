package permissions

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
)

// ErrDenied is wrapped by every *DeniedError.
var ErrDenied = errors.New("permission denied")

// DeniedError says which access was refused, and which line of the manifest would allow it.
// It tells nothing of whether the target exists. It matches fs.ErrPermission and
// syscall.EACCES too.
type DeniedError struct {
	Op     string // "read", "write", "list", "stat", "env", "fetch", …: the word of the manifest
	Target string // the path, host or name as the handler wrote it
	Rule   string // the manifest line that would allow it, such as `"permissions": {"fs": {"read": {"folder": true}}}`; "" where none would
	Reason string // why: "the call has ended", `the deny rule "**/.env" closes it`; "" where the manifest declares nothing for it
}

// acts gives an access as a message says it.
var acts = map[string]string{
	"read":  "reading",
	"write": "writing",
	"list":  "listing",
	"stat":  "looking at",
	"env":   "reading the environment variable",
	"fetch": "connecting to",
	"net":   "connecting to",
}

// Error says what was refused, why, and, where a line of the manifest would allow it,
// which one, and that only the user can grant it.
func (e *DeniedError) Error() string {
	act := acts[e.Op]
	if act == "" {
		act = e.Op
	}
	if e.Target != "" {
		act += fmt.Sprintf(" %q", e.Target)
	}
	reason := e.Reason
	if reason == "" {
		reason = "the plugin's manifest declares no permission for it"
	}
	text := fmt.Sprintf("%s is not allowed: %s", act, reason)
	if e.Rule != "" {
		text += fmt.Sprintf(". %s in the plugin's manifest would allow it%s; only the user can grant that, by changing the manifest and agreeing to it (toolhost consent approve)", e.Rule, e.narrower())
	}
	return text
}

// narrower names the rule that opens less than e.Rule and is often enough; "" where there is
// none, or where the manifest has it already and the arguments named something else.
func (e *DeniedError) narrower() string {
	if !strings.HasSuffix(e.Rule, folderRule) || strings.HasPrefix(e.Reason, notNamed) {
		return ""
	}
	return ` ("parameter" instead of "folder" is enough where the arguments of the call name it)`
}

// Unwrap gives ErrDenied.
func (e *DeniedError) Unwrap() error { return ErrDenied }

// Is reports whether target is one of the errors by which the standard library knows a
// refused access.
func (e *DeniedError) Is(target error) bool {
	return target == fs.ErrPermission || target == error(syscall.EACCES)
}

// ArgumentError says that an argument names a place that no call may touch.
type ArgumentError struct {
	Argument Argument
	Reason   string
}

func (e *ArgumentError) Error() string {
	return fmt.Sprintf("argument %s: %q %s", e.Argument.Pointer, shorten(e.Argument.Value), e.Reason)
}

// TooLargeError says that a file is over the limit of a read. It wraps syscall.EFBIG.
type TooLargeError struct {
	Size  int64 // at least so many bytes
	Limit int64
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the file has %d bytes, and at most %d are read at once", e.Size, e.Limit)
}

// Unwrap gives syscall.EFBIG.
func (e *TooLargeError) Unwrap() error { return syscall.EFBIG }

// shorten keeps a hostile text from filling a message.
func shorten(s string) string {
	const longest = 300
	if len(s) <= longest {
		return s
	}
	return strings.ToValidUTF8(s[:longest], "") + "…"
}
