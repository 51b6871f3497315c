package sandbox_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/permissions/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	goleak.VerifyTestMain(m)
}
