//go:build !race

package benchmarks

// detector is by how much the race detector widens bounds.
const detector = 1
