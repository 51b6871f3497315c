// Package examples_test runs the cases of the example plugins.
package examples_test

import (
	"testing"

	"github.com/toolhost/toolhost/internal/testhost"
)

func TestCases(t *testing.T) {
	for _, dir := range []string{"commonjs", "esm", "typescript", "node-modules"} {
		t.Run(dir, func(t *testing.T) { testhost.RunCases(t, dir) })
	}
}
