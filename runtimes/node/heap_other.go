//go:build !linux

package node

// addressSpace is how many bytes this process may map; 0 where that is not known.
func addressSpace() uint64 { return 0 }
