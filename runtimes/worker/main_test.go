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
			if err := goleak.Find(); err != nil {
				println(err.Error())
				return 1
			}
		}
		return code
	}())
}
