//go:build !race

package node_test

// heapCalls is how many calls must leave nothing behind.
const heapCalls = 10_000
