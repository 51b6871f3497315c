package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"github.com/toolhost/toolhost/permissions"
)

func TestErrorValue(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		want string
	}{
		"missing":   {&fs.PathError{Op: "open", Path: "x.txt", Err: syscall.ENOENT}, "Error: ENOENT: no such file or directory, open 'x.txt'|ENOENT|-2|open|x.txt|"},
		"wrapped":   {fmt.Errorf("reading: %w", &fs.PathError{Op: "openat", Path: "x", Err: syscall.EISDIR}), "Error: EISDIR: illegal operation on a directory, open 'x'|EISDIR|-21|open|x|"},
		"two paths": {&os.LinkError{Op: "rename", Old: "a", New: "b", Err: syscall.EXDEV}, "Error: EXDEV: cross-device link not permitted, rename 'a' -> 'b'|EXDEV|-18|rename|a|b"},
		"listing":   {&fs.PathError{Op: "readdirent", Path: "d", Err: syscall.ENOTDIR}, "Error: ENOTDIR: not a directory, scandir 'd'|ENOTDIR|-20|scandir|d|"},
		"no number": {&fs.PathError{Op: "open", Path: "x", Err: fs.ErrNotExist}, "Error: ENOENT: no such file or directory, open 'x'|ENOENT|-2|open|x|"},
		"closed":    {&fs.PathError{Op: "read", Path: "", Err: fs.ErrClosed}, "Error: EBADF: bad file descriptor, read|EBADF|-9|read||"},
		"denied":    {&permissions.DeniedError{Op: "read", Target: "/etc/passwd", Rule: `"permissions": {}`}, "PluginPermissionError: " + (&permissions.DeniedError{Op: "read", Target: "/etc/passwd", Rule: `"permissions": {}`}).Error() + "|EACCES||||"},
		"no name":   {&fs.PathError{Op: "open", Path: "", Err: syscall.ENOENT}, "Error: ENOENT: no such file or directory, open ''|ENOENT|-2|open||"},
		"script":    {&scriptError{class: "TypeError", code: "ERR_INVALID_ARG_TYPE", message: "no"}, "TypeError: no|ERR_INVALID_ARG_TYPE||||"},
		"aborted":   {context.Canceled, "AbortError: The operation was aborted|ABORT_ERR||||"},
		"plain":     {errors.New("plain"), "Error: plain|||||"},
	} {
		t.Run(name, func(t *testing.T) {
			e := testEngine()
			// What a script did to the constructors does not matter.
			if _, err := e.vm.RunString("globalThis.Error = globalThis.TypeError = null"); err != nil {
				t.Fatal(err)
			}
			if err := e.vm.Set("x", e.errorValue(tt.err)); err != nil {
				t.Fatal(err)
			}
			v, err := e.vm.RunString("[String(x), x.code, x.errno, x.syscall, x.path, x.dest].join('|')")
			if err != nil {
				t.Fatal(err)
			}
			if got := v.String(); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}
