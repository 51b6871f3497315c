package sandbox

import "path/filepath"

// systemPrograms gives the folders of the system's programs and their libraries, and what
// stands for them on systems that keep these elsewhere.
func systemPrograms() []string {
	return []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"}
}

// systemFiles gives what programs read of the system and take it ill to miss. None of it
// is anybody's secret.
func systemFiles() []string {
	files := []string{
		"/etc/ld.so.cache", "/etc/localtime", "/etc/timezone", "/etc/os-release", "/etc/lsb-release", "/etc/debian_version",
		"/etc/ssl/openssl.cnf", "/etc/ssl/certs", "/etc/pki/tls/certs", "/etc/pki/ca-trust", "/etc/ca-certificates",
		"/etc/crypto-policies", "/etc/mime.types", "/etc/fonts", "/etc/terminfo", "/etc/magic", "/etc/locale.alias", "/etc/alternatives",
		"/dev/zero", "/dev/random", "/dev/urandom",
		"/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/version", "/proc/filesystems", "/proc/sys/vm/overcommit_memory",
		"/sys/devices/system/cpu", "/sys/kernel/mm/transparent_hugepage",
	}
	// Configuration of interpreters and tools that lies apart from them.
	for _, glob := range []string{"/etc/python3*", "/etc/java-*-openjdk", "/etc/ImageMagick-*", "/etc/ruby*", "/etc/perl", "/etc/php"} {
		found, _ := filepath.Glob(glob) // the globs are well formed
		files = append(files, found...)
	}
	return files
}
