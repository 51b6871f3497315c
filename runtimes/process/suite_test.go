package process_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/process"
	"github.com/toolhost/toolhost/runtimes/runtimestest"
)

func TestRuntime(t *testing.T) {
	handlers := map[string]string{}
	for tool := range runtimestest.Tools() {
		handlers[tool] = "" // the command runs them all
	}
	for protocol, args := range map[string][]string{"go-plugin": {"rpc"}, "mcp": {"mcp", "fine"}} {
		t.Run(protocol, func(t *testing.T) {
			runtimestest.Run(t, func(t *testing.T) *runtimestest.Harness {
				return &runtimestest.Harness{
					Runtime: process.New(nil), Handlers: handlers, State: "plugin",
					Files: map[string]string{"README": "a plugin"}, Broken: map[string]string{"README": "a plugin"}, BrokenFile: "filer-plugin.json",
					Spec: func(spec *runtimes.Spec) {
						spec.Protocol, spec.Command = protocol, append([]string{self(t)}, args...)
						if spec.Plugin == "broken" {
							spec.Command = []string{"./missing"}
						}
					},
				}
			})
		})
	}
	for _, supervise := range []bool{false, true} {
		t.Run(fmt.Sprintf("supervise=%v", supervise), func(t *testing.T) {
			runtimestest.Run(t, func(t *testing.T) *runtimestest.Harness {
				return &runtimestest.Harness{
					Runtime: process.New(&process.Options{Supervise: supervise}), Handlers: handlers, Timeout: 2 * time.Second,
					Files: map[string]string{"README": "a plugin"}, Broken: map[string]string{"README": "a plugin"}, BrokenFile: "filer-plugin.json",
					Spec: func(spec *runtimes.Spec) {
						spec.Command = []string{self(t), "plugin"}
						if spec.Plugin == "broken" {
							spec.Command = []string{"./missing"}
						}
					},
				}
			})
		})
	}
}
