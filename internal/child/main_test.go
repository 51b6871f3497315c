package child_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/internal/child"
)

// TestMain lets the test binary be a supervisor, a child, and a host that is killed.
func TestMain(m *testing.M) {
	child.Main()
	if len(os.Args) > 1 && os.Args[1] == "host" {
		if err := host(os.Args[2] == "supervised", os.Args[3:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}
