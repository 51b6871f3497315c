package rpcchild

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// dialSocket connects to a socket. The child may put a link to another program's socket
// in its place at any time, so it is opened first and connected to by its descriptor.
func dialSocket(ctx context.Context, address string) (net.Conn, error) {
	fd, err := unix.Open(address, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: address, Err: err}
	}
	f := os.NewFile(uintptr(fd), address)
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Mode().Type() != os.ModeSocket {
		return nil, errors.New("the address of the process is no socket")
	}
	var d net.Dialer
	return d.DialContext(ctx, "unix", fmt.Sprintf("/proc/self/fd/%d", fd))
}
