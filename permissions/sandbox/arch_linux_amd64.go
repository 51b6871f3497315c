package sandbox

import "golang.org/x/sys/unix"

// auditArch is how the kernel names this processor to a filter of system calls.
const auditArch = unix.AUDIT_ARCH_X86_64

// x32 marks the numbers of the 32-bit system calls that this processor's kernel may take too.
const x32 = 0x40000000

// oldCalls are system calls that only this processor has, for the lists of the filter.
var oldCalls = struct{ denied, owners, metadata, openers []uint32 }{
	denied: []uint32{
		unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS_USTAT, unix.SYS__SYSCTL,
		unix.SYS_CREATE_MODULE, unix.SYS_GET_KERNEL_SYMS, unix.SYS_QUERY_MODULE,
	},
	owners:   []uint32{unix.SYS_CHOWN, unix.SYS_LCHOWN},
	metadata: []uint32{unix.SYS_CHMOD, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT},
	openers:  []uint32{unix.SYS_OPEN},
}
