package node_test

const attackVariable = "TOOLHOST_TEST_ATTACK"

func runAttack(string) int { return 0 }
