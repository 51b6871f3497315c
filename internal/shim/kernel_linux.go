//go:build linux && (amd64 || arm64)

package shim

// What the kernel calls things that package syscall does not know. Package unix has them
// all, but is initialized after a hundred others, and this package after it: that took
// longer than all that a shim does. A test compares the numbers.
const (
	sysCloseRange   = 436
	sysOpenat2      = 437
	sysLandlockRule = 445
	sysLandlockSelf = 446

	closeRangeCloexec = 1 << 2
	oPath             = 0x200000
	resolveNoSymlinks = 0x04

	prCapbsetDrop       = 24
	prSetNoNewPrivs     = 38
	prCapAmbient        = 47
	prCapAmbientClear   = 4
	capabilityVersion3  = 0x20080522
	lastCapability      = 63
	seccompFilter       = 1
	landlockPathBeneath = 1
	fGetSeals           = 1034
	pollIn              = 1
)

// Seals are those that the memory of a policy must have: nobody can change it any more.
const Seals = 1 | 2 | 4 | 8 // F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW, F_SEAL_WRITE

// openHow is struct open_how.
type openHow struct{ flags, mode, resolve uint64 }

// pollFd is struct pollfd.
type pollFd struct {
	fd              int32
	events, revents int16
}

// capHeader and capData are those of capset.
type capHeader struct {
	version uint32
	pid     int32
}

type capData [3]uint32 // effective, permitted, inheritable

// pathBeneath is struct landlock_path_beneath_attr, which is packed: only its first twelve
// bytes are read.
type pathBeneath struct {
	access uint64
	parent int32
}

// interfaceRequest is struct ifreq with flags.
type interfaceRequest struct {
	name  [16]byte
	flags uint16
	_     [22]byte
}

// sockFilter and sockProgram are struct sock_filter and sock_fprog.
type sockFilter struct {
	code   uint16
	jt, jf uint8
	k      uint32
}

type sockProgram struct {
	length uint16
	filter *sockFilter
}
