//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/binary"
	"fmt"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// filterVM runs a filter as the kernel does: on every processor for which the tests are
// built, also where the kernel beneath an emulator knows no filters.
type filterVM struct {
	t  *testing.T
	vm *bpf.VM
}

func newFilterVM(t *testing.T, s sockets, metadata, first bool, abi int) *filterVM {
	t.Helper()
	code, err := filterFor(s, metadata, first, abi)
	if err != nil {
		t.Fatal(err)
	}
	if len(code)%8 != 0 || len(code)/8 > 4096 {
		t.Fatalf("a filter of %d bytes", len(code))
	}
	var raw []bpf.RawInstruction
	for ; len(code) > 0; code = code[8:] {
		raw = append(raw, bpf.RawInstruction{Op: binary.NativeEndian.Uint16(code), Jt: code[2], Jf: code[3], K: binary.NativeEndian.Uint32(code[4:])})
	}
	instructions, whole := bpf.Disassemble(raw)
	if !whole {
		t.Fatal("the filter has instructions that nobody knows")
	}
	vm, err := bpf.NewVM(instructions)
	if err != nil {
		t.Fatal(err)
	}
	return &filterVM{t, vm}
}

// verdict gives what becomes of a system call: "allow", "kill" or the error number.
func (f *filterVM) verdict(arch, number uint32, args ...uint64) string {
	f.t.Helper()
	data := make([]byte, 64)
	put := func(at int, value uint32) { binary.BigEndian.PutUint32(data[at:], value) } // as the VM reads it
	put(offNumber, number)
	put(offArch, arch)
	for i, a := range args {
		put(offArgs+8*i, uint32(a))
		put(offArgs+8*i+4, uint32(a>>32))
	}
	got, err := f.vm.Run(data)
	if err != nil {
		f.t.Fatal(err)
	}
	switch action := uint32(got); action & unix.SECCOMP_RET_ACTION_FULL {
	case unix.SECCOMP_RET_ALLOW:
		return "allow"
	case unix.SECCOMP_RET_KILL_PROCESS:
		return "kill"
	case unix.SECCOMP_RET_ERRNO:
		return unix.ErrnoName(unix.Errno(action & unix.SECCOMP_RET_DATA))
	default:
		return fmt.Sprintf("%#x", action)
	}
}

// What the filter says of system calls, by the numbers of this processor.
func TestFilter(t *testing.T) {
	const upper = 1 << 32 // bits that the kernel does not look at
	for name, c := range map[string]struct {
		number uint32
		args   []uint64
		want   string            // without sockets, for a program that writes nothing
		other  map[string]string // where it is another: "unix", "proxy", "writes", "common", "old"
	}{
		"read":                        {unix.SYS_READ, nil, "allow", nil},
		"openat":                      {unix.SYS_OPENAT, []uint64{0, 0, unix.O_RDONLY}, "allow", nil},
		"openat, emptying":            {unix.SYS_OPENAT, []uint64{0, 0, unix.O_RDONLY | unix.O_TRUNC}, "allow", map[string]string{"old": "EACCES"}},
		"openat, emptying to write":   {unix.SYS_OPENAT, []uint64{0, 0, unix.O_WRONLY | unix.O_TRUNC}, "allow", nil},
		"openat2":                     {unix.SYS_OPENAT2, nil, "allow", map[string]string{"old": "ENOSYS"}},
		"truncate":                    {unix.SYS_TRUNCATE, nil, "allow", map[string]string{"old": "EACCES"}},
		"execve":                      {unix.SYS_EXECVE, nil, "allow", nil},
		"clone":                       {unix.SYS_CLONE, []uint64{uint64(unix.SIGCHLD)}, "allow", nil},
		"clone, a user namespace":     {unix.SYS_CLONE, []uint64{unix.CLONE_NEWUSER}, "EPERM", nil},
		"clone, a network":            {unix.SYS_CLONE, []uint64{unix.CLONE_NEWNET | uint64(unix.SIGCHLD)}, "EPERM", nil},
		"clone3":                      {unix.SYS_CLONE3, nil, "ENOSYS", nil},
		"io_uring":                    {unix.SYS_IO_URING_SETUP, nil, "ENOSYS", nil},
		"shmget":                      {unix.SYS_SHMGET, nil, "ENOSYS", nil},
		"mq_open":                     {unix.SYS_MQ_OPEN, nil, "ENOSYS", nil},
		"the newest":                  {newest, nil, "allow", nil},
		"a newer one":                 {newest + 1, nil, "ENOSYS", nil},
		"ptrace":                      {unix.SYS_PTRACE, nil, "EPERM", nil},
		"process_vm_readv":            {unix.SYS_PROCESS_VM_READV, nil, "EPERM", nil},
		"setsid":                      {unix.SYS_SETSID, nil, "EPERM", nil},
		"setpgid":                     {unix.SYS_SETPGID, nil, "EPERM", nil},
		"unshare":                     {unix.SYS_UNSHARE, nil, "EPERM", nil},
		"mount":                       {unix.SYS_MOUNT, nil, "EPERM", nil},
		"bpf":                         {unix.SYS_BPF, nil, "EPERM", nil},
		"keyctl":                      {unix.SYS_KEYCTL, nil, "EPERM", nil},
		"fchownat":                    {unix.SYS_FCHOWNAT, nil, "EPERM", nil},
		"setxattr":                    {unix.SYS_SETXATTR, nil, "EPERM", nil},
		"fchmodat":                    {unix.SYS_FCHMODAT, nil, "EPERM", map[string]string{"writes": "allow"}},
		"utimensat":                   {unix.SYS_UTIMENSAT, nil, "EPERM", map[string]string{"writes": "allow"}},
		"prlimit of itself":           {unix.SYS_PRLIMIT64, []uint64{0}, "allow", nil},
		"prlimit of another":          {unix.SYS_PRLIMIT64, []uint64{77}, "EPERM", nil},
		"setpriority of itself":       {unix.SYS_SETPRIORITY, []uint64{0, 0}, "allow", nil},
		"setpriority of another":      {unix.SYS_SETPRIORITY, []uint64{0, 77}, "EPERM", nil},
		"setpriority of a group":      {unix.SYS_SETPRIORITY, []uint64{1, 0}, "EPERM", nil},
		"ioprio of itself":            {unix.SYS_IOPRIO_SET, []uint64{1, 0}, "allow", nil},
		"ioprio of a user":            {unix.SYS_IOPRIO_SET, []uint64{3, 0}, "EPERM", nil},
		"to outlive the host":         {unix.SYS_PRCTL, []uint64{unix.PR_SET_PDEATHSIG, 0}, "EPERM", nil},
		"to die with the host":        {unix.SYS_PRCTL, []uint64{unix.PR_SET_PDEATHSIG, uint64(unix.SIGKILL)}, "allow", nil},
		"a name":                      {unix.SYS_PRCTL, []uint64{unix.PR_SET_NAME, 0}, "allow", nil},
		"personality, asked":          {unix.SYS_PERSONALITY, []uint64{0xffffffff}, "allow", nil},
		"personality, set":            {unix.SYS_PERSONALITY, []uint64{0x0400000}, "EPERM", nil},
		"ioctl":                       {unix.SYS_IOCTL, []uint64{0, unix.TCGETS}, "allow", nil},
		"TIOCSTI":                     {unix.SYS_IOCTL, []uint64{0, unix.TIOCSTI}, "EPERM", nil},
		"TIOCSTI, with higher bits":   {unix.SYS_IOCTL, []uint64{0, unix.TIOCSTI | upper}, "EPERM", nil},
		"a lease":                     {unix.SYS_FCNTL, []uint64{0, unix.F_SETLEASE}, "EPERM", nil},
		"its own SIGKILL":             {unix.SYS_KILL, []uint64{1, uint64(unix.SIGKILL)}, "kill", map[string]string{"common": "allow"}},
		"SIGKILL for another":         {unix.SYS_KILL, []uint64{2, uint64(unix.SIGKILL)}, "allow", nil},
		"its own SIGTERM":             {unix.SYS_KILL, []uint64{1, uint64(unix.SIGTERM)}, "allow", nil},
		"its own SIGKILL by a thread": {unix.SYS_TGKILL, []uint64{1, 5, uint64(unix.SIGKILL)}, "kill", map[string]string{"common": "allow"}},
		"a pair":                      {unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC}, "allow", nil},
		"a pair of datagrams":         {unix.SYS_SOCKETPAIR, []uint64{unix.AF_UNIX, unix.SOCK_DGRAM}, "EACCES", nil},
		"TCP":                         {unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM, 0}, "EACCES", map[string]string{"proxy": "allow"}},
		"MPTCP":                       {unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP}, "EACCES", nil},
		"UDP":                         {unix.SYS_SOCKET, []uint64{unix.AF_INET, unix.SOCK_DGRAM, 0}, "EACCES", nil},
		"IPv6":                        {unix.SYS_SOCKET, []uint64{unix.AF_INET6, unix.SOCK_STREAM, 0}, "EACCES", nil},
		"netlink":                     {unix.SYS_SOCKET, []uint64{unix.AF_NETLINK, unix.SOCK_RAW, 0}, "EACCES", nil},
		"vsock":                       {unix.SYS_SOCKET, []uint64{unix.AF_VSOCK, unix.SOCK_STREAM, 0}, "EACCES", nil},
		"a unix socket":               {unix.SYS_SOCKET, []uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_NONBLOCK, 0}, "EACCES", map[string]string{"unix": "allow"}},
		"a unix socket for datagrams": {unix.SYS_SOCKET, []uint64{unix.AF_UNIX, unix.SOCK_DGRAM, 0}, "EACCES", nil},
		"connect":                     {unix.SYS_CONNECT, nil, "EACCES", map[string]string{"proxy": "allow"}},
		"bind":                        {unix.SYS_BIND, nil, "EACCES", map[string]string{"unix": "allow"}},
		"listen":                      {unix.SYS_LISTEN, nil, "EACCES", map[string]string{"unix": "allow"}},
	} {
		for mode, f := range map[string]*filterVM{
			"":       newFilterVM(t, sockets{}, false, true, 7),
			"unix":   newFilterVM(t, sockets{unix: true}, false, true, 7),
			"proxy":  newFilterVM(t, sockets{proxy: true}, false, true, 7),
			"writes": newFilterVM(t, sockets{}, true, true, 7),
			"common": newFilterVM(t, sockets{}, false, false, 7),
			"old":    newFilterVM(t, sockets{}, false, true, 2),
		} {
			want := c.want
			if other, ok := c.other[mode]; ok {
				want = other
			}
			if got := f.verdict(auditArch, c.number, c.args...); got != want {
				t.Errorf("%s, mode %q: %s, want %s", name, mode, got, want)
			}
			for _, arch := range []uint32{unix.AUDIT_ARCH_I386, unix.AUDIT_ARCH_ARM, unix.AUDIT_ARCH_X86_64 ^ unix.AUDIT_ARCH_AARCH64 ^ auditArch} {
				if got := f.verdict(arch, c.number, c.args...); got != "kill" {
					t.Errorf("%s of the processor %#x, mode %q: %s", name, arch, mode, got)
				}
			}
			if x32 != 0 {
				if got := f.verdict(auditArch, c.number|x32, c.args...); got != "kill" {
					t.Errorf("%s by its 32-bit number, mode %q: %s", name, mode, got)
				}
			}
		}
	}
}

// Every call of the lists is refused, and none beside them.
func TestFilterLists(t *testing.T) {
	f := newFilterVM(t, sockets{}, false, true, 7)
	want := map[uint32]string{}
	for errno, lists := range map[unix.Errno][][]uint32{
		unix.EPERM:  {deniedCalls, oldCalls.denied, ownerCalls, oldCalls.owners, metadataCalls, oldCalls.metadata},
		unix.ENOSYS: {absentCalls},
		unix.EACCES: {{unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN}},
	} {
		for _, list := range lists {
			for _, n := range list {
				want[n] = unix.ErrnoName(errno)
			}
		}
	}
	// These depend on what they are asked for; without arguments some are refused.
	byArguments := map[uint32]bool{
		unix.SYS_PRLIMIT64: true, unix.SYS_SCHED_SETAFFINITY: true, unix.SYS_SCHED_SETSCHEDULER: true, unix.SYS_SCHED_SETPARAM: true,
		unix.SYS_SCHED_SETATTR: true, unix.SYS_SETPRIORITY: true, unix.SYS_IOPRIO_SET: true, unix.SYS_PRCTL: true, unix.SYS_PERSONALITY: true,
		unix.SYS_KILL: true, unix.SYS_TKILL: true, unix.SYS_TGKILL: true, unix.SYS_CLONE: true, unix.SYS_IOCTL: true, unix.SYS_FCNTL: true,
		unix.SYS_SOCKET: true, unix.SYS_SOCKETPAIR: true,
	}
	for n := range uint32(newest + 1) {
		if byArguments[n] {
			continue
		}
		expected := want[n]
		if expected == "" {
			expected = "allow"
		}
		if got := f.verdict(auditArch, n); got != expected {
			t.Errorf("system call %d: %s, want %s", n, got, expected)
		}
	}
}
