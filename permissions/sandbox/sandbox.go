// Package sandbox runs a program so that the kernel holds it to what it was granted: files,
// network, limits, and no way to touch other processes.
//
//	func main() {
//		sandbox.Main() // first, in every program whose children are confined
//		…
//	}
//
//	cmd := exec.Command("/usr/bin/python3", "tool.py")
//	cmd.Env = []string{"LANG=C.UTF-8"}
//	child, err := sandbox.Confine(cmd, &sandbox.Rules{System: true, Read: []string{dir}}, sandbox.Require)
//	…
//	defer child.Close()
//	err = child.Start() // instead of cmd.Start
//	err = cmd.Wait()
//
// [Rules] say what is open; [FromGrant] makes them from what a call may touch, and a
// [Stage] takes what a call writes until the host has checked it. [Supported] says what the
// kernel of this machine enforces.
//
// On Linux the child is this same program, started anew: it takes the rules upon itself
// (Landlock for files, seccomp for the rest, resource limits) and then becomes the target.
// On macOS it runs under sandbox-exec. Elsewhere nothing can be enforced, and [Confine]
// refuses unless the mode is [Off].
package sandbox

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"time"

	"github.com/toolhost/toolhost/internal/shim"
)

// Mode says what happens where the kernel cannot enforce the rules.
type Mode int

const (
	// Require refuses to start a program whose rules cannot be enforced.
	Require Mode = iota
	// BestEffort enforces what can be, and starts the program in any case.
	BestEffort
	// Off enforces nothing.
	Off
)

// String gives the mode's name, as the --sandbox flag takes it.
func (m Mode) String() string {
	switch m {
	case Require:
		return "require"
	case BestEffort:
		return "best-effort"
	case Off:
		return "off"
	}
	return fmt.Sprintf("Mode(%d)", int(m))
}

// ParseMode gives the mode of a name: "require" (also ""), "best-effort" or "off".
func ParseMode(name string) (Mode, error) {
	switch name {
	case "require", "":
		return Require, nil
	case "best-effort":
		return BestEffort, nil
	case "off":
		return Off, nil
	}
	return Require, fmt.Errorf("the sandbox mode %q is none of require, best-effort, off", name)
}

// Rules are what a confined program may do. The zero value is the least: the program
// itself is run, and may open nothing. Paths are absolute; links in them are followed
// when the program is confined. What is missing then is passed over.
type Rules struct {
	Read  []string // files, and folders with all below them: content and listings
	List  []string // folders with all below them: listings only
	Write []string // folders: everything but running programs; files: reading and writing in place
	Exec  []string // files, and folders with all below them: reading and running
	// Private are folders of the program's own, which may be written like those of Write. A
	// program that may write nothing else cannot change modes and times: the kernel does
	// not look of which file.
	Private []string

	// System opens what programs need of the system: to run those of /usr, /bin, … with
	// their libraries, and to read time zones, certificates, fonts and the like.
	System bool
	// Temp gives the program a temporary folder of its own, TMPDIR, removed by [Child.Close].
	Temp bool
	// Sockets is a folder in which the program may listen at unix sockets; "" for none. It
	// may be written too. Nothing else lets the program use sockets, but for Dial.
	Sockets string
	// Dial makes the connections for which the program asks through a proxy (HTTP and CONNECT)
	// that its environment names; what it refuses is answered 403. It is called on many
	// goroutines. The program has no other network; with nil it has none.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	Limits Limits

	// exact are places that were checked one by one: links in them are not followed.
	exact exact
}

// exact are places without links.
type exact struct {
	files    []string // to read
	trees    []string // to read and list, with all below
	folders  []string // to list, with all folders below
	hidden   []string // folders below these, to be hidden
	unlisted []string // to list, but not all folders below
	writable []string // files to write in place
	run      []string // folders whose programs may be run, with all below
}

// Limits bound what a program may use. Zero stands for the default of each; negative for
// no limit but the system's.
type Limits struct {
	Memory    int64         // bytes of data (RLIMIT_DATA); default 1 GiB
	FileSize  int64         // bytes of the largest file it may write; default 1 GiB
	Files     int64         // open files; default 1024
	CPU       time.Duration // processor time; default none
	Processes int64         // processes and threads; default 512. Holds only in a namespace of its own
}

// Confine turns cmd into one that runs under rules. cmd.Path, Args, Env, Dir and the
// streams must be set before and not be changed after; a nil Env stands for an empty one,
// the host's own is never passed on. Use [Child.Start] instead of cmd.Start, and
// [Child.Close] in every case. nil rules are the zero Rules. With [Off] the program runs as
// it is, with its temporary folder and its environment alone.
//
// cmd.SysProcAttr may be set before; Confine adds to it. The program dies with the thread
// that started it, so start it from a goroutine that keeps its thread
// (runtime.LockOSThread) for as long as the program may live.
//
// The error is a *[UnavailableError] where the mode is Require and this machine cannot
// enforce the rules.
func Confine(cmd *exec.Cmd, rules *Rules, mode Mode) (*Child, error) {
	if rules == nil {
		rules = &Rules{}
	}
	return confine(cmd, rules, mode, Supported())
}

// UnavailableError says why rules cannot be enforced on this machine.
type UnavailableError struct {
	What string // what is needed: "Landlock", …
	Why  string // why it is not there
	Hint string // what to do about it
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("the sandbox is not available: %s: %s", e.What, e.Why)
}

// SetupError says at which step a program could not be started under its rules.
type SetupError struct {
	Step string // "starting", "landlock", "seccomp", …
	Path string // the program
	Err  error  // why; a syscall.Errno where the system said so
}

func (e *SetupError) Error() string {
	if e.Step == shim.StepExec {
		return fmt.Sprintf("starting %q: %v", e.Path, e.Err)
	}
	return fmt.Sprintf("starting %q in the sandbox: %s: %v", e.Path, e.Step, e.Err)
}

// Unwrap gives the cause.
func (e *SetupError) Unwrap() error { return e.Err }
