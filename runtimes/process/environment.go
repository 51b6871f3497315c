package process

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
)

// systemPath is the PATH of every process: the system's, not the host's.
const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// refusedNames are variables that no manifest may ask for: they make programs load or run
// something else than what the user agreed to. A * stands for what follows.
var refusedNames = []string{
	"LD_*", "DYLD_*", "GCONV_PATH", "GLIBC_TUNABLES", "LOCPATH", "MALLOC_*",
	"NODE_OPTIONS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE", "PYTHONSTARTUP", "PYTHONPATH", "PYTHONHOME", "PYTHONINSPECT",
	"PERL5OPT", "PERL5LIB", "PERL5DB", "PERLLIB", "RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS",
	"BASH_ENV", "BASH_FUNC_*", "ENV", "IFS", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND",
	"GODEBUG", "GOTRACEBACK", "LUA_INIT*", "PHP_INI_SCAN_DIR", "PHPRC", "TOOLHOST_*",
}

// ownNames are variables that every process has from the host; asking for them changes nothing.
var ownNames = []string{"PATH", "TMPDIR", "TMP", "TEMP"}

// checkEnvironment refuses what a manifest must not ask for. The error is a *runtimes.LoadError.
func checkEnvironment(policy *permissions.Policy) error {
	if policy == nil {
		return nil
	}
	var e runtimes.LoadError
	for i, name := range policy.Env {
		if refusedName(name) {
			e.Problems = append(e.Problems, runtimes.Problem{
				File: runtimes.ManifestFile, Field: "/permissions/env/" + strconv.Itoa(i),
				Message: fmt.Sprintf("the environment variable %q is never given to a process: it can make programs run other code", name),
				Hint:    `take it out of "permissions.env"; what the program needs may be an argument in its "command"`,
			})
		}
	}
	if len(e.Problems) > 0 {
		return &e
	}
	return nil
}

func refusedName(name string) bool {
	return slices.ContainsFunc(refusedNames, func(refused string) bool {
		prefix, any := strings.CutSuffix(refused, "*")
		return name == refused || any && strings.HasPrefix(name, prefix)
	})
}

// environment gives the whole environment of a process. The sandbox adds the temporary
// folder.
func environment(spec *runtimes.Spec) []string {
	env := []string{
		"PATH=" + systemPath, "LANG=C.UTF-8",
		"TOOLHOST_PLUGIN=" + spec.Plugin, "TOOLHOST_PLUGIN_DIR=" + spec.Dir,
	}
	set := func(name, value string) {
		env = slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, name+"=") })
		env = append(env, name+"="+value)
	}
	if zone, ok := os.LookupEnv("TZ"); ok {
		set("TZ", zone)
	}
	if spec.DataDir != "" {
		set("TOOLHOST_DATA_DIR", spec.DataDir)
	}
	if spec.Policy == nil {
		return env
	}
	for _, name := range spec.Policy.Env {
		value, ok := os.LookupEnv(name)
		if !ok || refusedName(name) || slices.Contains(ownNames, name) || name == "" || strings.ContainsAny(name, "=\x00") {
			continue
		}
		set(name, value)
	}
	return env
}
