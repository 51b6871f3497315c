//go:build !linux

package rpcchild

import (
	"context"
	"errors"
	"net"
	"os"
)

// dialSocket connects to a socket.
func dialSocket(ctx context.Context, address string) (net.Conn, error) {
	info, err := os.Lstat(address)
	if err != nil {
		return nil, err
	}
	if info.Mode().Type() != os.ModeSocket {
		return nil, errors.New("the address of the process is no socket")
	}
	var d net.Dialer
	return d.DialContext(ctx, "unix", address)
}
