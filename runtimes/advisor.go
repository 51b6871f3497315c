package runtimes

import "context"

// Advisor is a [Runtime] that also looks for what works in a plugin's code and will not do
// well, such as text that is built piece by piece in a loop.
type Advisor interface {
	// Advise looks through the code of a plugin that opens. It runs none of it.
	Advise(ctx context.Context, spec Spec) ([]Problem, error)
}
