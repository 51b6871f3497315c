//go:build unix

package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

const hostileEnv = "TOOLHOST_TEST_HOSTILE"

// TestHostile runs each case in its own process, since what goes wrong here is
// a stack overflow or an endless loop, which no test survives.
func TestHostile(t *testing.T) {
	if name := os.Getenv(hostileEnv); name != "" {
		runHostile(name)
		return
	}
	for _, c := range hostileCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHostile$", "-test.count=1", "-test.timeout=5m")
			cmd.Env = append(os.Environ(), hostileEnv+"="+c.name, "GOMEMLIMIT=1GiB")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("the process did not end well: %v\n%.2000s", err, out)
			}
			outcome, _, _ := strings.Cut(string(out), "\nPASS")
			// A machine that is busy with other things may end any check early.
			if !strings.Contains(outcome, c.want) && !strings.Contains(outcome, errTooSlow.Error()) {
				t.Errorf("outcome %.500q, want %q", outcome, c.want)
			}
		})
	}
}

// processorTime is how many seconds of a processor a case may take. A clock would count what
// other processes of the machine take, too.
const processorTime = 20

func runHostile(name string) {
	if err := syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: processorTime, Max: processorTime}); err != nil {
		panic(err)
	}
	for _, c := range hostileCases() {
		if c.name != name {
			continue
		}
		start := time.Now()
		defer func() { fmt.Fprintln(os.Stdout, " after", time.Since(start)) }()
		s, err := Compile([]byte(c.schema))
		var load *LoadError
		if errors.As(err, &load) {
			for _, f := range load.Findings {
				fmt.Printf("%s %.300s\n", f.Rule, f.Message)
			}
			return
		}
		s.Lint()
		if c.value == "" {
			fmt.Println("compiled")
			return
		}
		s.PathArguments(json.RawMessage(c.value))
		switch checked, err := s.Check(json.RawMessage(c.value), false); {
		case err != nil:
			fmt.Println(err)
		case len(checked.Issues) > 0:
			fmt.Printf("invalid: %.3000s\n", Explain("", checked.Issues))
		default:
			fmt.Println("valid")
		}
	}
}
