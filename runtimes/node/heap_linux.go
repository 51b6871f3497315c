package node

import "syscall"

// addressSpace is how many bytes this process may map.
func addressSpace() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit); err != nil {
		return 0
	}
	return limit.Cur
}
