package loader

import (
	"fmt"
	"strings"

	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/permissions/sandbox"
	"github.com/toolhost/toolhost/runtimes"
)

// Enforcer is who holds a plugin to a rule.
type Enforcer string

const (
	ByKernel Enforcer = "kernel"   // whatever the plugin's code does
	ByHost   Enforcer = "host"     // every access goes through the host
	Advisory Enforcer = "advisory" // nobody
)

// Place is where the code of a plugin runs.
type Place string

const (
	InProcess Place = "in the host's process"
	InWorker  Place = "in a worker process"
	InChild   Place = "in a child process"
)

// Enforcement is one rule of a manifest, what it allows, and who enforces it.
type Enforcement struct {
	Rule     string   `json:"rule"`     // "fs.read", …
	Pointer  string   `json:"pointer"`  // in the manifest; "" for what every plugin has
	Allows   string   `json:"allows"`   // in words
	Enforced Enforcer `json:"enforced"` // on this machine
	How      string   `json:"how"`
}

// enforcedAnywhere is [Options].Enforced where nothing is known of the machine: handlers run
// in the host's process, and the host that runs programs answers for them.
func enforcedAnywhere(m *Manifest, _ string) []Enforcement {
	if m.Runtime == "process" || m.Engine == "node" {
		return nil
	}
	return Enforce(m, InProcess, sandbox.Require, &sandbox.Support{})
}

// place gives the pointer in a manifest at which a rule is to be reported: the field that
// brings it about where the manifest does not state it.
func (e *Enforcement) place(m *Manifest) string {
	switch {
	case e.Pointer != "":
		return e.Pointer
	case m.Engine == "node":
		return "/engine"
	case m.Runtime == "process":
		return "/runtime"
	}
	return ""
}

// remedy says what to do about a rule that is advisory.
func (e *Enforcement) remedy(m *Manifest) string {
	if m.Runtime == "process" || m.Engine == "node" {
		return "\"toolhost doctor\" says what this machine can enforce; load the plugin without --strict only if you trust its author like a program of your own"
	}
	return "run handlers in processes of their own (--isolation worker), which the kernel holds to it where it can; or take the rule away"
}

// enforcing lists what a plugin may touch.
type enforcing struct {
	m       *Manifest
	place   Place
	mode    sandbox.Mode
	support *sandbox.Support
	rules   []Enforcement
}

// Enforce gives what a manifest lets a plugin touch that runs at a place, and who holds it to
// that.
func Enforce(m *Manifest, at Place, mode sandbox.Mode, s *sandbox.Support) []Enforcement {
	e := &enforcing{m: m, place: at, mode: mode, support: s}
	e.own()
	if p := m.Policy; p != nil {
		e.files(p)
		e.network("fetch", p.Fetch)
		e.network("net", p.Net)
		if len(p.Env) > 0 {
			e.add("env", "/permissions/env", "the environment variables "+strings.Join(p.Env, ", "), ByHost, e.pick("process.env holds no others", "the process is started with no others"))
		}
		e.capabilities(p)
	}
	e.limits()
	return e.rules
}

func (e *enforcing) add(rule, pointer, allows string, by Enforcer, how string) {
	e.rules = append(e.rules, Enforcement{Rule: rule, Pointer: pointer, Allows: allows, Enforced: by, How: how})
}

// pick gives the words for a handler that the host's engine runs, or for a program.
func (e *enforcing) pick(handler, program string) string {
	if e.place == InChild {
		return program
	}
	return handler
}

// confined reports whether the kernel holds the plugin's process to files and calls.
func (e *enforcing) confined() bool {
	return e.place != InProcess && e.mode != sandbox.Off && (e.support.Landlock > 0 && e.support.Seccomp || e.support.Profile)
}

// loose is why a program is held to nothing.
func (e *enforcing) loose() string {
	if e.mode == sandbox.Off {
		return "the sandbox is off: the program can do whatever you can"
	}
	if e.mode == sandbox.BestEffort {
		return "this machine cannot confine programs (toolhost doctor), so this one can do whatever you can"
	}
	return "this machine cannot confine programs (toolhost doctor), so the plugin is refused; with --sandbox best-effort it could do whatever you can"
}

// through gives who enforces a rule about files, and how.
func (e *enforcing) through(program string) (Enforcer, string) {
	switch {
	case e.place == InProcess:
		return ByHost, "every access of the handler goes through the host, which opens files below the folder alone"
	case e.place == InWorker && e.confined():
		return ByHost, "every access goes through the call's grant in the worker; the kernel keeps the worker out of all that no call may be granted"
	case e.place == InWorker:
		return ByHost, "every access goes through the call's grant in the worker, which the kernel does not confine here"
	case !e.confined():
		return Advisory, e.loose()
	}
	return ByKernel, program
}

// own is what every plugin has.
func (e *enforcing) own() {
	by, how := e.through("the program can open nothing else but the system's programs and libraries, and those it is installed with")
	e.add("own files", "", "read the plugin's own folder", by, how)
	if e.place == InChild {
		e.add("own folders", "", "write a private temporary folder, and the plugin's private data folder", by, how)
	}
}

func (e *enforcing) files(p *permissions.Policy) {
	read := "rules for each file, made from the call when the process starts; a file that is made later stays closed"
	if e.m.KeepAlive {
		read = "rules for each file, made when the process starts; what the arguments name is copied for the call"
	}
	e.access("fs.read", "/permissions/fs/read", "read", p.FS.Read, read)
	if p.FS.List != nil {
		e.access("fs.list", "/permissions/fs/list", "list", *p.FS.List, read+"; a folder that holds a closed one cannot be listed")
	}
	e.access("fs.write", "/permissions/fs/write", "write", p.FS.Write, "files that are there are opened to the process; folders and new files go to a private place, from which the host moves what may be written")
}

func (e *enforcing) access(rule, pointer, act string, a permissions.Access, program string) {
	by, how := e.through(program)
	if a.Parameter {
		e.add(rule, pointer+"/parameter", act+" the files and folders that the arguments of a call name", by, how)
	}
	if a.Folder {
		e.add(rule, pointer+"/folder", act+" the agent's whole folder", by, how)
	}
	if len(a.Paths) > 0 {
		e.add(rule, pointer+"/paths", act+" "+strings.Join(a.Paths, ", "), by, how)
	}
	if len(a.Deny) > 0 {
		e.add(rule, pointer+"/deny", "but never "+strings.Join(a.Deny, ", "), by, how)
	}
}

func (e *enforcing) network(rule string, p permissions.HostPolicy) {
	by, how := ByHost, "the host makes the connections, and refuses addresses of this machine and its networks but for those that are named literally"
	switch {
	case e.place == InProcess, e.place == InWorker:
	case !e.confined():
		by, how = Advisory, e.loose()
	case e.m.Protocol == "go-plugin" && rule == "fetch":
		how = "the process has no network; the host makes the requests that it is asked for, with call.HTTP() in Go, and refuses those to others"
	case e.m.Protocol == "go-plugin":
		by, how = ByKernel, "the process has no network at all, since with the protocol go-plugin it can only ask the host for requests (fetch); with stdio or mcp it could connect"
	case e.support.Network:
		by, how = ByKernel, "the process has a network of its own, which holds the host's proxy and nothing else"
	case e.mode == sandbox.Require:
		how = "the plugin is refused: without network namespaces (toolhost doctor) a list of hosts cannot be held"
	default:
		by, how = ByKernel, "the process has no network at all: without network namespaces (toolhost doctor) a list of hosts cannot be held"
	}
	if len(p.Static) > 0 {
		e.add(rule, "/permissions/"+rule+"/static", "connect to "+strings.Join(p.Static, ", "), by, how)
	}
	if len(p.Settings) > 0 {
		e.add(rule, "/permissions/"+rule+"/settings", "connect to the hosts in the settings "+strings.Join(p.Settings, ", "), by, how)
	}
}

func (e *enforcing) capabilities(p *permissions.Policy) {
	for _, c := range []struct {
		on                    bool
		rule, pointer, allows string
	}{
		{p.Settings, "settings", "/permissions/settings", "read the settings that the user made for it"},
		{p.Store, "store", "/permissions/store", "keep values of its own between calls"},
		{p.Log, "log", "/permissions/log", "write to the host's log"},
		{p.Toast, "toast", "/permissions/toast", "show short messages"},
		{p.SessionGetActive, "session", "/permissions/session/getActive", "see which session is active"},
		{p.ChannelsGetIntegrationConfig, "channels", "/permissions/channels/getIntegrationConfig", "see how channels are set up"},
		{p.AIComplete, "ai", "/permissions/ai/complete", "ask a language model that the user has set up"},
		{p.HostTrigger, "hostTrigger", "/permissions/hostTrigger", "run commands of installed plugins"},
		{p.RenderHTMLToPDF, "renderHtmlToPdf", "/permissions/renderHtmlToPdf", "have pages printed"},
	} {
		if c.on {
			e.add(c.rule, c.pointer, c.allows, ByHost, "the host does it")
		}
	}
}

// limits are those of time and memory.
func (e *enforcing) limits() {
	time := "30s, or what a tool states"
	pointer := ""
	if e.m.Timeout > 0 {
		time, pointer = e.m.Timeout.String()+", or what a tool states", "/permissions/execution/timeout"
	}
	how := "the caller is answered then, and the handler is ended"
	if e.place != InProcess {
		how = "the caller is answered then, and the process is killed with all that it started"
	}
	by := ByHost
	if e.place != InProcess && e.support.Namespaces {
		by = ByKernel
	}
	e.add("execution.timeout", pointer, time, by, how)
	if e.m.Memory > 0 || e.place != InProcess {
		memory, pointer := "1 GiB", ""
		if e.m.Memory > 0 {
			bytes := e.m.Memory
			if e.place == InWorker || e.place == InChild && e.m.Engine == "node" {
				bytes = max(bytes, runtimes.LeastEngineMemory)
			}
			memory, pointer = fmt.Sprintf("%d MiB", (bytes+1<<20-1)>>20), "/permissions/execution/memory"
		}
		if e.confined() {
			e.add("execution.memory", pointer, memory, ByKernel, "a resource limit of the process (RLIMIT_DATA)")
		} else {
			e.add("execution.memory", pointer, memory, Advisory, e.pick("handlers share the host's memory: only single large allocations are refused, and the script that has run longest is ended when memory runs out", e.loose()))
		}
	}
}
