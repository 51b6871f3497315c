package process

import "github.com/toolhost/toolhost/internal/child"

// Main must be the first thing that main does in every program that opens plugins with a
// [Runtime], also in a test's TestMain. In a process that was started to confine or to
// supervise a program it does that and does not return; else it does nothing. Without it
// programs are confined where the kernel has process namespaces, and cannot be started
// where it has none.
func Main() { child.Main() }
