package process_test

import (
	"errors"
	"os"
	"os/exec"
	"testing"
)

// Where there are no process namespaces this program, started again, supervises what it
// starts: a program that embeds the runtime has no other way to become that than Main.
func TestMainSupervises(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	lifeline, ours, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	defer lifeline.Close()
	cmd := exec.Command(self)
	cmd.Args = []string{supervisorName, "3", "/bin/sh", "sh", "-c", "exit 7"}
	cmd.ExtraFiles = []*os.File{lifeline}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Errorf("%v, want the status of the program; it wrote %q", err, out)
	}
}
