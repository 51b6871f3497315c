//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// probeVariable has a child of these tests try to escape instead of testing.
const probeVariable = "SANDBOX_PROBE"

func TestMain(m *testing.M) {
	Main()
	if what := os.Getenv(probeVariable); what != "" {
		syscall.Exit(runProbe(what)) // os.Exit has the race detector wait for a second
	}
	goleak.VerifyTestMain(m)
}

// world is what a child tries to reach.
type world struct {
	Host               int // pid of the test
	Secret, Outside    string
	Read, ReadFile     string // granted to read
	HardLink           string // in Read, of Secret
	Link, DirLink      string // in Read, to Outside
	Write              string // granted to write; ""
	Temp               string
	UnixSocket, TCP    string
	Abstract           string
	Descriptor, Handle int
}

// lay makes a world below a temporary folder.
func lay(t *testing.T) *world {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		Host: os.Getpid(), Outside: top + "/outside", Read: top + "/read", Write: top + "/write",
		Secret: top + "/outside/secret", ReadFile: top + "/read/file", HardLink: top + "/read/hard",
		Link: top + "/read/link", DirLink: top + "/read/dirlink",
	}
	for _, dir := range []string{w.Outside, w.Read, w.Write, w.Outside + "/dir"} {
		must(t, os.Mkdir(dir, 0o755))
	}
	must(t, os.WriteFile(w.Secret, []byte("secret"), 0o644))
	must(t, os.WriteFile(w.ReadFile, []byte("file"), 0o644))
	must(t, os.WriteFile(w.Write+"/own", []byte("own"), 0o644))
	must(t, os.Link(w.Secret, w.HardLink))
	must(t, os.Symlink(w.Secret, w.Link))
	must(t, os.Symlink(w.Outside, w.DirLink))

	l, err := net.Listen("tcp4", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { l.Close() })
	w.TCP = l.Addr().String()
	w.UnixSocket = w.Outside + "/sock"
	u, err := net.Listen("unix", w.UnixSocket)
	must(t, err)
	t.Cleanup(func() { u.Close() })
	w.Abstract = fmt.Sprintf("@toolhost-test-%d-%s", os.Getpid(), t.Name())
	a, err := net.Listen("unix", w.Abstract)
	must(t, err)
	t.Cleanup(func() { a.Close() })

	// A descriptor that the host has open, and that does not close by itself.
	fd, err := unix.Open(w.Secret, unix.O_RDONLY, 0)
	must(t, err)
	w.Descriptor = 251
	must(t, unix.Dup3(fd, w.Descriptor, 0))
	t.Cleanup(func() { unix.Close(fd); unix.Close(w.Descriptor) })
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// escape runs the tries of a child under rules, and gives their outcomes.
func escape(t *testing.T, s *Support, rules *Rules, what string, w *world) map[string]string {
	t.Helper()
	out, err := runChild(t, s, rules, what, w)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got := map[string]string{}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return got
}

func runChild(t *testing.T, s *Support, rules *Rules, what string, w *world) ([]byte, error) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self)
	text, err := json.Marshal(w)
	must(t, err)
	cmd.Env = []string{probeVariable + "=" + what, "WORLD=" + string(text), "GRANTED=yes"}
	cmd.Dir = "/"
	var out, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &stderr
	child, err := confine(cmd, rules, Require, s)
	must(t, err)
	defer child.Close()
	if err := child.Start(); err != nil {
		return nil, err
	}
	if err := cmd.Wait(); err != nil {
		return []byte(stderr.String()), err
	}
	return []byte(out.String()), nil
}

// outcome names an error number, as in the tables below.
func outcome(err error) string {
	var errno syscall.Errno
	switch {
	case err == nil:
		return "ok"
	case errors.As(err, &errno):
		return unix.ErrnoName(errno)
	}
	return err.Error()
}

// row is one try, and what must become of it.
type row struct {
	name string
	want string // outcomes, any of them, separated by "|"
	try  func(w *world) error
}

func open(path string, flags int) error {
	fd, err := unix.Open(path, flags, 0o644)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func read(path string) error { return open(path, unix.O_RDONLY) }

func socket(family, kind, protocol int) error {
	fd, err := unix.Socket(family, kind, protocol)
	if err == nil {
		unix.Close(fd)
	}
	return err
}

func raw(number uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	_, _, errno := unix.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	if errno != 0 {
		return errno
	}
	return nil
}

// control calls ioctl on a file that is open for reading.
func control(path string, request uintptr) error {
	fd, err := unix.Open(path, unix.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var argument [128]byte
	return raw(unix.SYS_IOCTL, uintptr(fd), request, uintptr(unsafe.Pointer(&argument)))
}

// Sets of rights.
const (
	permitted = iota
	inheritable
)

// takeRight tries to have CAP_SYS_ADMIN: permitted, or for programs to inherit.
func takeRight(set int) error {
	const admin = 1 << unix.CAP_SYS_ADMIN
	header, data := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, [2]unix.CapUserData{}
	if set == inheritable {
		data[0].Inheritable = admin
	} else {
		data[0].Effective, data[0].Permitted = admin, admin
	}
	return unix.Capset(&header, &data[0])
}

func text(s string) uintptr {
	b, err := unix.BytePtrFromString(s)
	if err != nil {
		panic(err)
	}
	return uintptr(unsafe.Pointer(b))
}

// escapes are the tries of a program that was granted to read one folder, to write
// another one where the world has one, and a temporary folder.
var escapes = []row{
	{"read what is granted", "ok", func(w *world) error { return read(w.ReadFile) }},
	{"list what is granted", "ok", func(w *world) error { _, err := os.ReadDir(w.Read); return err }},
	{"write the temporary folder", "ok", func(w *world) error { return os.WriteFile(w.Temp+"/a", []byte("a"), 0o600) }},
	{"start a program", "ok", func(*world) error { return exec.Command("/bin/sh", "-c", "true").Run() }},

	{"read outside", "EACCES", func(w *world) error { return read(w.Secret) }},
	{"read outside by a link", "EACCES", func(w *world) error { return read(w.Link) }},
	{"read outside by a link to its folder", "EACCES", func(w *world) error { return read(w.DirLink + "/secret") }},
	{"read outside by ..", "EACCES", func(w *world) error { return read(w.Read + "/../outside/secret") }},
	{"read outside by /proc/self/root", "EACCES", func(w *world) error { return read("/proc/self/root" + w.Secret) }},
	{"read outside by a handle", "EACCES", func(w *world) error {
		fd, err := unix.Open(w.Secret, unix.O_PATH, 0)
		if err != nil {
			return err
		}
		return read(fmt.Sprintf("/proc/self/fd/%d", fd))
	}},
	{"read outside from its folder", "EACCES", func(w *world) error {
		if err := unix.Chdir(w.Outside); err != nil {
			return err
		}
		defer unix.Chdir("/")
		return read("secret")
	}},
	{"read the host's environment", "EACCES|ENOENT", func(w *world) error { return read(fmt.Sprintf("/proc/%d/environ", w.Host)) }},
	{"read the host's memory", "EACCES|ENOENT", func(w *world) error { return read(fmt.Sprintf("/proc/%d/mem", w.Host)) }},
	{"read by the host's root", "EACCES|ENOENT", func(w *world) error { return read(fmt.Sprintf("/proc/%d/root%s", w.Host, w.Secret)) }},
	{"read accounts", "EACCES", func(*world) error { return read("/etc/passwd") }},
	{"list outside", "EACCES", func(w *world) error { return open(w.Outside, unix.O_RDONLY|unix.O_DIRECTORY) }},
	{"list the root folder", "EACCES", func(*world) error { return open("/", unix.O_RDONLY|unix.O_DIRECTORY) }},
	{"list processes", "EACCES", func(*world) error { return open("/proc", unix.O_RDONLY|unix.O_DIRECTORY) }},

	{"link into the grant", "EXDEV|EACCES|EPERM", func(w *world) error { return unix.Link(w.Secret, w.Temp+"/linked") }},
	{"link out of the grant", "EXDEV|EACCES|EPERM", func(w *world) error { return unix.Link(w.ReadFile, w.Outside+"/linked") }},
	{"rename into the grant", "EXDEV|EACCES", func(w *world) error { return unix.Rename(w.Secret, w.Temp+"/moved") }},
	{"rename out of the grant", "EXDEV|EACCES", func(w *world) error { return unix.Rename(w.Temp+"/a", w.Outside+"/moved") }},

	{"write outside", "EACCES", func(w *world) error { return open(w.Secret, unix.O_WRONLY) }},
	{"make a file outside", "EACCES", func(w *world) error { return open(w.Outside+"/new", unix.O_WRONLY|unix.O_CREAT) }},
	{"remove outside", "EACCES", func(w *world) error { return unix.Unlink(w.Secret) }},
	{"make a folder outside", "EACCES", func(w *world) error { return unix.Mkdir(w.Outside+"/new", 0o755) }},
	{"remove a folder outside", "EACCES", func(w *world) error { return unix.Rmdir(w.Outside + "/dir") }},
	{"truncate outside", "EACCES", func(w *world) error { return unix.Truncate(w.Secret, 0) }},
	{"make a link outside", "EACCES", func(w *world) error { return unix.Symlink("x", w.Outside+"/sym") }},
	{"make a device", "EACCES|EPERM", func(w *world) error { return unix.Mknod(w.Temp+"/dev", unix.S_IFCHR|0o600, 0x103) }},
	{"write a read grant", "EACCES", func(w *world) error { return open(w.ReadFile, unix.O_WRONLY) }},
	{"make a file in a read grant", "EACCES", func(w *world) error { return open(w.Read+"/new", unix.O_WRONLY|unix.O_CREAT) }},
	{"remove in a read grant", "EACCES", func(w *world) error { return unix.Unlink(w.ReadFile) }},
	{"truncate a read grant", "EACCES", func(w *world) error { return unix.Truncate(w.ReadFile, 0) }},
	{"empty a read grant by opening it", "EACCES", func(w *world) error { return open(w.ReadFile, unix.O_RDONLY|unix.O_TRUNC) }},
	{"empty a read grant by openat2", "EACCES|ENOSYS", func(w *world) error {
		fd, err := unix.Openat2(unix.AT_FDCWD, w.ReadFile, &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_TRUNC})
		if err == nil {
			unix.Close(fd)
		}
		return err
	}},

	{"run a program of one's own", "EACCES", func(w *world) error {
		if err := os.WriteFile(w.Temp+"/prog", []byte("#!/bin/sh\n"), 0o755); err != nil {
			return err
		}
		return exec.Command(w.Temp + "/prog").Run()
	}},

	{"TCP", "EACCES", func(*world) error { return socket(unix.AF_INET, unix.SOCK_STREAM, 0) }},
	{"TCP over IPv6", "EACCES", func(*world) error { return socket(unix.AF_INET6, unix.SOCK_STREAM, 0) }},
	{"multipath TCP", "EACCES", func(*world) error { return socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP) }},
	{"UDP", "EACCES", func(*world) error { return socket(unix.AF_INET, unix.SOCK_DGRAM, 0) }},
	{"raw IP", "EACCES", func(*world) error { return socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP) }},
	{"packets", "EACCES", func(*world) error { return socket(unix.AF_PACKET, unix.SOCK_RAW, 0) }},
	{"netlink", "EACCES", func(*world) error { return socket(unix.AF_NETLINK, unix.SOCK_RAW, 0) }},
	{"vsock", "EACCES", func(*world) error { return socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0) }},
	{"the kernel's cryptography", "EACCES", func(*world) error { return socket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0) }},
	{"unix socket", "EACCES", func(*world) error { return socket(unix.AF_UNIX, unix.SOCK_STREAM, 0) }},
	{"unix datagrams", "EACCES", func(*world) error { return socket(unix.AF_UNIX, unix.SOCK_DGRAM, 0) }},
	{"pair of datagram sockets", "EACCES", func(*world) error { _, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM, 0); return err }},
	{"connect a pair elsewhere", "EACCES", func(w *world) error {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		return unix.Connect(pair[0], &unix.SockaddrUnix{Name: w.UnixSocket})
	}},
	{"connect abstractly", "EACCES", func(w *world) error {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		return unix.Connect(pair[0], &unix.SockaddrUnix{Name: w.Abstract})
	}},

	{"limit the host", "EPERM", func(w *world) error {
		return unix.Prlimit(w.Host, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 64, Max: 64}, nil)
	}},
	{"slow down the host", "EPERM", func(w *world) error { return unix.Setpriority(unix.PRIO_PROCESS, w.Host, 19) }},
	{"slow down the user", "EPERM", func(*world) error { return unix.Setpriority(unix.PRIO_USER, os.Getuid(), 19) }},
	{"bind the host to a processor", "EPERM", func(w *world) error {
		var set unix.CPUSet
		set.Set(0)
		return unix.SchedSetaffinity(w.Host, &set)
	}},
	{"schedule the host", "EPERM", func(w *world) error { return raw(unix.SYS_SCHED_SETSCHEDULER, uintptr(w.Host), 0, 0) }},
	{"slow down the host's disk", "EPERM", func(w *world) error { return raw(unix.SYS_IOPRIO_SET, 1, uintptr(w.Host), 3<<13) }},
	{"debug the host", "EPERM", func(w *world) error { return unix.PtraceAttach(w.Host) }},
	{"read the host's memory by call", "EPERM", func(w *world) error { return raw(unix.SYS_PROCESS_VM_READV, uintptr(w.Host), 0, 0, 0, 0, 0) }},
	{"take a descriptor of the host", "EPERM", func(*world) error { return raw(unix.SYS_PIDFD_GETFD, 0, 0, 0) }},
	{"compare with the host", "EPERM", func(w *world) error { return raw(unix.SYS_KCMP, uintptr(os.Getpid()), uintptr(w.Host), 0, 0, 0) }},

	{"shared memory", "ENOSYS", func(*world) error {
		_, err := unix.SysvShmGet(unix.IPC_PRIVATE, 4096, unix.IPC_CREAT|0o600)
		return err
	}},
	{"semaphores", "ENOSYS", func(*world) error { return raw(unix.SYS_SEMGET, 0, 1, 0o1600) }},
	{"message queue", "ENOSYS", func(*world) error { return raw(unix.SYS_MSGGET, 0, 0o1600) }},
	{"POSIX message queue", "ENOSYS", func(*world) error { return raw(unix.SYS_MQ_OPEN, text("x"), unix.O_CREAT, 0o600, 0) }},
	{"new user namespace", "EPERM", func(*world) error { return unix.Unshare(unix.CLONE_NEWUSER) }},
	{"new user namespace by clone", "EPERM", func(*world) error { return raw(unix.SYS_CLONE, unix.CLONE_NEWUSER|uintptr(unix.SIGCHLD)) }},
	{"clone3", "ENOSYS", func(*world) error { return raw(unix.SYS_CLONE3, 0, 0) }},
	{"mount", "EPERM", func(w *world) error { return unix.Mount("none", w.Temp, "tmpfs", 0, "") }},
	{"mount by descriptor", "EPERM", func(*world) error { return raw(unix.SYS_OPEN_TREE, 0, text("/"), 0) }},
	{"change the root", "EPERM", func(w *world) error { return unix.Chroot(w.Temp) }},
	{"keys", "EPERM", func(*world) error {
		_, err := unix.KeyctlInt(unix.KEYCTL_GET_KEYRING_ID, unix.KEY_SPEC_USER_KEYRING, 0, 0, 0)
		return err
	}},
	{"bpf", "EPERM", func(*world) error { return raw(unix.SYS_BPF, 0, 0, 0) }},
	{"performance counters", "EPERM", func(*world) error { return raw(unix.SYS_PERF_EVENT_OPEN, 0, 0, 0, 0, 0) }},
	{"userfaultfd", "EPERM", func(*world) error { return raw(unix.SYS_USERFAULTFD, 0) }},
	{"io_uring", "ENOSYS", func(*world) error { return raw(unix.SYS_IO_URING_SETUP, 1, 0) }},
	{"open by handle", "EPERM", func(*world) error { return raw(unix.SYS_OPEN_BY_HANDLE_AT, 0, 0, 0) }},
	{"type into the terminal", "EPERM", func(*world) error { return raw(unix.SYS_IOCTL, 0, unix.TIOCSTI, text("x")) }},
	{"type into the terminal, high bits set", "EPERM", func(*world) error { return raw(unix.SYS_IOCTL, 0, 1<<32|unix.TIOCSTI, text("x")) }},
	{"change the flags of what may only be read", "EPERM", func(w *world) error { return control(w.ReadFile, unix.FS_IOC_SETFLAGS) }},
	{"seal what may only be read", "EPERM", func(w *world) error { return control(w.ReadFile, unix.FS_IOC_ENABLE_VERITY) }},
	{"keep others from what may only be read", "EPERM", func(w *world) error {
		fd, err := unix.Open(w.ReadFile, unix.O_RDONLY, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
		return err
	}},
	{"a system call that is newer than this", "ENOSYS", func(*world) error { return raw(newest + 1) }},
	{"load a module", "EPERM", func(*world) error { return raw(unix.SYS_INIT_MODULE, 0, 0, 0) }},
	{"read the kernel's log", "EPERM", func(*world) error { _, err := unix.Klogctl(10, nil); return err }},
	{"change the execution domain", "EPERM", func(*world) error { return raw(unix.SYS_PERSONALITY, 0x0040000) }},

	{"use an inherited descriptor", "EBADF", func(w *world) error { _, err := unix.Read(w.Descriptor, make([]byte, 1)); return err }},
	{"leave the session", "EPERM", func(*world) error { _, err := unix.Setsid(); return err }},
	{"leave the process group", "EPERM", func(*world) error { return unix.Setpgid(0, 0) }},
	{"outlive the host", "EPERM", func(*world) error { return unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0) }},
	{"say who one's user is", "EACCES", func(*world) error { return os.WriteFile("/proc/self/uid_map", []byte("0 0 1"), 0) }},
	{"say who one's group is", "EACCES", func(*world) error { return os.WriteFile("/proc/self/gid_map", []byte("0 0 1"), 0) }},
	{"let groups be set", "EACCES", func(*world) error { return os.WriteFile("/proc/self/setgroups", []byte("allow"), 0) }},
	{"set groups", "EPERM", func(*world) error { return raw(unix.SYS_SETGROUPS, 0, 0) }},
	{"become another user", "EPERM|EINVAL", func(*world) error { return raw(unix.SYS_SETUID, uintptr(os.Getuid()+1)) }},
	{"become another group", "EPERM|EINVAL", func(*world) error { return raw(unix.SYS_SETGID, uintptr(os.Getgid()+1)) }},
	{"take a right", "EPERM", func(*world) error { return takeRight(permitted) }},
	{"take a right for programs", "EPERM", func(*world) error { return takeRight(inheritable) }},
	{"keep a right for programs", "EPERM", func(*world) error {
		return unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_RAISE, unix.CAP_SYS_ADMIN, 0, 0)
	}},
	{"change what root may", "EPERM", func(*world) error { return unix.Prctl(unix.PR_SET_SECUREBITS, 1, 0, 0, 0) }},
	{"have programs that give rights", "EINVAL", func(*world) error { return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) }},
	{"raise a limit", "EPERM", func(*world) error {
		return unix.Prlimit(0, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 1 << 20, Max: 1 << 20}, nil)
	}},

	// What stays open, by nature: docs/permissions.md names it.
	{"inherent: read by a hard link that was there", "ok", func(w *world) error { return read(w.HardLink) }},
	{"inherent: stat outside", "ok", func(w *world) error { var s unix.Stat_t; return unix.Stat(w.Secret, &s) }},
	{"inherent: access outside", "ok", func(w *world) error { return unix.Access(w.Secret, unix.R_OK) }},
	{"inherent: watch outside", "ok", func(w *world) error {
		fd, err := unix.InotifyInit()
		if err != nil {
			return err
		}
		_, err = unix.InotifyAddWatch(fd, w.Outside, unix.IN_ALL_EVENTS)
		return err
	}},
	{"inherent: go outside", "ok", func(w *world) error { defer unix.Chdir("/"); return unix.Chdir(w.Outside) }},
	{"inherent: run a program in memory", "ok", func(*world) error {
		fd, err := unix.MemfdCreate("prog", 0)
		if err != nil {
			return err
		}
		program, err := os.ReadFile("/bin/true")
		if err != nil {
			return err
		}
		if _, err := unix.Write(fd, program); err != nil {
			return err
		}
		return exec.Command(fmt.Sprintf("/proc/self/fd/%d", fd)).Run()
	}},
}

// metadata are the tries that depend on whether anything may be written.
var metadata = []row{
	{"mode outside", "EPERM", func(w *world) error { return unix.Chmod(w.Secret, 0o600) }},
	{"mode outside, by fchmodat2", "EPERM", func(w *world) error { return raw(unix.SYS_FCHMODAT2, dirfd, text(w.Secret), 0o600, 0) }},
	{"times outside", "EPERM", func(w *world) error { return os.Chtimes(w.Secret, time.Unix(1, 0), time.Unix(1, 0)) }},
}

// owners are closed in every case.
var owners = []row{
	{"owner outside", "EPERM", func(w *world) error { return unix.Chown(w.Secret, os.Getuid(), os.Getgid()) }},
	{"owner outside, of a link", "EPERM", func(w *world) error { return unix.Lchown(w.Secret, os.Getuid(), os.Getgid()) }},
	{"attributes outside", "EPERM", func(w *world) error { return unix.Setxattr(w.Secret, "user.x", []byte("x"), 0) }},
}

var dirfd = func() uintptr { at := unix.AT_FDCWD; return uintptr(at) }()

// signals are the tries that older kernels cannot stop without namespaces.
var signals = []row{
	{"signal the host", "EPERM|ESRCH", func(w *world) error { return unix.Kill(w.Host, unix.SIGCONT) }},
	{"signal the host by descriptor", "EPERM|ESRCH|EINVAL", func(w *world) error {
		fd, err := unix.PidfdOpen(w.Host, 0)
		if err != nil {
			return err
		}
		return unix.PidfdSendSignal(fd, unix.SIGCONT, nil, 0)
	}},
}

var probes = map[string][]row{"escape": escapes, "metadata": metadata, "owners": owners, "signals": signals, "proxied": proxied}

// proxied are the tries of a program whose network holds the host's proxy alone.
var proxied = []row{
	{"reach the proxy", "ok", func(*world) error { return dialTCP("127.0.0.1:3128") }},
	{"reach the host's port", "EACCES|ECONNREFUSED", func(w *world) error { return dialTCP(w.TCP) }},
	{"reach another machine", "EACCES|ENETUNREACH", func(*world) error { return dialTCP("192.0.2.1:3128") }},
	{"reach another machine's other port", "EACCES|ENETUNREACH", func(*world) error { return dialTCP("192.0.2.1:53") }},
	{"multipath TCP", "EACCES", func(*world) error { return socket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP) }},
	{"UDP", "EACCES", func(*world) error { return socket(unix.AF_INET, unix.SOCK_DGRAM, 0) }},
	{"IPv6", "EACCES", func(*world) error { return socket(unix.AF_INET6, unix.SOCK_STREAM, 0) }},
	{"unix socket", "EACCES", func(*world) error { return socket(unix.AF_UNIX, unix.SOCK_STREAM, 0) }},
	{"netlink", "EACCES", func(*world) error { return socket(unix.AF_NETLINK, unix.SOCK_RAW, 0) }},
	{"fast open", "EACCES|ECONNREFUSED|EOPNOTSUPP|ENETUNREACH", func(*world) error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, &unix.SockaddrInet4{Port: 3128, Addr: [4]byte{192, 0, 2, 1}})
	}},
	{"listen without an address", "EACCES", func(*world) error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Listen(fd, 1)
	}},
	{"bind", "EACCES", func(*world) error {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return unix.Bind(fd, &unix.SockaddrInet4{})
	}},
	{"connect a pair to a unix socket", "EISCONN|EINVAL", func(w *world) error {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		return unix.Connect(pair[0], &unix.SockaddrUnix{Name: w.UnixSocket})
	}},
}

func dialTCP(address string) error {
	host, err := net.ResolveTCPAddr("tcp4", address)
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Connect(fd, &unix.SockaddrInet4{Port: host.Port, Addr: [4]byte(host.IP.To4())})
}

// runProbe is the child: it tries, and says what came of it.
func runProbe(what string) int {
	runtime.LockOSThread()
	w := &world{}
	if err := json.Unmarshal([]byte(os.Getenv("WORLD")), w); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	w.Temp = os.Getenv("TMPDIR")
	rows, ok := probes[what]
	if !ok {
		return runOther(what, w)
	}
	got := map[string]string{}
	for _, r := range rows {
		got[r.name] = outcome(r.try(w))
	}
	if err := json.NewEncoder(os.Stdout).Encode(got); err != nil {
		return 2
	}
	return 0
}

// compare reports each outcome that is not what a row says. other holds rows that
// must come out otherwise this time.
func compare(t *testing.T, rows []row, got map[string]string, other map[string]string) {
	t.Helper()
	if len(got) != len(rows) {
		t.Errorf("%d outcomes of %d tries", len(got), len(rows))
	}
	for _, r := range rows {
		want := r.want
		if o, ok := other[r.name]; ok {
			want = o
		}
		matches := false
		for w := range strings.SplitSeq(want, "|") {
			matches = matches || got[r.name] == w
		}
		if !matches {
			t.Errorf("%s: got %s, want %s", r.name, got[r.name], want)
		}
	}
}

func readRules(w *world) *Rules { return &Rules{System: true, Temp: true, Read: []string{w.Read}} }

func writeRules(w *world) *Rules {
	r := readRules(w)
	r.Write = []string{w.Write}
	return r
}

// alone is this machine's support without namespaces.
func alone() *Support {
	s := *Supported()
	s.Namespaces, s.Network, s.Mounts = false, false, false
	return &s
}

func TestEscape(t *testing.T) {
	for name, s := range map[string]*Support{"namespaces": Supported(), "alone": alone()} {
		t.Run(name, func(t *testing.T) {
			w := lay(t)
			compare(t, escapes, escape(t, s, readRules(w), "escape", w), nil)
			compare(t, signals, escape(t, s, readRules(w), "signals", w), nil)
			compare(t, metadata, escape(t, s, readRules(w), "metadata", w), nil)
			compare(t, owners, escape(t, s, readRules(w), "owners", w), nil)
			if text, err := os.ReadFile(w.Secret); err != nil || string(text) != "secret" {
				t.Errorf("the secret is now %q, %v", text, err)
			}
			if text, err := os.ReadFile(w.ReadFile); err != nil || string(text) != "file" {
				t.Errorf("what was granted to read is now %q, %v", text, err)
			}
		})
	}
}

// With something to write, a program can also change modes and times, and the kernel does not
// look whose.
func TestEscapeWriting(t *testing.T) {
	w := lay(t)
	compare(t, escapes, escape(t, Supported(), writeRules(w), "escape", w), nil)
	compare(t, owners, escape(t, Supported(), writeRules(w), "owners", w), nil)
	compare(t, metadata, escape(t, Supported(), writeRules(w), "metadata", w), map[string]string{
		"mode outside": "ok", "mode outside, by fchmodat2": "ok", "times outside": "ok", // inherent
	})
}
