//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"net"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// proxyPort is where a program finds the host's proxy, in a network that has nothing else.
const proxyPort = 3128

func proxyEnv() []string {
	address := "http://127.0.0.1:" + strconv.Itoa(proxyPort)
	var env []string
	for _, name := range []string{"http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		env = append(env, name+"="+address)
	}
	return append(env, "no_proxy=", "NO_PROXY=")
}

// receiveListener takes the listening socket of a child's network from it. It waits until
// the child sends it, or has ended.
func receiveListener(from *os.File) (net.Listener, error) {
	buf, oob := make([]byte, 1), make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(int(from.Fd()), buf, oob, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("recvmsg", err)
	}
	messages, err := unix.ParseSocketControlMessage(oob[:n])
	if err != nil || len(messages) != 1 {
		return nil, fmt.Errorf("the child sent no socket")
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, fmt.Errorf("the child sent no socket")
	}
	f := os.NewFile(uintptr(fds[0]), "listener")
	defer f.Close()
	return net.FileListener(f)
}

// listen serves the network of a child that was started.
func (p *proxy) listen(from *os.File) {
	if l, err := receiveListener(from); err == nil {
		p.serve(l)
	} // else the child says itself what went wrong
}
