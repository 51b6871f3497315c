//go:build race

package benchmarks

const detector = 1.5
