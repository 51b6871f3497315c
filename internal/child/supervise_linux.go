package child

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"

	"github.com/toolhost/toolhost/permissions/sandbox"
)

// supervisorName is the name by which this program, started again, knows that it is to
// be a supervisor.
const supervisorName = "toolhost-supervisor"

const (
	// signalled is added to the number of the signal that ended the child.
	signalled = 128
	// setChildSubreaper is PR_SET_CHILD_SUBREAPER, which package syscall lacks.
	setChildSubreaper = 36
	// notStarted is the status where the child could not be started.
	notStarted = 125
)

// Main must be the first thing that main does in every program that starts children, also
// in a test's TestMain. In a process that was started to confine or to supervise a child
// it does that and does not return; else it does nothing. It calls [sandbox.Main].
func Main() {
	sandbox.Main()
	if len(os.Args) >= 4 && os.Args[0] == supervisorName {
		os.Exit(supervise(os.Args[1], os.Args[2], os.Args[3:]))
	}
}

// supervise runs a child, and ends it and all its descendants once it has ended, or once
// the other end of the lifeline is closed.
func supervise(lifelineFD, path string, argv []string) int {
	runtime.LockOSThread() // the child dies with the thread that started it
	fd, err := strconv.Atoi(lifelineFD)
	if err == nil {
		// Whoever loses its parent below us becomes our child.
		_, _, failed := syscall.RawSyscall6(syscall.SYS_PRCTL, setChildSubreaper, 1, 0, 0, 0, 0)
		if failed != 0 {
			err = failed
		}
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "toolhost: supervising: %v\n", err)
		return notStarted
	}
	syscall.CloseOnExec(fd)
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT)

	files := []*os.File{os.Stdin, os.Stdout, os.Stderr}
	for i := 3; i < fd; i++ {
		files = append(files, os.NewFile(uintptr(i), ""))
	}
	child, err := os.StartProcess(path, argv, &os.ProcAttr{Env: os.Environ(), Files: files, Sys: attributes()})
	if err != nil {
		fmt.Fprintf(os.Stderr, "toolhost: starting: %v\n", err)
		return notStarted
	}
	for _, f := range files {
		_ = f.Close() // the pipes must end with the child
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.NewFile(uintptr(fd), "lifeline")) // until its other end is closed
		killDescendants(os.Getpid())
		_ = syscall.Kill(child.Pid, syscall.SIGKILL)
	}()
	go func() {
		for range asked {
			_ = syscall.Kill(-child.Pid, syscall.SIGTERM)
		}
	}()
	code, over := 0, false
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil: // nobody is left
			return code
		case pid == child.Pid && status.Signaled():
			code, over = signalled+int(status.Signal()), true
		case pid == child.Pid:
			code, over = status.ExitStatus(), true
		}
		if over {
			killDescendants(os.Getpid())
		}
	}
}
