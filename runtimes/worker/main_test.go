package worker_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/runtimes/worker"
)

// supervisorName is the name under which a program is started again to be a supervisor.
const supervisorName = "toolhost-supervisor"

func TestMain(m *testing.M) {
	worker.Main()
	if os.Args[0] == supervisorName {
		os.Exit(99) // Main is no supervisor: the tests must not begin anew in it
	}
	worker.HostileMain()
	// Else the race detector has each worker wait for a second when it ends.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE")); err != nil {
		panic(err)
	}
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
