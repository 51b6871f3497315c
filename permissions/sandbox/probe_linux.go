//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/internal/shim"
)

// probe finds out what the kernel does, by trying. Where this program is a shim that went
// on as itself it tries nothing, or it would start itself without end.
func probe() *Support {
	s := &Support{OS: runtime.GOOS, Arch: runtime.GOARCH, Why: map[string]string{}}
	abi, err := landlockABI()
	if err != nil {
		s.Why["landlock"] = err.Error()
	}
	s.Landlock = abi
	if err := tryFilter(); err != nil {
		s.Why["seccomp"] = err.Error()
	} else {
		s.Seccomp = true
	}
	if os.Getenv(shim.Mark) != "" {
		return s
	}
	// Mostly all of it is there, or nothing.
	if tryNamespaces(true, true, false) == nil {
		s.Namespaces, s.Network, s.Mounts = true, true, true
		return s
	}
	for _, n := range []struct {
		name            string
		network, mounts bool
		have            *bool
	}{{"namespaces", false, false, &s.Namespaces}, {"network", true, false, &s.Network}, {"mounts", false, true, &s.Mounts}} {
		if err := tryNamespaces(n.network, n.mounts, false); err != nil {
			s.Why[n.name] = err.Error()
		} else {
			*n.have = true
		}
	}
	// AppArmor can take all rights from a process in a user namespace, that to say who it is
	// in it included (kernel.apparmor_restrict_unprivileged_userns). The host may.
	if !s.Namespaces && tryNamespaces(false, false, true) == nil {
		s.Namespaces, s.hostMaps = true, true
		delete(s.Why, "namespaces")
	}
	return s
}

// tryFilter asks whether there is a filter for system calls without setting one: with
// no program, a kernel that can do it fails over the address.
func tryFilter() error {
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, 0)
	if errno == unix.EFAULT {
		return nil
	}
	return os.NewSyscallError("seccomp", errno)
}

// tryNamespaces starts a shim in namespaces of its own that only tries.
func tryNamespaces(network, mounts, hostMaps bool) error {
	p := &shim.Policy{Port: proxyPort, Probe: true, Ruleset: -1, Socket: -1, Status: 4, Host: 5, User: os.Geteuid(), Group: os.Getegid(), Keep: 3}
	reader, writer, err := os.Pipe()
	if err != nil {
		return err
	}
	defer reader.Close()
	defer writer.Close()
	pidfd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return os.NewSyscallError("pidfd_open", err)
	}
	host := os.NewFile(uintptr(pidfd), "pidfd")
	defer host.Close()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = shim.Environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	namespaces(cmd.SysProcAttr, network, mounts, hostMaps)
	if network {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return os.NewSyscallError("socketpair", err)
		}
		mine := os.NewFile(uintptr(pair[0]), "socketpair")
		defer mine.Close()
		its := os.NewFile(uintptr(pair[1]), "socketpair")
		defer its.Close()
		p.Socket = 6
		cmd.ExtraFiles = []*os.File{its}
	}
	if mounts {
		p.Empty = "/" // nothing is hidden by it: there are no folders to be
	}
	memory, err := sealed(p)
	if err != nil {
		return err
	}
	defer memory.Close()
	cmd.ExtraFiles = append([]*os.File{memory, writer, host}, cmd.ExtraFiles...)
	cmd.Args = []string{shim.Name, strconv.Itoa(3)}
	if err := cmd.Start(); err != nil {
		var call *os.SyscallError
		if errors.As(err, &call) {
			return call
		}
		return fmt.Errorf("starting a process in namespaces of its own: %w", err)
	}
	_ = writer.Close()
	err = awaitStatus(reader, "a process that only tries", setupLimit)
	_ = cmd.Process.Kill() // it has ended, or was stopped
	_ = cmd.Wait()         // awaitStatus has said what is to be said
	return err
}
