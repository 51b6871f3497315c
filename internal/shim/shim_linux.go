//go:build linux && (amd64 || arm64)

package shim

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Seals are those that the memory of a policy must have: nobody can change it any more.
const Seals = unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE

func init() { Main() }

// Main turns this process into the confined program where it was started for that, and
// then does not return.
func Main() {
	if len(os.Args) != 2 || os.Args[0] != Name {
		return
	}
	// All of it happens to one thread. The others end when it becomes the program.
	runtime.LockOSThread()
	fd, err := strconv.Atoi(os.Args[1])
	if err != nil || fd < 3 {
		quit(errors.New("it is for toolhost to start"))
	}
	p, err := read(fd)
	if err != nil {
		quit(err)
	}
	p.become()
}

// quit ends a shim that has no policy, and so nobody to report to.
func quit(err error) {
	_, _ = os.Stderr.WriteString(Name + ": " + err.Error() + "\n")
	os.Exit(exitSetup)
}

// read takes a policy only from memory that was sealed: a file that anybody could have
// written is none.
func read(fd int) (*Policy, error) {
	seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil || seals&Seals != Seals {
		return nil, errors.New("the descriptor holds no sealed policy")
	}
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return nil, err
	}
	text := make([]byte, stat.Size)
	for at := 0; at < len(text); {
		n, err := unix.Pread(fd, text[at:], int64(at))
		if err != nil || n == 0 {
			return nil, errors.New("the policy cannot be read")
		}
		at += n
	}
	return Decode(text)
}

// fail says at which step it went wrong, and ends: the step, the error number, the text.
func (p *Policy) fail(step string, err error) {
	var errno syscall.Errno
	_ = errors.As(err, &errno)
	_, _ = unix.Write(p.Status, []byte(step+"\n"+strconv.Itoa(int(errno))+"\n"+err.Error())) // the exit code says it too
	os.Exit(exitSetup)
}

// become takes the rules upon this thread, one after the other, and executes the program.
// What needs a right comes before what takes it away.
func (p *Policy) become() {
	check := func(step string, err error) {
		if err != nil {
			p.fail(step, err)
		}
	}
	// Descriptors of the host that came along by mistake stay behind, and so do ours.
	const last = 1<<31 - 1
	check("descriptors", unix.CloseRange(uint(p.Keep), last, unix.CLOSE_RANGE_CLOEXEC))
	check("host", p.dieWithHost())
	if p.Socket >= 0 {
		check("network", p.openNetwork())
	}
	if p.Empty != "" {
		check("hiding", p.hide())
	}
	check("capabilities", dropCapabilities())
	check("privileges", unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	if p.Ruleset >= 0 {
		check("landlock", p.restrictFiles())
	}
	if len(p.Filter) > 0 {
		check("seccomp", setFilter([]byte(p.Filter)))
	}
	if p.Probe {
		_, _ = unix.Write(p.Status, []byte(Ready))
		os.Exit(0)
	}
	for _, l := range p.Limits {
		check("limits", setLimit(l))
	}
	if _, err := unix.Write(p.Status, []byte(Ready)); err != nil {
		os.Exit(exitSetup) // nobody is there who waits for the program
	}
	p.fail(StepExec, syscall.Exec(p.Path, p.Argv, p.Env))
}

// dieWithHost has the kernel end this process with the host, also where it is gone already.
func (p *Policy) dieWithHost() error {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return err
	}
	polled := []unix.PollFd{{Fd: int32(p.Host), Events: unix.POLLIN}}
	if n, err := unix.Poll(polled, 0); err == nil && n > 0 {
		os.Exit(exitSetup)
	}
	return nil
}

// openNetwork brings up the loopback device of this process's own network, listens there
// for the host, and sends the host the listening socket.
func (p *Policy) openNetwork() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return os.NewSyscallError("bringing up the loopback device", err)
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: p.Port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return os.NewSyscallError("bind", err)
	}
	const backlog = 64
	if err := unix.Listen(fd, backlog); err != nil {
		return os.NewSyscallError("listen", err)
	}
	return os.NewSyscallError("sendmsg", unix.Sendmsg(p.Socket, []byte{0}, unix.UnixRights(fd), nil, unix.MSG_NOSIGNAL))
}

// hide puts an empty folder over those that are to be hidden, in mounts of this process's
// own. The file rules are about what is below, and stay as they are.
func (p *Policy) hide() error {
	// What the host mounts later is to be seen; what is mounted here, only here.
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return os.NewSyscallError("mount", err)
	}
	for _, path := range p.Hidden {
		how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC | unix.O_DIRECTORY, Resolve: unix.RESOLVE_NO_SYMLINKS}
		fd, err := unix.Openat2(unix.AT_FDCWD, path, &how)
		if err == unix.ENOENT {
			continue // it has gone
		}
		if err != nil {
			return os.NewSyscallError("openat2", err)
		}
		err = unix.Mount(p.Empty, "/proc/self/fd/"+strconv.Itoa(fd), "", unix.MS_BIND, "")
		_ = unix.Close(fd)
		if err != nil {
			return os.NewSyscallError("mount", err)
		}
	}
	return nil
}

// dropCapabilities gives up all that root can do, for good. Who has none cannot lower the
// bounding set, and need not.
func dropCapabilities() error {
	const last = 63
	for c := uintptr(0); c <= last; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if err == unix.EINVAL || err == unix.EPERM { // the kernel has no more, or we may not
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

// restrictFiles adds what only this process can name, its own folder in /proc, and takes
// the file rules upon itself.
func (p *Policy) restrictFiles() error {
	if proc, err := unix.Open("/proc/self/", unix.O_PATH|unix.O_CLOEXEC|unix.O_DIRECTORY, 0); err == nil {
		defer unix.Close(proc)
		attr := unix.LandlockPathBeneathAttr{Allowed_access: p.OwnProc, Parent_fd: int32(proc)}
		_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(p.Ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
		if errno != 0 {
			return os.NewSyscallError("landlock_add_rule", errno)
		}
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
func setLimit(l Limit) error {
	var now syscall.Rlimit
	if err := syscall.Getrlimit(l.Resource, &now); err != nil {
		return err
	}
	value := min(l.Value, now.Max)
	// Not by package unix: syscall must know, or it would set the limit of descriptors
	// back before it executes the program.
	return syscall.Setrlimit(l.Resource, &syscall.Rlimit{Cur: value, Max: value})
}
