//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rights of the file rules.
const (
	canList = unix.LANDLOCK_ACCESS_FS_READ_DIR
	canRead = unix.LANDLOCK_ACCESS_FS_READ_FILE | canList
	canExec = unix.LANDLOCK_ACCESS_FS_EXECUTE | canRead
	// canWrite makes no links: the host would have to follow them.
	canWrite = canRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_REFER
	canTemp    = canWrite | unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO
	canSockets = canWrite | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK

	// onFiles are the rights that a rule about a single file may have.
	onFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
)

// landlockABI gives the version of the kernel's Landlock interface.
func landlockABI() (int, error) {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, errno
	}
	return int(v), nil
}

// handled gives what a ruleset of a version can close; all of it is closed. The
// system's own list, not the kernel's highest number, decides: what a later version adds
// is not closed by a rule that nobody has written.
func handled(abi int) unix.LandlockRulesetAttr {
	var a unix.LandlockRulesetAttr
	a.Handled_access_fs = 1<<13 - 1
	if abi >= 2 {
		a.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi >= 3 {
		a.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi >= 4 {
		a.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if abi >= 5 {
		a.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if abi >= 6 {
		a.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	if abi >= 9 {
		a.Handled_access_fs |= unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
	}
	if abi >= 10 {
		a.Handled_access_net |= unix.LANDLOCK_ACCESS_NET_BIND_UDP | unix.LANDLOCK_ACCESS_NET_CONNECT_SEND_UDP
	}
	return a
}

// ruleset is a set of file rules that the kernel holds. The host makes it: each place is
// opened, looked at and put into it by its descriptor, so that what happens to names
// afterwards changes nothing.
type ruleset struct {
	fd      int
	handled uint64
}

func newRuleset(abi int) (*ruleset, error) {
	if abi < 1 {
		return nil, errors.New("the kernel has no Landlock")
	}
	attr := handled(abi)
	size := unsafe.Sizeof(attr)
	switch { // older kernels know a shorter form
	case abi < 4:
		size = unsafe.Offsetof(attr.Handled_access_net)
	case abi < 6:
		size = unsafe.Offsetof(attr.Scoped)
	case abi < 10:
		size = unsafe.Offsetof(attr.Scoped) + unsafe.Sizeof(attr.Scoped)
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return nil, os.NewSyscallError("landlock_create_ruleset", errno)
	}
	return &ruleset{fd: int(fd), handled: attr.Handled_access_fs}, nil
}

// allow opens path to the program. Links are followed. What is not there is passed over.
func (r *ruleset) allow(path string, rights uint64) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		if missing(err) {
			return nil
		}
		return err
	}
	return r.allowExactly(real, rights)
}

// allowExactly opens the place at path, an absolute path without links.
func (r *ruleset) allowExactly(path string, rights uint64) error {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		if missing(err) || err == unix.ELOOP { // gone or exchanged since
			return nil
		}
		return fmt.Errorf("opening %q: %w", path, err)
	}
	defer unix.Close(fd)
	return r.allowOpen(fd, path, rights)
}

func (r *ruleset) allowOpen(fd int, path string, rights uint64) error {
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return fmt.Errorf("looking at %q: %w", path, err)
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= onFiles
	}
	rights &= r.handled
	if rights == 0 {
		return nil
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return fmt.Errorf("opening %q to the program: %w", path, os.NewSyscallError("landlock_add_rule", errno))
	}
	return nil
}

// allowPort lets the program connect to a TCP port, where the kernel looks at ports.
func (r *ruleset) allowPort(port uint64, abi int) error {
	if abi < 4 {
		return nil // the network that the program is in has nothing else
	}
	const rulePort = 2 // LANDLOCK_RULE_NET_PORT
	attr := struct{ access, port uint64 }{unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, port}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), rulePort, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return os.NewSyscallError("landlock_add_rule", errno)
	}
	return nil
}

func (r *ruleset) close() { _ = unix.Close(r.fd) }

func missing(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES)
}
