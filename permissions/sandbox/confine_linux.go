//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/internal/shim"
)

func confine(cmd *exec.Cmd, rules *Rules, mode Mode, s *Support) (*Child, error) {
	if os.Getenv(shim.Mark) != "" {
		return nil, errors.New("sandbox.Main must be called first in main: this process was started to become another program, and went on as itself")
	}
	if cmd.Err != nil {
		return nil, &SetupError{Step: shim.StepExec, Path: cmd.Path, Err: cmd.Err}
	}
	c := &Child{cmd: cmd, path: cmd.Path}
	if cmd.Env == nil {
		cmd.Env = []string{}
	}
	if rules.Temp {
		if err := c.makeTemp(); err != nil {
			return nil, err
		}
	}
	if mode == Off || mode == BestEffort && !s.Seccomp {
		return c, nil
	}
	if err := c.confine(rules, mode, s); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// confine readies the shim.
func (c *Child) confine(rules *Rules, mode Mode, s *Support) error {
	if err := s.lacks(rules); err != nil && mode == Require {
		return err
	}
	proxied := rules.Dial != nil && s.Network && (rules.Sockets == "" || s.Landlock >= 9)
	p := &shim.Policy{Port: proxyPort, Path: c.cmd.Path, Argv: c.cmd.Args, Ruleset: -1, Socket: -1, User: -1, Group: -1, Limits: rules.Limits.list(s.Namespaces)}
	if s.Namespaces { // else it stays where the host is, who may be nobody there: that is for others to say
		p.User, p.Group = os.Geteuid(), os.Getegid()
	}
	if !filepath.IsAbs(p.Path) {
		dir, err := filepath.Abs(c.cmd.Dir)
		if err != nil {
			return fmt.Errorf("confining %q: %w", p.Path, err)
		}
		p.Path = filepath.Join(dir, p.Path)
	}
	filter, err := filterFor(sockets{unix: rules.Sockets != "", proxy: proxied}, rules.writes(), s.Namespaces, s.Landlock)
	if err != nil {
		return fmt.Errorf("confining %q: writing the filter of system calls: %w", p.Path, err)
	}
	p.Filter = string(filter)
	files := c.cmd.ExtraFiles
	p.Keep = 3 + len(files)
	give := func(f *os.File) int {
		files = append(files, f)
		return 2 + len(files)
	}
	var ours, theirs []*os.File // closed when the child ends, when it was started
	fail := func(err error) error {
		closeFiles(ours)
		closeFiles(theirs)
		return err
	}
	if s.Landlock > 0 {
		r, err := c.ruleset(p.Path, rules, proxied, s.Landlock)
		if err != nil {
			return fail(fmt.Errorf("confining %q: %w", p.Path, err))
		}
		f := os.NewFile(uintptr(r.fd), "landlock")
		theirs = append(theirs, f)
		p.Ruleset = give(f)
		p.OwnProc = canRead & r.handled
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return fail(err)
	}
	ours, theirs = append(ours, reader), append(theirs, writer)
	p.Status = give(writer)
	pidfd, err := unix.PidfdOpen(os.Getpid(), 0)
	if err != nil {
		return fail(fmt.Errorf("confining %q: %w", p.Path, os.NewSyscallError("pidfd_open", err)))
	}
	host := os.NewFile(uintptr(pidfd), "pidfd")
	theirs = append(theirs, host)
	p.Host = give(host)
	if len(rules.exact.hidden) > 0 && s.Mounts {
		p.Hidden = rules.exact.hidden
		if p.Empty, err = c.makeEmpty(); err != nil {
			return fail(fmt.Errorf("confining %q: %w", p.Path, err))
		}
	}
	var proxy *proxy
	if proxied {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return fail(fmt.Errorf("confining %q: %w", p.Path, os.NewSyscallError("socketpair", err)))
		}
		mine, its := os.NewFile(uintptr(pair[0]), "socketpair"), os.NewFile(uintptr(pair[1]), "socketpair")
		ours, theirs = append(ours, mine), append(theirs, its)
		p.Socket = give(its)
		proxy = newProxy(rules.Dial)
		c.cmd.Env = append(slices.Clip(c.cmd.Env), proxyEnv()...)
		c.cleanup = append(c.cleanup, proxy.close)
	}
	p.Env = c.cmd.Env
	memory, err := sealed(p)
	if err != nil {
		return fail(fmt.Errorf("confining %q: %w", p.Path, err))
	}
	theirs = append(theirs, memory)
	number := give(memory)

	c.cmd.Path, c.cmd.Args = "/proc/self/exe", []string{shim.Name, strconv.Itoa(number)}
	c.cmd.Env, c.cmd.ExtraFiles = shim.Environment(), files
	c.cmd.SysProcAttr = c.attributes(s, proxied, p.Empty != "")
	c.cleanup = append(c.cleanup, func() { closeFiles(ours); closeFiles(theirs) })
	c.start = func() error {
		err := c.cmd.Start()
		closeFiles(theirs)
		if err != nil {
			return &SetupError{Step: "starting", Path: c.path, Err: err}
		}
		if proxy != nil {
			proxy.listen(ours[1])
		}
		if err := awaitStatus(reader, c.path, setupLimit); err != nil {
			_ = c.cmd.Process.Kill()
			_ = c.cmd.Wait()
			return err
		}
		return nil
	}
	return nil
}

// attributes adds namespaces to what the caller wants of the process.
func (c *Child) attributes(s *Support, network, mounts bool) *syscall.SysProcAttr {
	a := c.cmd.SysProcAttr
	if a == nil {
		a = &syscall.SysProcAttr{}
	}
	if s.Namespaces {
		namespaces(a, network, mounts, s.hostMaps)
	}
	return a
}

// namespaces gives a child user, process and IPC namespaces of its own, and a network and
// mounts where it is to have some. With hostMaps, which goes with neither, the host says who
// the child is in them.
func namespaces(a *syscall.SysProcAttr, network, mounts, hostMaps bool) {
	a.Cloneflags |= unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWIPC
	if hostMaps {
		a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
		a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
		return
	}
	// It is nobody in them until the shim says who it is: with the mappings above, Go does
	// not start it as it starts all others, in the host's memory until it becomes the shim,
	// but in a copy, which takes milliseconds, and more the larger the host is.
	a.Cloneflags |= unix.CLONE_VM | unix.CLONE_VFORK
	// Its rights in the namespaces would be lost by becoming the shim, were they not ambient.
	// The shim gives them up once it has used them: to say who it is, and for what follows.
	a.AmbientCaps = append(slices.Clip(a.AmbientCaps), unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP)
	if network {
		a.Cloneflags |= unix.CLONE_NEWNET
		a.AmbientCaps = append(a.AmbientCaps, unix.CAP_NET_ADMIN)
	}
	if mounts {
		a.Cloneflags |= unix.CLONE_NEWNS
	}
}

// ruleset makes the file rules.
func (c *Child) ruleset(program string, rules *Rules, proxied bool, abi int) (*ruleset, error) {
	r, err := newRuleset(abi)
	if err != nil {
		return nil, err
	}
	add := func(rights uint64, allow func(string, uint64) error, paths ...string) {
		for _, path := range paths {
			if err == nil && path != "" {
				err = allow(path, rights)
			}
		}
	}
	add(canExec, r.allow, program)
	if rules.System {
		add(canExec, r.allow, systemPrograms()...)
		add(canRead, r.allow, systemFiles()...)
		add(unix.LANDLOCK_ACCESS_FS_READ_FILE|unix.LANDLOCK_ACCESS_FS_WRITE_FILE|unix.LANDLOCK_ACCESS_FS_TRUNCATE, r.allow, "/dev/null")
	}
	add(canExec, r.allow, rules.Exec...)
	add(canRead, r.allow, rules.Read...)
	add(canList, r.allow, rules.List...)
	add(canWrite, r.allow, rules.Write...)
	add(canWrite, r.allow, rules.Private...)
	add(canRead, r.allowExactly, rules.exact.files...)
	add(canRead, r.allowExactly, rules.exact.trees...)
	add(canList, r.allowExactly, rules.exact.folders...)
	add(unix.LANDLOCK_ACCESS_FS_WRITE_FILE|unix.LANDLOCK_ACCESS_FS_TRUNCATE, r.allowExactly, rules.exact.writable...)
	add(unix.LANDLOCK_ACCESS_FS_EXECUTE, r.allowExactly, rules.exact.run...)
	add(canSockets, r.allow, rules.Sockets)
	add(canTemp, r.allow, c.temp)
	if err == nil && proxied {
		err = r.allowPort(proxyPort, abi)
	}
	if err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// list gives the limits as the kernel takes them. NPROC counts the processes of the
// whole user but in a user namespace, so it is for these only.
func (l Limits) list(namespaced bool) []shim.Limit {
	var list []shim.Limit
	add := func(resource int, value, otherwise int64) {
		if value == 0 {
			value = otherwise
		}
		if value > 0 {
			list = append(list, shim.Limit{Resource: resource, Value: uint64(value)})
		}
	}
	list = append(list, shim.Limit{Resource: unix.RLIMIT_CORE})
	add(unix.RLIMIT_FSIZE, l.FileSize, 1<<30)
	if l.CPU > 0 {
		add(unix.RLIMIT_CPU, int64((l.CPU+999_999_999)/1_000_000_000), 0)
	}
	if namespaced {
		add(unix.RLIMIT_NPROC, l.Processes, 512)
	}
	// Last, since the shim itself needs memory and descriptors. Not RLIMIT_AS: Go and
	// Node.js reserve far more addresses than they use.
	add(unix.RLIMIT_NOFILE, l.Files, 1024)
	add(unix.RLIMIT_DATA, l.Memory, 1<<30)
	return list
}

// sealed puts a policy into memory that nobody can change.
func sealed(p *shim.Policy) (*os.File, error) {
	fd, err := unix.MemfdCreate("toolhost-policy", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), "policy")
	if _, err = f.Write(p.Encode()); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, shim.Seals)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("writing the policy: %w", err)
	}
	return f, nil
}

// setupLimit is how long a shim may take, which mostly takes milliseconds. Who may send it signals
// can stop it.
const setupLimit = 30 * time.Second

// awaitStatus is readStatus for a shim that may have been stopped.
func awaitStatus(r *os.File, path string, limit time.Duration) error {
	if err := r.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return &SetupError{Step: "starting", Path: path, Err: err}
	}
	err := readStatus(r, path)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &SetupError{Step: "starting", Path: path, Err: fmt.Errorf("the process did not become the program within %s; was it stopped by a signal?", limit)}
	}
	return err
}

// readStatus waits until the shim has become its target, or gives why it has not.
func readStatus(r io.Reader, path string) error {
	const most = 64 << 10
	text, err := io.ReadAll(io.LimitReader(r, most))
	if err != nil {
		return &SetupError{Step: "starting", Path: path, Err: err}
	}
	if string(text) == shim.Ready {
		return nil
	}
	said := strings.SplitN(strings.TrimPrefix(string(text), shim.Ready), "\n", 3)
	number, err := strconv.Atoi(said[min(1, len(said)-1)])
	if err != nil || len(said) < 3 {
		return &SetupError{Step: "starting", Path: path, Err: errors.New("the process ended before it could become the program; does main begin with sandbox.Main, or with process.Main, which calls it?")}
	}
	if number != 0 {
		errno := syscall.Errno(number)
		var why error = errno
		if said[0] == shim.StepExec {
			why = explainExec(errno, path)
		} else if call, ok := strings.CutSuffix(said[2], ": "+errno.Error()); ok {
			why = fmt.Errorf("%s: %w", call, errno)
		}
		return &SetupError{Step: said[0], Path: path, Err: why}
	}
	return &SetupError{Step: said[0], Path: path, Err: errors.New(said[2])}
}

// explainExec adds to an error of the system what it is likely about.
func explainExec(errno syscall.Errno, path string) error {
	switch errno {
	case syscall.ENOENT:
		if _, err := os.Stat(path); err == nil {
			return fmt.Errorf("%w: the interpreter that its first line or its header names is missing", errno)
		}
	case syscall.EACCES:
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o111 == 0 {
			return fmt.Errorf("%w: the file is not executable (chmod +x)", errno)
		}
		return fmt.Errorf("%w: the sandbox lets programs be run from the system's folders and the plugin's own only, and this one, or the interpreter that it names, lies elsewhere", errno)
	case syscall.ENOEXEC:
		return fmt.Errorf("%w: it is no program for this machine, and has no line that names an interpreter (#!/usr/bin/env …)", errno)
	}
	return errno
}

func closeFiles(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // nothing was written that could be lost
	}
}
