//go:build !linux

package child

// Descendants gives how many processes run that this one has started, or that those have;
// 0 on this system, which does not tell.
func Descendants() int { return 0 }
