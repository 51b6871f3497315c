package sandbox

import "golang.org/x/sys/unix"

// auditArch is how the kernel names this processor to a filter of system calls.
const auditArch = unix.AUDIT_ARCH_AARCH64

// x32 marks system calls of another table under this processor's name; it has none.
const x32 = 0

// oldCalls are system calls that only some processors have; this one has none of them.
var oldCalls struct{ denied, owners, metadata, openers []uint32 }
