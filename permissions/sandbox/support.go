package sandbox

import (
	"fmt"
	"sync"
)

// Support is what the kernel of this machine enforces on a confined program.
type Support struct {
	OS, Arch string
	// Landlock is the version of the kernel's Landlock interface; 0 where there is none.
	Landlock int
	// Seccomp: system calls can be filtered, and the filter knows this processor.
	Seccomp bool
	// Namespaces: a child can have process, user and IPC namespaces of its own, as seen by
	// starting one. Then no process of its tree outlives it, and it sees no other.
	Namespaces bool
	// Network: a child can have a network of its own, with nothing in it but the way to the
	// host's proxy.
	Network bool
	// Mounts: a child can have mounts of its own, by which folders are hidden from it.
	Mounts bool
	// Profile: there is macOS's sandbox-exec.
	Profile bool

	// hostMaps: in namespaces of its own a process may not say who it is, so the host does.
	hostMaps bool

	// Why says of each of the above that is missing what the system said.
	Why map[string]string
}

// Row is one thing that a sandbox is made of.
type Row struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`         // what there is, or what its lack means
	Hint   string `json:"hint,omitempty"` // what to do about its lack
}

// Supported says what can be enforced here. It is found out once, by trying.
func Supported() *Support { return supported() }

var supported = sync.OnceValue(probe)

// Report gives what can be enforced here, row by row.
func Report() []Row { return Supported().Rows() }

// lacks gives what rules need and this machine has not; nil where it has all.
func (s *Support) lacks(rules *Rules) error {
	switch {
	case s.Profile && rules.Dial == nil:
		return nil
	case s.Profile:
		return &UnavailableError{What: "a list of granted hosts", Why: "macOS cannot give a program a network of its own", Hint: "let the plugin use the host's fetch service instead, or run it with --sandbox off if you trust its author"}
	case s.OS != "linux":
		return &UnavailableError{What: "confining a program", Why: s.OS + " has no way to do it that this version knows", Hint: hintOff}
	case s.Landlock < 1:
		return &UnavailableError{What: "Landlock", Why: s.why("landlock"), Hint: hintLandlock}
	case !s.Seccomp:
		return &UnavailableError{What: "seccomp", Why: s.why("seccomp"), Hint: hintOff}
	case rules.Dial != nil && !s.Network:
		return &UnavailableError{What: "a network namespace, which a list of granted hosts needs", Why: s.why("network"), Hint: hintNamespaces}
	case len(rules.exact.hidden) > 0 && !s.Mounts:
		return &UnavailableError{What: "a mount namespace, by which folders are hidden", Why: s.why("mounts"), Hint: hintNamespaces}
	case rules.Dial != nil && rules.Sockets != "" && s.Landlock < 9:
		return &UnavailableError{What: "granted hosts for a program that listens at a unix socket", Why: fmt.Sprintf("that needs Landlock 9, and this kernel has %d: the program could connect to the sockets of other programs", s.Landlock), Hint: "use the protocol stdio or mcp for this plugin, or have it ask the host to fetch"}
	}
	return nil
}

func (s *Support) why(what string) string {
	if w := s.Why[what]; w != "" {
		return w
	}
	return "this machine has none"
}

const (
	hintOff        = "run the plugin with --sandbox off if you trust its author"
	hintLandlock   = `use Linux 5.13 or newer with "landlock" among the security modules (kernel parameter lsm=landlock,…), or --sandbox off if you trust the plugin's author`
	hintNamespaces = "allow user namespaces (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns=0), or leave the hosts out of the manifest"
)

// Rows gives what there is, row by row, with what a lack means and what to do about it.
func (s *Support) Rows() []Row {
	if s.OS == "darwin" {
		return []Row{{Name: "sandbox-exec", OK: s.Profile, Detail: cond(s.Profile, "files and network of child processes are held by a profile (untested on a real system)", s.why("profile")), Hint: cond(s.Profile, "", hintOff)}}
	}
	if s.OS != "linux" {
		return []Row{{Name: "sandbox", Detail: s.OS + " has no way to confine a program that this version knows: process plugins are refused", Hint: hintOff}}
	}
	rows := []Row{{Name: "landlock", OK: s.Landlock > 0}, {Name: "seccomp", OK: s.Seccomp}, {Name: "namespaces", OK: s.Namespaces}, {Name: "network", OK: s.Network}, {Name: "rlimits", OK: true}}
	l := &rows[0]
	switch {
	case s.Landlock < 1:
		l.Detail, l.Hint = "files cannot be closed to child processes ("+s.why("landlock")+"): process plugins are refused", hintLandlock
	case s.Landlock < 6 && !s.Namespaces:
		l.Detail, l.Hint = fmt.Sprintf("ABI %d: files are closed; but a child can send signals to the user's other processes", s.Landlock), "Linux 6.12 or newer, or user namespaces, close that too"
	case s.Landlock < 2:
		l.Detail = fmt.Sprintf("ABI %d: files are closed; a child cannot move files from one folder to another", s.Landlock)
	default:
		l.Detail = fmt.Sprintf("ABI %d: files are closed to child processes but for what was granted", s.Landlock)
	}
	if rows[1].Detail = "network, other processes and the kernel's rarer doors are closed to child processes"; !s.Seccomp {
		rows[1].Detail, rows[1].Hint = "system calls cannot be filtered ("+s.why("seccomp")+"): process plugins are refused", hintOff
	}
	if rows[2].Detail = "a child's whole tree of processes ends with it, and it sees no others"; !s.Namespaces {
		rows[2].Detail, rows[2].Hint = "there are no process namespaces ("+s.why("namespaces")+"): a supervisor ends what a child starts, and the number of processes is not limited", hintNamespaces
	}
	if s.Namespaces && !s.Mounts {
		rows[2].Detail += "; but there are no mount namespaces (" + s.why("mounts") + "): a folder that holds a closed one cannot be listed by process plugins"
	}
	if rows[3].Detail = "a list of granted hosts is held by a network of the child's own and the host's proxy"; !s.Network {
		rows[3].Detail, rows[3].Hint = "there are no network namespaces ("+s.why("network")+"): process plugins with granted hosts are refused", hintNamespaces
	}
	rows[4].Detail = "memory, file size, open files and processor time of child processes are limited"
	return rows
}

func cond(ok bool, yes, no string) string {
	if ok {
		return yes
	}
	return no
}
