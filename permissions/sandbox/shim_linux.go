//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Main turns this process into the confined program where it was started for that, and
// then does not return. Otherwise it returns at once. It must be the first thing that main
// (and TestMain, where a test confines programs) does.
func Main() {
	if len(os.Args) != 2 || os.Args[0] != shimName {
		return
	}
	// All of it happens to one thread. The others end when it becomes the program.
	runtime.LockOSThread()
	fd, err := strconv.Atoi(os.Args[1])
	if err != nil || fd < 3 {
		fmt.Fprintf(os.Stderr, "%s: started by hand; it is for toolhost to start\n", shimName)
		os.Exit(exitSetup)
	}
	p, err := readPolicy(fd)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: reading the policy: %v\n", shimName, err)
		os.Exit(exitSetup)
	}
	p.become()
}

// readPolicy takes a policy only from memory that was sealed: a file that anybody could
// have written is none.
func readPolicy(fd int) (*policy, error) {
	seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil || seals&allSeals != allSeals {
		return nil, errors.New("the descriptor holds no sealed policy")
	}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return nil, err
	}
	text := make([]byte, stat.Size)
	if n, err := unix.Pread(fd, text, 0); err != nil || n != len(text) {
		return nil, errors.New("it cannot be read")
	}
	p := &policy{}
	return p, json.Unmarshal(text, p)
}

// fail says at which step it went wrong, and ends.
func (p *policy) fail(step string, err error) {
	s := status{Step: step, Text: err.Error()}
	_ = errors.As(err, &s.Errno)
	text, _ := json.Marshal(s)
	_, _ = unix.Write(p.Status, append(text, '\n')) // the exit code says it too
	os.Exit(exitSetup)
}

// become takes the rules upon this thread, one after the other, and becomes the target.
// What needs a right comes before what takes it away.
func (p *policy) become() {
	check := func(step string, err error) {
		if err != nil {
			p.fail(step, err)
		}
	}
	// Descriptors of the host that came along by mistake stay behind, and so do ours.
	check("descriptors", unix.CloseRange(uint(p.Keep), ^uint(0)>>1&0x7fffffff, unix.CLOSE_RANGE_CLOEXEC))
	check("host", p.dieWithHost())
	if p.Socket >= 0 {
		check("network", p.openNetwork())
	}
	check("capabilities", dropCapabilities())
	check("privileges", unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	if p.Ruleset >= 0 {
		check("landlock", p.restrictFiles())
	}
	if len(p.Filter) > 0 {
		check("seccomp", setFilter(p.Filter))
	}
	if p.Probe {
		_, _ = unix.Write(p.Status, []byte(ready+"\n"))
		os.Exit(0)
	}
	for _, l := range p.Limits {
		check("limits", setLimit(l))
	}
	if _, err := unix.Write(p.Status, []byte(ready+"\n")); err != nil {
		os.Exit(exitSetup) // nobody is there who waits for the program
	}
	p.fail(stepExec, syscall.Exec(p.Path, p.Argv, p.Env))
}

// dieWithHost has the kernel end this process with the host, also where it is gone already.
func (p *policy) dieWithHost() error {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return err
	}
	polled := []unix.PollFd{{Fd: int32(p.Host), Events: unix.POLLIN}}
	if n, err := unix.Poll(polled, 0); err == nil && n > 0 {
		os.Exit(exitSetup)
	}
	return nil
}

// dropCapabilities gives up all that root can do, for good. Who has none cannot lower the
// bounding set, and need not.
func dropCapabilities() error {
	const last = 63
	for c := uintptr(0); c <= last; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if err == unix.EINVAL {
			break // the kernel has no more
		}
		if err == unix.EPERM {
			break
		}
		if err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil && err != unix.EINVAL {
		return err
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return unix.Capset(&header, &none[0])
}

// restrictFiles adds what only this process can name, its own /proc folder, and takes the
// file rules upon itself.
func (p *policy) restrictFiles() error {
	r := &ruleset{fd: p.Ruleset, handled: p.OwnProc}
	if err := r.allow("/proc/self", p.OwnProc); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(p.Ruleset), 0, 0); errno != 0 {
		return os.NewSyscallError("landlock_restrict_self", errno)
	}
	return nil
}

func setFilter(code []byte) error {
	filters := unsafe.Slice((*unix.SockFilter)(unsafe.Pointer(unsafe.SliceData(code))), len(code)/int(unsafe.Sizeof(unix.SockFilter{})))
	program := unix.SockFprog{Len: uint16(len(filters)), Filter: &filters[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(code)
	if errno != 0 {
		return os.NewSyscallError("seccomp", errno)
	}
	return nil
}

// setLimit lowers a limit for good; one that is lower already stays.
func setLimit(l limit) error {
	var now syscall.Rlimit
	if err := syscall.Getrlimit(l.Resource, &now); err != nil {
		return err
	}
	value := min(l.Value, now.Max)
	// Not by package unix: syscall must know, or it would set the limit of descriptors
	// back before it becomes the target.
	return syscall.Setrlimit(l.Resource, &syscall.Rlimit{Cur: value, Max: value})
}
