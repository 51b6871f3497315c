//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/binary"
	"slices"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Where the kernel puts what a filter looks at.
const (
	offNumber = 0
	offArch   = 4
	offArgs   = 16
)

// newest is the highest number of a system call that this filter knows of. What the
// kernel has learnt since is not there for the program: nobody has looked at it.
const newest = unix.SYS_RSEQ_SLICE_YIELD

// sockets says what the program may do with sockets.
type sockets struct {
	unix  bool // listen at unix sockets
	proxy bool // connect by TCP, in a network of its own
}

// filterFor gives the program that the kernel runs before each system call: what the
// file rules do not reach is refused here. metadata: changing modes and times is allowed.
// first: the program is process 1 of a namespace. abi is the Landlock version: old ones
// leave open what is closed here instead.
func filterFor(s sockets, metadata, first bool, abi int) ([]byte, error) {
	f := &filter{}
	f.add(bpf.LoadAbsolute{Off: offArch, Size: 4})
	// Another table of system calls has other numbers: nothing below would hold.
	f.add(bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1}, kill)
	f.add(bpf.LoadAbsolute{Off: offNumber, Size: 4})
	if x32 != 0 {
		f.add(bpf.JumpIf{Cond: bpf.JumpLessThan, Val: x32, SkipTrue: 1}, kill)
	}
	f.add(bpf.JumpIf{Cond: bpf.JumpLessOrEqual, Val: newest, SkipTrue: 1}, refuse(unix.ENOSYS))

	f.deny(unix.EPERM, deniedCalls...)
	f.deny(unix.EPERM, oldCalls.denied...)
	f.deny(unix.ENOSYS, absentCalls...)
	f.deny(unix.EPERM, ownerCalls...)
	f.deny(unix.EPERM, oldCalls.owners...)
	if !metadata {
		f.deny(unix.EPERM, metadataCalls...)
		f.deny(unix.EPERM, oldCalls.metadata...)
	}
	f.self()
	if first {
		f.ownEnd()
	}
	f.namespaces()
	f.ioctls()
	f.network(s)
	if abi < 3 {
		f.truncation()
	}
	f.add(bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW})
	return f.assemble()
}

// deniedCalls touch other processes, the machine, or the sandbox itself.
var deniedCalls = []uint32{
	// other processes
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE,
	unix.SYS_PROCESS_MRELEASE, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
	// leaving the process group by which the program and all that it starts are stopped
	unix.SYS_SETSID, unix.SYS_SETPGID,
	// namespaces and mounts
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT,
	unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR, unix.SYS_FSOPEN, unix.SYS_FSCONFIG,
	unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_STATMOUNT, unix.SYS_LISTMOUNT, unix.SYS_LISTNS,
	// files by other ways than a path
	unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_FANOTIFY_MARK, unix.SYS_LOOKUP_DCOOKIE,
	// parts of the kernel that have had holes, and no use in a tool
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL,
	unix.SYS_MEMFD_SECRET,
	// the machine
	unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_INIT_MODULE,
	unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_ACCT,
	unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_NFSSERVCTL, unix.SYS_SYSLOG, unix.SYS_SETTIMEOFDAY,
	unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX, unix.SYS_VHANGUP,
}

// absentCalls answer as on a kernel that does not have them, for which programs are prepared:
// a ring does system calls that no filter sees; shared memory and queues reach other
// programs of the user; the flags of clone3 are out of a filter's sight.
var absentCalls = []uint32{
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_CLONE3,
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SHMDT,
	unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMCTL, unix.SYS_SEMTIMEDOP,
	unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL,
	unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK, unix.SYS_MQ_TIMEDSEND, unix.SYS_MQ_TIMEDRECEIVE, unix.SYS_MQ_NOTIFY, unix.SYS_MQ_GETSETATTR,
}

// ownerCalls change who owns a file, and its extended attributes. The file rules do not
// hold for them, so they would reach every file of the user.
var ownerCalls = []uint32{
	unix.SYS_FCHOWN, unix.SYS_FCHOWNAT,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
	unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR,
}

// metadataCalls change modes and times. The file rules do not hold for them either, but
// programs that write files need them.
var metadataCalls = []uint32{unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_UTIMENSAT}

// filter is a program for the kernel, being written.
type filter struct{ code []bpf.Instruction }

var kill = bpf.RetConstant{Val: unix.SECCOMP_RET_KILL_PROCESS}

func refuse(errno unix.Errno) bpf.Instruction {
	return bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(errno)}
}

func (f *filter) add(code ...bpf.Instruction) { f.code = append(f.code, code...) }

// deny refuses system calls with an error number. They share the refusal: the kernel takes
// its time to translate each instruction, whenever a program starts.
func (f *filter) deny(errno unix.Errno, numbers ...uint32) {
	const farthest = 255 // what a jump reaches
	for part := range slices.Chunk(numbers, farthest) {
		for i, n := range part {
			f.add(bpf.JumpIf{Cond: bpf.JumpEqual, Val: n, SkipTrue: uint8(len(part) - i)})
		}
		f.add(bpf.Jump{Skip: 1}, refuse(errno))
	}
}

// when runs code, which must end the program, for one system call.
func (f *filter) when(number uint32, code ...bpf.Instruction) {
	f.add(bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: number, SkipTrue: uint8(len(code))})
	f.add(code...)
}

// arg loads the low half of an argument. The kernel takes no more of the arguments that
// are looked at here.
func arg(i uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: offArgs + 8*i, Size: 4} }

// only gives code that refuses a system call unless an argument is one of values.
func only(i uint32, errno unix.Errno, values ...uint32) []bpf.Instruction {
	code := []bpf.Instruction{arg(i)}
	for n, v := range values {
		code = append(code, bpf.JumpIf{Cond: bpf.JumpEqual, Val: v, SkipTrue: uint8(len(values) - n)})
	}
	return append(code, refuse(errno), bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW})
}

// except gives code that refuses a system call where an argument is one of values.
func except(i uint32, errno unix.Errno, values ...uint32) []bpf.Instruction {
	code := []bpf.Instruction{arg(i)}
	for n, v := range values {
		code = append(code, bpf.JumpIf{Cond: bpf.JumpEqual, Val: v, SkipTrue: uint8(len(values) - n)})
	}
	return append(code, bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}, refuse(errno))
}

// self leaves calls that can be about any process to be about the program itself.
func (f *filter) self() {
	for _, number := range []uint32{unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR} {
		f.when(number, only(0, unix.EPERM, 0)...)
	}
	for _, number := range []uint32{unix.SYS_SETPRIORITY, unix.SYS_IOPRIO_SET} {
		const process, ioProcess = 0, 1 // PRIO_PROCESS, IOPRIO_WHO_PROCESS
		which := uint32(process)
		if number == unix.SYS_IOPRIO_SET {
			which = ioProcess
		}
		code := []bpf.Instruction{arg(0), bpf.JumpIf{Cond: bpf.JumpEqual, Val: which, SkipTrue: 1}, refuse(unix.EPERM)}
		f.when(number, append(code, only(1, unix.EPERM, 0)...)...)
	}
	// The program dies with the host: no other signal may take the place of that one.
	f.when(unix.SYS_PRCTL,
		arg(0),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.PR_SET_PDEATHSIG, SkipTrue: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW},
		arg(1),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(unix.SIGKILL), SkipTrue: 1},
		refuse(unix.EPERM),
		bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW},
	)
	// Asking for the execution domain, and the usual one.
	f.when(unix.SYS_PERSONALITY, only(0, unix.EPERM, 0, 0xffffffff)...)
}

// ownEnd ends the program by its own SIGKILL, which the kernel does not give to process 1
// of a namespace: a program that means to crash would go on, and its call would wait until
// its deadline. The kernel gives it SIGSYS in its place.
func (f *filter) ownEnd() {
	allow := bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
	for _, call := range []struct{ number, signal uint32 }{{unix.SYS_KILL, 1}, {unix.SYS_TKILL, 1}, {unix.SYS_TGKILL, 2}} {
		f.when(call.number,
			arg(call.signal), bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(unix.SIGKILL), SkipTrue: 1}, allow,
			arg(0), bpf.JumpIf{Cond: bpf.JumpEqual, Val: 1, SkipTrue: 1}, allow,
			kill)
	}
}

// namespaces refuses to start processes in new ones.
func (f *filter) namespaces() {
	const flags = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	f.when(unix.SYS_CLONE,
		arg(0),
		bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: flags, SkipFalse: 1},
		refuse(unix.EPERM),
		bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW},
	)
}

// ioctls refuses to type into a terminal, and what changes a file for good that is open
// only for reading. fcntl with a lease keeps others from opening a file.
func (f *filter) ioctls() {
	const setXattr = 0x401c5820 // FS_IOC_FSSETXATTR
	refused := []uint32{
		unix.TIOCSTI, unix.TIOCLINUX,
		unix.FS_IOC_SETFLAGS, setXattr, unix.FS_IOC_ENABLE_VERITY, unix.FS_IOC_SET_ENCRYPTION_POLICY,
	}
	f.when(unix.SYS_IOCTL, except(1, unix.EPERM, refused...)...)
	f.when(unix.SYS_FCNTL, except(1, unix.EPERM, unix.F_SETLEASE)...)
}

// network refuses sockets but those that s allows. The type of a socket is in the low
// four bits of the argument; a pair is always connected, and then stays with its program.
func (f *filter) network(s sockets) {
	const typeMask = 0xf
	stream := []bpf.Instruction{
		arg(1),
		bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: typeMask},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SOCK_STREAM, SkipTrue: 1},
		refuse(unix.EACCES),
	}
	family := func(family uint32, then ...bpf.Instruction) []bpf.Instruction {
		code := []bpf.Instruction{
			arg(0),
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: family, SkipTrue: uint8(len(stream) + len(then))},
		}
		return append(append(code, stream...), then...)
	}
	allow := bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW}
	f.when(unix.SYS_SOCKETPAIR, append(family(unix.AF_UNIX, allow), refuse(unix.EACCES))...)

	var code []bpf.Instruction
	if s.unix {
		code = append(code, family(unix.AF_UNIX, allow)...)
	}
	if s.proxy {
		// Not MPTCP or another protocol under the same family.
		code = append(code, family(unix.AF_INET, only(2, unix.EACCES, 0, unix.IPPROTO_TCP)...)...)
	}
	f.when(unix.SYS_SOCKET, append(code, refuse(unix.EACCES))...)
	if !s.proxy {
		f.deny(unix.EACCES, unix.SYS_CONNECT)
	}
	if !s.unix {
		f.deny(unix.EACCES, unix.SYS_BIND, unix.SYS_LISTEN)
	}
}

// truncation closes what Landlock before version 3 leaves open: emptying a file by its
// path, and by opening it for reading.
func (f *filter) truncation() {
	f.deny(unix.EACCES, unix.SYS_TRUNCATE)
	f.deny(unix.ENOSYS, unix.SYS_OPENAT2) // its flags are out of a filter's sight
	reading := func(flags uint32) []bpf.Instruction {
		return []bpf.Instruction{
			arg(flags),
			bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: unix.O_TRUNC | unix.O_ACCMODE},
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.O_TRUNC | unix.O_RDONLY, SkipTrue: 1},
			refuse(unix.EACCES),
			bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW},
		}
	}
	for _, number := range oldCalls.openers {
		f.when(number, reading(1)...)
	}
	f.when(unix.SYS_OPENAT, reading(2)...)
}

// assemble gives the program in the kernel's form.
func (f *filter) assemble() ([]byte, error) {
	raw, err := bpf.Assemble(f.code)
	if err != nil {
		return nil, err
	}
	var out []byte
	for _, r := range raw {
		out = binary.NativeEndian.AppendUint16(out, r.Op)
		out = append(out, r.Jt, r.Jf)
		out = binary.NativeEndian.AppendUint32(out, r.K)
	}
	return out, nil
}
