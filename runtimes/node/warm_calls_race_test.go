//go:build race

package node_test

// The race detector makes calls ten times slower.
const heapCalls = 1_000
