//go:build linux && (amd64 || arm64)

package shim

import (
	"errors"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"
)

func init() { Main() }

// Main turns this process into the confined program where it was started for that, and
// then does not return.
func Main() {
	// Not by package os, which is initialized later than syscall.
	if _, marked := syscall.Getenv(Mark); !marked {
		return
	}
	name, number := arguments()
	if name != Name {
		return
	}
	// All of it happens to one thread, on which every init function runs: nothing need lock it,
	// which would start another. The others end when it becomes the program.
	fd, err := strconv.Atoi(number)
	if err != nil || fd < 3 {
		quit(errors.New("it is for toolhost to start"))
	}
	p, err := read(fd)
	if err != nil {
		quit(err)
	}
	p.become()
}

// arguments gives the two arguments of a shim; of another command line the first is another.
func arguments() (name, number string) {
	fd, err := syscall.Open("/proc/self/cmdline", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return "", ""
	}
	defer syscall.Close(fd)
	buf := make([]byte, 64)
	n, err := syscall.Read(fd, buf)
	if err != nil || n <= len(Name) || buf[len(Name)] != 0 {
		return "", ""
	}
	rest := buf[len(Name)+1 : n]
	if len(rest) > 0 { // without the end of the text
		rest = rest[:len(rest)-1]
	}
	return string(buf[:len(Name)]), string(rest)
}

// quit ends a shim that has no policy, and so nobody to report to.
func quit(err error) {
	_, _ = syscall.Write(2, []byte(Name+": "+err.Error()+"\n"))
	syscall.Exit(exitSetup)
}

// read takes a policy only from memory that was sealed: a file that anybody could have
// written is none.
func read(fd int) (*Policy, error) {
	seals, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), fGetSeals, 0)
	if errno != 0 || seals&Seals != Seals {
		return nil, errors.New("the descriptor holds no sealed policy")
	}
	var stat syscall.Stat_t
	if err := syscall.Fstat(fd, &stat); err != nil {
		return nil, err
	}
	text := make([]byte, stat.Size)
	for at := 0; at < len(text); {
		n, err := syscall.Pread(fd, text[at:], int64(at))
		if err != nil || n == 0 {
			return nil, errors.New("the policy cannot be read")
		}
		at += n
	}
	return Decode(text)
}

// callError is what a system call answered.
type callError struct {
	call  string
	errno syscall.Errno
}

func (e *callError) Error() string { return e.call + ": " + e.errno.Error() }

// failed gives the error of a call; nil where there is none.
func failed(call string, err error) error {
	errno, ok := err.(syscall.Errno)
	if !ok || errno == 0 {
		return err
	}
	return &callError{call, errno}
}

// call makes a system call that nothing in package syscall stands for. What its arguments
// point to stays where it is meanwhile.
//
//go:uintptrescapes
func call(name string, number uintptr, args ...uintptr) (uintptr, error) {
	var a [6]uintptr
	copy(a[:], args)
	value, _, errno := syscall.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	if errno != 0 {
		return 0, &callError{name, errno}
	}
	return value, nil
}

func prctl(option uintptr, args ...uintptr) error {
	_, err := call("prctl", syscall.SYS_PRCTL, append([]uintptr{option}, args...)...)
	return err
}

// is reports whether a call gave this error.
func is(err error, errno syscall.Errno) bool {
	e, ok := err.(*callError)
	return ok && e.errno == errno
}

// fail says at which step it went wrong, and ends: the step, the error number, the text.
func (p *Policy) fail(step string, err error) {
	errno, _ := err.(syscall.Errno)
	if e, ok := err.(*callError); ok {
		errno = e.errno
	}
	_, _ = syscall.Write(p.Status, []byte(step+"\n"+strconv.Itoa(int(errno))+"\n"+err.Error())) // the exit code says it too
	syscall.Exit(exitSetup)
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
	_, err := call("close_range", sysCloseRange, uintptr(p.Keep), last, closeRangeCloexec)
	check("descriptors", err)
	check("host", p.dieWithHost())
	check("identity", p.beOneself())
	if p.Socket >= 0 {
		check("network", p.openNetwork())
	}
	if p.Empty != "" {
		check("hiding", p.hide())
	}
	check("capabilities", dropCapabilities())
	check("privileges", prctl(prSetNoNewPrivs, 1))
	if p.Ruleset >= 0 {
		check("landlock", p.restrictFiles())
	}
	if len(p.Filter) > 0 {
		check("seccomp", setFilter([]byte(p.Filter)))
	}
	if p.Probe {
		_, _ = syscall.Write(p.Status, []byte(Ready))
		syscall.Exit(0)
	}
	for _, l := range p.Limits {
		check("limits", setLimit(l))
	}
	if _, err := syscall.Write(p.Status, []byte(Ready)); err != nil {
		syscall.Exit(exitSetup) // nobody is there who waits for the program
	}
	p.fail(StepExec, syscall.Exec(p.Path, p.Argv, p.Env))
}

// dieWithHost has the kernel end this process with the host, also where it is gone already.
func (p *Policy) dieWithHost() error {
	if err := prctl(syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL)); err != nil {
		return err
	}
	polled, now := pollFd{fd: int32(p.Host), events: pollIn}, syscall.Timespec{}
	n, err := call("ppoll", syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&polled)), 1, uintptr(unsafe.Pointer(&now)))
	if err == nil && n > 0 {
		syscall.Exit(exitSetup)
	}
	return nil
}

// beOneself gives this process the user and the group of the host where it is nobody yet,
// which it is in a user namespace that was just made. The host could do it from outside, but
// would have to copy the tables of its own memory to start a process that waits for that.
func (p *Policy) beOneself() error {
	if p.User < 0 {
		return nil
	}
	if known, err := mapped(); known || err != nil {
		return err
	}
	self := func(id int) string { return strconv.Itoa(id) + " " + strconv.Itoa(id) + " 1" }
	for _, f := range []struct{ path, text string }{
		{"/proc/self/setgroups", "deny"}, {"/proc/self/gid_map", self(p.Group)}, {"/proc/self/uid_map", self(p.User)},
	} {
		fd, err := syscall.Open(f.path, syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
		if err != nil {
			return failed("opening "+f.path, err)
		}
		_, err = syscall.Write(fd, []byte(f.text))
		_ = syscall.Close(fd)
		if err != nil {
			return failed("writing "+f.path, err)
		}
	}
	return nil
}

// mapped reports whether this process's namespace knows any user.
func mapped() (bool, error) {
	const path = "/proc/self/uid_map"
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return false, failed("opening "+path, err)
	}
	defer syscall.Close(fd)
	n, err := syscall.Read(fd, make([]byte, 64))
	return n > 0, failed("reading "+path, err)
}

// openNetwork brings up the loopback device of this process's own network, listens there
// for the host, and sends the host the listening socket.
func (p *Policy) openNetwork() error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return failed("socket", err)
	}
	defer syscall.Close(fd)
	lo := interfaceRequest{name: [16]byte{'l', 'o'}, flags: syscall.IFF_UP}
	if _, err := call("bringing up the loopback device", syscall.SYS_IOCTL, uintptr(fd), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&lo))); err != nil {
		return err
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Port: p.Port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return failed("bind", err)
	}
	const backlog = 64
	if err := syscall.Listen(fd, backlog); err != nil {
		return failed("listen", err)
	}
	return failed("sendmsg", syscall.Sendmsg(p.Socket, []byte{0}, syscall.UnixRights(fd), nil, syscall.MSG_NOSIGNAL))
}

// hide puts an empty folder over those that are to be hidden, in mounts of this process's
// own. The file rules are about what is below, and stay as they are.
func (p *Policy) hide() error {
	// What the host mounts later is to be seen; what is mounted here, only here.
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_SLAVE, ""); err != nil {
		return failed("mount", err)
	}
	for _, path := range p.Hidden {
		fd, err := openFolder(path)
		if is(err, syscall.ENOENT) {
			continue // it has gone
		}
		if err != nil {
			return err
		}
		err = syscall.Mount(p.Empty, "/proc/self/fd/"+strconv.Itoa(fd), "", syscall.MS_BIND, "")
		_ = syscall.Close(fd)
		if err != nil {
			return failed("mount", err)
		}
	}
	return nil
}

// openFolder opens a folder of which no part of the path is a link.
func openFolder(path string) (int, error) {
	name, err := syscall.BytePtrFromString(path)
	if err != nil {
		return 0, err
	}
	how := openHow{flags: oPath | syscall.O_CLOEXEC | syscall.O_DIRECTORY, resolve: resolveNoSymlinks}
	here := -100 // AT_FDCWD
	fd, err := call("openat2", sysOpenat2, uintptr(here), uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how))
	return int(fd), err
}

// dropCapabilities gives up all that root can do, for good. Who has none cannot lower the
// bounding set, and need not.
func dropCapabilities() error {
	for c := uintptr(0); c <= lastCapability; c++ {
		err := prctl(prCapbsetDrop, c)
		if is(err, syscall.EINVAL) || is(err, syscall.EPERM) { // the kernel has no more, or we may not
			break
		}
		if err != nil {
			return err
		}
	}
	if err := prctl(prCapAmbient, prCapAmbientClear); err != nil && !is(err, syscall.EINVAL) {
		return err
	}
	header, none := capHeader{version: capabilityVersion3}, [2]capData{}
	_, err := call("capset", syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none)))
	return err
}

// restrictFiles adds what only this process can name, its own folder in /proc, and takes
// the file rules upon itself.
func (p *Policy) restrictFiles() error {
	if proc, err := syscall.Open("/proc/self/", oPath|syscall.O_CLOEXEC|syscall.O_DIRECTORY, 0); err == nil {
		defer syscall.Close(proc)
		rule := pathBeneath{access: p.OwnProc, parent: int32(proc)}
		if _, err := call("landlock_add_rule", sysLandlockRule, uintptr(p.Ruleset), landlockPathBeneath, uintptr(unsafe.Pointer(&rule)), 0); err != nil {
			return err
		}
	}
	_, err := call("landlock_restrict_self", sysLandlockSelf, uintptr(p.Ruleset), 0)
	return err
}

func setFilter(code []byte) error {
	filters := unsafe.Slice((*sockFilter)(unsafe.Pointer(unsafe.SliceData(code))), len(code)/int(unsafe.Sizeof(sockFilter{})))
	program := sockProgram{length: uint16(len(filters)), filter: &filters[0]}
	_, err := call("seccomp", sysSeccomp, seccompFilter, 0, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(code)
	return err
}

// setLimit lowers a limit for good; one that is lower already stays.
func setLimit(l Limit) error {
	var now syscall.Rlimit
	if err := syscall.Getrlimit(l.Resource, &now); err != nil {
		return failed("getrlimit", err)
	}
	value := min(l.Value, now.Max)
	// By package syscall, which must know: where os has raised the limit of descriptors, it
	// would set it back before it executes the program.
	return failed("setrlimit", syscall.Setrlimit(l.Resource, &syscall.Rlimit{Cur: value, Max: value}))
}
