//go:build outside

package node_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/runtimes/node"
)

var update = flag.Bool("update", false, "record what Node writes")

const driver = `
import handler from './handler.mjs';
await handler({}, {});
`

// TestRecordings runs each file of testdata/js in the machine's Node, 20 or newer: it must
// write what is recorded. -update records it.
func TestRecordings(t *testing.T) {
	program, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("the recordings are compared with Node: %v", err)
	}
	for _, file := range parityFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".mjs"), func(t *testing.T) {
			t.Parallel()
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := inNode(t, program, t.TempDir(), source)
			if *update {
				if err := os.WriteFile(recording(file), []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(recording(file))
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s", firstDifference(string(want), got))
			}
		})
	}
}

// TestRecordedDates has the machine's Node read the texts of testdata/dates: it must give what is
// recorded. -update records it.
func TestRecordedDates(t *testing.T) {
	program, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("the dates are compared with Node: %v", err)
	}
	for zone, file := range node.DateZones {
		cmd := exec.CommandContext(t.Context(), program, "testdata/dates/texts.mjs")
		cmd.Env = append(os.Environ(), "TZ="+zone)
		got, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: %s", zone, firstDifference(string(want), string(got)))
		}
	}
}

// inNode runs a handler in the machine's Node, from a file in dir, with an empty working directory.
func inNode(t *testing.T, program, dir string, source []byte) string {
	t.Helper()
	work := filepath.Join(dir, "folder")
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"handler.mjs": source, "driver.mjs": []byte(driver)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), program, filepath.Join(dir, "driver.mjs"))
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "TZ=UTC", "LANG=en_US.UTF-8", "NO_COLOR=1")
	var out, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problems
	if err := cmd.Run(); err != nil {
		t.Fatalf("node: %v\n%s%s", err, out.String(), problems.String())
	}
	return out.String()
}
