package mcpserver

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// blocking gives the two ends of what a program gets as a standard stream.
func blocking(t *testing.T, make func() ([2]int, error)) (ours, theirs *os.File) {
	t.Helper()
	fds, err := make()
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs = os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
	t.Cleanup(func() { _, _ = ours.Close(), theirs.Close() })
	return ours, theirs
}

func pipe() (fds [2]int, err error) { return fds, syscall.Pipe2(fds[:], syscall.O_CLOEXEC) }

func socketpair() ([2]int, error) {
	return syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
}

func TestPollable(t *testing.T) {
	for name, make := range map[string]func() ([2]int, error){"a pipe": pipe, "a socket": socketpair} {
		t.Run(name, func(t *testing.T) {
			in, theirs := blocking(t, make)
			if in.SetReadDeadline(time.Now()) == nil {
				t.Fatal("its reads do not block from the start")
			}
			from, done := pollable(in, io.Discard)
			waits, ok := from.(deadliner)
			if !ok || waits.SetReadDeadline(time.Unix(1, 0)) != nil {
				t.Fatal("its reads block")
			}
			if _, err := from.Read([]byte{0}); !os.IsTimeout(err) {
				t.Errorf("a read after its deadline gives %v", err)
			}
			if err := waits.SetReadDeadline(time.Time{}); err != nil {
				t.Fatal(err)
			}
			if _, err := theirs.WriteString("bytes"); err != nil {
				t.Fatal(err)
			}
			if err := theirs.Close(); err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(from); string(got) != "bytes" || err != nil {
				t.Errorf("it gives %q, %v", got, err)
			}
			done()
			if err := in.Close(); err != nil {
				t.Errorf("the file itself was closed: %v", err)
			}
		})
	}
}

// A pipe that others have from the same opening blocks for them as before.
func TestPollableLeavesOthers(t *testing.T) {
	in, _ := blocking(t, pipe)
	_, done := pollable(in, io.Discard)
	defer done()
	flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, in.Fd(), syscall.F_GETFL, 0)
	if errno != 0 || flags&syscall.O_NONBLOCK != 0 {
		t.Errorf("its flags are %#x (%v)", flags, errno)
	}
}

// What is no pipe, needs no help, or is written to as well is read as it is.
func TestPollableLeft(t *testing.T) {
	same, _ := blocking(t, socketpair)
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	polled, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer polled.Close()
	defer w.Close()
	memory, other := net.Pipe()
	defer memory.Close()
	defer other.Close()
	for name, c := range map[string]struct {
		in  io.Reader
		out io.Writer
	}{
		"written to as well": {same, same},
		"a file":             {file, io.Discard},
		"in the poller":      {polled, io.Discard},
		"in memory":          {memory, io.Discard},
	} {
		from, done := pollable(c.in, c.out)
		if from != c.in {
			t.Errorf("%s: it is read as %T", name, from)
		}
		done()
	}
}
