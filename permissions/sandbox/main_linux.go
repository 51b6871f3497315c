//go:build linux && (amd64 || arm64)

package sandbox

import "github.com/toolhost/toolhost/internal/shim"

// Main turns this process into the confined program where it was started for that, and
// then does not return. Otherwise it returns at once. It must be the first thing that main
// (and TestMain, where a test confines programs) does.
//
// The import alone does it already, before most other packages are initialized, since that
// takes far longer than all that a shim does. Main makes sure of it.
func Main() { shim.Main() }
