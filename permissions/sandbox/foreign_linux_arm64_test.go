package sandbox

// foreign: a 64-bit program of this processor has no other table.
var foreign []string

func old() {}
