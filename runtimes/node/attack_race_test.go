//go:build race

package node_test

// The race detector takes memory of its own and makes everything ten times slower: the
// limits under which attacks run mean nothing beside it, so they do not run there.
const attackVariable = "TOOLHOST_TEST_NO_ATTACK"

func runAttack(string) int { return 1 }
