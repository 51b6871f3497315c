package sandbox

import (
	"fmt"
	"slices"
	"strings"
)

// profile writes rules as a profile for macOS's sandbox-exec. Paths are without links
// already. Of several lines about a place the last one counts; what no line allows is
// refused, the network too.
func profile(program, temp string, rules *Rules) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	places := func(act string, paths ...string) {
		for _, p := range paths {
			if p != "" {
				line("(allow %s (subpath %s))", act, quoteScheme(p))
			}
		}
	}
	line("(version 1)")
	line("(deny default)")
	line("(allow process-fork)")
	line("(allow signal (target same-sandbox))")
	line("(allow process-info* (target same-sandbox))")
	line("(allow sysctl-read)")
	line(`(allow mach-lookup (global-name "com.apple.system.logger") (global-name "com.apple.system.opendirectoryd.libinfo"))`)
	line("(allow file-read-metadata)")
	line(`(allow file-read* (literal "/") (literal "/dev/null") (literal "/dev/zero") (literal "/dev/random") (literal "/dev/urandom"))`)
	line(`(allow file-write-data (literal "/dev/null"))`)
	if rules.System {
		for _, dir := range []string{"/usr", "/bin", "/sbin", "/System", "/Library/Frameworks", "/Library/Apple", "/opt/homebrew"} {
			places("file-read*", dir)
			places("process-exec", dir)
		}
		places("file-read*", "/private/var/db/timezone", "/private/etc/ssl")
	}
	for _, dir := range slices.Concat([]string{program}, rules.Exec) {
		places("file-read*", dir)
		places("process-exec", dir)
	}
	places("file-read*", rules.Read...)
	places("file-read*", rules.exact.trees...)
	for _, file := range rules.exact.files {
		line("(allow file-read* (literal %s))", quoteScheme(file))
	}
	// A folder itself can be listed without what is in it being readable.
	for _, dir := range slices.Concat(rules.List, rules.exact.folders) {
		line(`(allow file-read* (require-all (subpath %s) (vnode-type DIRECTORY)))`, quoteScheme(dir))
	}
	for _, dir := range rules.exact.unlisted {
		line("(allow file-read* (literal %s))", quoteScheme(dir))
	}
	places("file-write*", rules.exact.writable...)
	places("process-exec", rules.exact.run...)
	places("file-read*", slices.Concat(rules.Write, rules.Private, []string{temp, rules.Sockets})...)
	places("file-write*", slices.Concat(rules.Write, rules.Private, []string{temp, rules.Sockets})...)
	if rules.Sockets != "" {
		line("(allow system-socket (socket-domain AF_UNIX))")
		line("(allow network-bind network-inbound (local unix-socket (subpath %s)))", quoteScheme(rules.Sockets))
	}
	return b.String()
}

// quoteScheme writes a text as the profile's language does.
func quoteScheme(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
