package mcpserver

import (
	"io"
	"io/fs"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"
)

// pollable gives a stream of the same bytes whose reads wait in the poller, where in is a file
// whose reads block, as those of standard input do. close must follow, and closes nothing of in.
//
// A read that blocks keeps one of the processors that Go runs goroutines on, until the monitor
// of the runtime takes it back: that can take 10 ms, in which half of two processors lies idle.
func pollable(in io.Reader, out io.Writer) (from io.Reader, close func()) {
	from, close = in, func() {}
	file, ok := in.(*os.File)
	if !ok || file.SetReadDeadline(time.Time{}) == nil { // such a file is in the poller
		return from, close
	}
	info, err := file.Stat()
	if err != nil {
		return from, close
	}
	switch info.Mode().Type() {
	case fs.ModeNamedPipe:
		// Opened anew, so that it goes on to block for all others that have it from the same opening.
		if own := reopened(file); own != nil {
			return own, func() { _ = own.Close() } // it was read only
		}
	case fs.ModeSocket:
		// It is the opening itself that reads no longer block in then: what is written there has to
		// go on to block.
		if isSame(info, out) || isSame(info, os.Stdout) || isSame(info, os.Stderr) {
			return from, close
		}
		if own, err := net.FileConn(file); err == nil {
			return own, func() { _ = own.Close() }
		}
	}
	return from, close
}

// reopened opens what an open file is once more; nil where the system cannot.
func reopened(file *os.File) *os.File {
	conn, err := file.SyscallConn()
	if err != nil {
		return nil
	}
	var own *os.File
	_ = conn.Control(func(fd uintptr) { // an error leaves it nil
		own, err = os.OpenFile("/proc/self/fd/"+strconv.Itoa(int(fd)), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	})
	if err != nil {
		return nil
	}
	return own
}

// isSame reports whether a stream is the file that info is about.
func isSame(info fs.FileInfo, stream any) bool {
	file, ok := stream.(*os.File)
	if !ok {
		return false
	}
	other, err := file.Stat()
	return err == nil && os.SameFile(info, other)
}
