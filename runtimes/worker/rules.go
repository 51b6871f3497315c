package worker

import (
	"debug/elf"
	"os"
	"runtime"

	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/permissions/sandbox"
	"github.com/toolhost/toolhost/runtimes"
)

// defaultMemory is how many bytes of data a worker may have whose manifest states none.
const defaultMemory = 1 << 30

// memory gives how many bytes of data a worker may have whose manifest asks for so many.
func memory(asked int64) int64 {
	if asked <= 0 {
		return defaultMemory
	}
	return max(asked, runtimes.LeastEngineMemory)
}

// rules gives what the kernel lets a worker do. Within it each call has a grant of its own,
// which the engine is held to: the kernel's rules are those of all calls together, since a
// process cannot be given more once it runs. All network is the host's.
func rules(own []string, folder string, policy *permissions.Policy, bytes int64) *sandbox.Rules {
	r := &sandbox.Rules{
		Read:   []string{"/etc/localtime", "/usr/share/zoneinfo"},
		Limits: sandbox.Limits{Memory: bytes, Files: 4096},
	}
	for _, dir := range own {
		if dir != "" {
			r.Read = append(r.Read, dir)
		}
	}
	if raceDetector {
		r.Limits.Memory = -1 // it maps far more than it uses
	}
	if policy != nil && folder != "" {
		fs := policy.FS
		if allows(fs.Read) || allows(fs.Write) || fs.List != nil && allows(*fs.List) {
			r.List = append(r.List, folder) // names are walked one by one
		}
		if allows(fs.Read) {
			r.Read = append(r.Read, folder)
		}
		if allows(fs.Write) {
			r.Write = append(r.Write, folder)
		}
	}
	if policy != nil && len(policy.Net.Static)+len(policy.Net.Settings) > 0 {
		r.Read = append(r.Read, certificates...) // of TLS, which the engine does itself
	}
	if loader, libraries := dynamic(); loader != "" {
		r.Exec, r.Read = append(r.Exec, loader), append(r.Read, libraries...)
	}
	return r
}

func allows(a permissions.Access) bool { return a.Parameter || a.Folder || len(a.Paths) > 0 }

// certificates are where systems keep those of certificate authorities.
var certificates = []string{
	"/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem", "/etc/pki", "/usr/share/ca-certificates", "/usr/local/share/ca-certificates",
	"/usr/share/pki", "/etc/ca-certificates",
}

// dynamic gives the loader of this program and the folders of its libraries, where it was
// not linked statically.
func dynamic() (loader string, libraries []string) {
	if runtime.GOOS != "linux" {
		return "", nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", nil
	}
	file, err := elf.Open(path)
	if err != nil {
		return "", nil
	}
	defer file.Close()
	for _, p := range file.Progs {
		if p.Type != elf.PT_INTERP || p.Filesz == 0 || p.Filesz > 4096 {
			continue
		}
		name := make([]byte, p.Filesz)
		if _, err := p.ReadAt(name, 0); err != nil {
			return "", nil
		}
		for len(name) > 0 && name[len(name)-1] == 0 {
			name = name[:len(name)-1]
		}
		return string(name), []string{"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"}
	}
	return "", nil
}
