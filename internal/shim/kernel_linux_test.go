//go:build linux && (amd64 || arm64)

package shim

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The numbers that this package has of its own are the kernel's.
func TestNumbers(t *testing.T) {
	for name, c := range map[string][2]uint64{
		"close_range":            {sysCloseRange, unix.SYS_CLOSE_RANGE},
		"openat2":                {sysOpenat2, unix.SYS_OPENAT2},
		"landlock_add_rule":      {sysLandlockRule, unix.SYS_LANDLOCK_ADD_RULE},
		"landlock_restrict":      {sysLandlockSelf, unix.SYS_LANDLOCK_RESTRICT_SELF},
		"seccomp":                {sysSeccomp, unix.SYS_SECCOMP},
		"CLOSE_RANGE_CLOEXEC":    {closeRangeCloexec, unix.CLOSE_RANGE_CLOEXEC},
		"O_PATH":                 {oPath, unix.O_PATH},
		"RESOLVE_NO_SYMLINKS":    {resolveNoSymlinks, unix.RESOLVE_NO_SYMLINKS},
		"CAPBSET_DROP":           {prCapbsetDrop, unix.PR_CAPBSET_DROP},
		"NO_NEW_PRIVS":           {prSetNoNewPrivs, unix.PR_SET_NO_NEW_PRIVS},
		"CAP_AMBIENT":            {prCapAmbient, unix.PR_CAP_AMBIENT},
		"CAP_AMBIENT_CLEAR":      {prCapAmbientClear, unix.PR_CAP_AMBIENT_CLEAR_ALL},
		"CAPABILITY_VERSION_3":   {capabilityVersion3, unix.LINUX_CAPABILITY_VERSION_3},
		"SECCOMP_SET_FILTER":     {seccompFilter, unix.SECCOMP_SET_MODE_FILTER},
		"PATH_BENEATH":           {landlockPathBeneath, unix.LANDLOCK_RULE_PATH_BENEATH},
		"F_GET_SEALS":            {fGetSeals, unix.F_GET_SEALS},
		"POLLIN":                 {pollIn, unix.POLLIN},
		"seals":                  {Seals, unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE},
		"size of open_how":       {uint64(unsafe.Sizeof(openHow{})), uint64(unsafe.Sizeof(unix.OpenHow{}))},
		"size of pollfd":         {uint64(unsafe.Sizeof(pollFd{})), uint64(unsafe.Sizeof(unix.PollFd{}))},
		"size of cap_header":     {uint64(unsafe.Sizeof(capHeader{})), uint64(unsafe.Sizeof(unix.CapUserHeader{}))},
		"size of cap_data":       {uint64(unsafe.Sizeof(capData{})), uint64(unsafe.Sizeof(unix.CapUserData{}))},
		"parent in path_beneath": {uint64(unsafe.Offsetof(pathBeneath{}.parent)), uint64(unsafe.Offsetof(unix.LandlockPathBeneathAttr{}.Parent_fd))},
		"size of ifreq":          {uint64(unsafe.Sizeof(interfaceRequest{})), 40},
		"size of sock_filter":    {uint64(unsafe.Sizeof(sockFilter{})), uint64(unsafe.Sizeof(unix.SockFilter{}))},
		"size of sock_fprog":     {uint64(unsafe.Sizeof(sockProgram{})), uint64(unsafe.Sizeof(unix.SockFprog{}))},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %d, want %d", name, c[0], c[1])
		}
	}
}
