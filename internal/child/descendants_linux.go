package child

import (
	"bytes"
	"os"
	"slices"
	"strconv"
	"syscall"
)

// killDescendants kills the descendants of a process that there are now.
func killDescendants(pid int) {
	// Parents first: they must not start others while their children end.
	for _, id := range descendants(pid) {
		_ = syscall.Kill(id, syscall.SIGKILL) // it may have ended meanwhile
	}
}

// Descendants gives how many processes run that this one has started, or that those have.
func Descendants() int { return len(descendants(os.Getpid())) }

// descendants gives the descendants of a process that there are now, parents first.
func descendants(pid int) []int {
	children := map[int][]int{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		id, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if parent, ok := parentOf(id); ok {
			children[parent] = append(children[parent], id)
		}
	}
	all := slices.Clone(children[pid])
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}

// parentOf gives the parent of a process that runs.
func parentOf(pid int) (int, bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	// The name of the program, in brackets, may hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 || string(fields[0]) == "Z" {
		return 0, false
	}
	parent, err := strconv.Atoi(string(fields[1]))
	return parent, err == nil
}

// defaultTerm reports whether SIGTERM does to a process what it does to those that have
// not asked for anything else.
func defaultTerm(pid int) bool {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return false
	}
	for line := range bytes.Lines(status) {
		name, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(":\t"))
		if n := string(name); n != "SigIgn" && n != "SigCgt" {
			continue
		}
		mask, err := strconv.ParseUint(string(value), 16, 64)
		if err != nil || mask&(1<<(syscall.SIGTERM-1)) != 0 {
			return false
		}
	}
	return true
}
