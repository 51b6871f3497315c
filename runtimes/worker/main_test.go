package worker_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/internal/child"
	"github.com/toolhost/toolhost/runtimes/worker"
)

func TestMain(m *testing.M) {
	child.Main()
	worker.Main()
	worker.HostileMain()
	os.Exit(func() int {
		code := m.Run()
		if code == 0 {
			// The clock of patterns with a time limit ends by itself a second after the last.
			if err := goleak.Find(goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock")); err != nil {
				println(err.Error())
				return 1
			}
		}
		return code
	}())
}
