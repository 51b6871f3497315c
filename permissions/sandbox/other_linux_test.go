//go:build linux && (amd64 || arm64)

package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolhost/toolhost/permissions"
)

// runOther is the child of the tests that are no list of tries.
func runOther(what string, w *world) int {
	switch what {
	case "environment":
		users, _ := os.ReadFile("/proc/self/uid_map")
		groups, _ := os.ReadFile("/proc/self/gid_map")
		setgroups, _ := os.ReadFile("/proc/self/setgroups")
		return report(environment{
			Env: os.Environ(), Files: descriptors(), Status: status1(), Limits: limits(),
			Identity: strings.Fields(string(users) + string(groups) + string(setgroups)),
		})
	case "host":
		cmd := exec.Command("/bin/echo", "confined")
		cmd.Stdout = os.Stdout
		child, err := Confine(cmd, &Rules{System: true}, Require)
		if err == nil {
			err = errors.Join(child.Start(), cmd.Wait(), child.Close())
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
		return 0
	case "questions":
		return answerQuestions()
	case "fetch":
		return fetch()
	case "unix":
		l, err := net.Listen("unix", os.Getenv("SOCKETS")+"/s")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 2
		}
		defer l.Close()
		fmt.Println("listening")
		c, err := l.Accept()
		if err != nil {
			return 2
		}
		defer c.Close()
		_, err = io.Copy(c, c)
		if err != nil {
			return 2
		}
		return 0
	case "large":
		f, err := os.Create(w.Temp + "/large")
		if err != nil {
			return 2
		}
		n, err := io.CopyN(f, zeros{}, 4<<20)
		fmt.Println(n, outcome(err))
		return 0
	case "memory":
		var keep [][]byte
		for range 64 {
			block := make([]byte, 64<<20)
			for i := 0; i < len(block); i += 4096 {
				block[i] = 1
			}
			keep = append(keep, block)
		}
		fmt.Println(len(keep))
		return 0
	case "spin":
		for {
			runtime.Gosched()
		}
	case "x32":
		err := raw(0x40000000 + unix.SYS_GETPID)
		fmt.Println(outcome(err))
		return 0
	case "i386":
		old()
		return 0
	case "hang":
		fmt.Println("started")
		select {}
	}
	fmt.Fprintln(os.Stderr, "unknown probe", what)
	return 3
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func report(v any) int {
	if json.NewEncoder(os.Stdout).Encode(v) != nil {
		return 2
	}
	return 0
}

type environment struct {
	Env      []string
	Files    []int
	Status   map[string]string
	Limits   map[string]uint64
	Identity []string // who it is inside and outside of its namespace, and how many; whether groups may be set
}

// descriptors gives the descriptors that are open, but for those of Go's own poller.
func descriptors() []int {
	var open []int
	for fd := range 300 {
		var s unix.Stat_t
		if unix.Fstat(fd, &s) != nil {
			continue
		}
		if target, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)); !strings.HasPrefix(target, "anon_inode:[event") {
			open = append(open, fd)
		}
	}
	return open
}

func status1() map[string]string {
	text, _ := os.ReadFile("/proc/self/status")
	status := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok {
			status[name] = strings.TrimSpace(value)
		}
	}
	return status
}

var resources = map[string]int{"data": unix.RLIMIT_DATA, "fsize": unix.RLIMIT_FSIZE, "nofile": unix.RLIMIT_NOFILE, "core": unix.RLIMIT_CORE, "cpu": unix.RLIMIT_CPU, "nproc": unix.RLIMIT_NPROC}

func limits() map[string]uint64 {
	found := map[string]uint64{}
	for name, r := range resources {
		var l unix.Rlimit
		if unix.Getrlimit(r, &l) == nil {
			found[name] = l.Max
		}
	}
	return found
}

func fetch() int {
	got := map[string]string{}
	for name, address := range map[string]string{"plain": os.Getenv("PLAIN"), "tls": os.Getenv("TLS"), "denied": os.Getenv("DENIED"), "deniedTLS": os.Getenv("DENIEDTLS")} {
		response, err := http.Get(address)
		if err != nil {
			got[name] = err.Error()
			continue
		}
		body, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		got[name] = fmt.Sprint(response.StatusCode, " ", string(body))
	}
	return report(got)
}

// A child has the environment that it was given, and nothing of the host's: no variables, no
// descriptors, no rights.
func TestEnvironment(t *testing.T) {
	t.Setenv("HOST_SECRET", "secret")
	mapped := *Supported()
	mapped.Network, mapped.Mounts, mapped.hostMaps = false, false, true
	if err := tryNamespaces(false, false, true); mapped.Namespaces && err != nil {
		t.Errorf("the host cannot say who a child is in its namespaces: %v", err)
	}
	for name, s := range map[string]*Support{"namespaces": Supported(), "mapped by the host": &mapped, "alone": alone()} {
		t.Run(name, func(t *testing.T) {
			w := lay(t)
			rules := readRules(w)
			rules.Limits = Limits{Memory: 2 << 30, FileSize: 1 << 20, Files: 300, CPU: 90 * time.Second, Processes: 100}
			out, err := runChild(t, s, rules, "environment", w)
			must(t, err)
			var got environment
			must(t, json.Unmarshal(out, &got))
			names := map[string]bool{}
			for _, v := range got.Env {
				name, _, _ := strings.Cut(v, "=")
				names[name] = true
			}
			for _, name := range []string{probeVariable, "WORLD", "GRANTED", "TMPDIR", "TMP", "TEMP", "HOME"} {
				if !names[name] {
					t.Errorf("the child has no variable %s", name)
				}
				delete(names, name)
			}
			if len(names) > 0 {
				t.Errorf("the child has the variables %v too", names)
			}
			if want := []int{0, 1, 2}; !slices.Equal(got.Files, want) {
				t.Errorf("the child has the descriptors %v, not %v", got.Files, want)
			}
			for name, want := range map[string]string{"CapEff": "0000000000000000", "CapPrm": "0000000000000000", "CapInh": "0000000000000000", "CapAmb": "0000000000000000", "NoNewPrivs": "1", "Seccomp": "2"} {
				if got.Status[name] != want {
					t.Errorf("%s is %s, not %s", name, got.Status[name], want)
				}
			}
			user, group := strconv.Itoa(os.Geteuid()), strconv.Itoa(os.Getegid())
			if identity := []string{user, user, "1", group, group, "1", "deny"}; s.Namespaces && !slices.Equal(got.Identity, identity) {
				t.Errorf("the child is %v in its namespace, not %v", got.Identity, identity)
			}
			if none := "0000000000000000"; s.Namespaces && !s.hostMaps && got.Status["CapBnd"] != none {
				t.Errorf("the child could get the rights %s", got.Status["CapBnd"])
			}
			// The child was started in the memory of this process.
			if dumpable, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || dumpable != 1 {
				t.Errorf("its start has changed this process: dumpable is %d, %v", dumpable, err)
			}
			want := map[string]uint64{"data": 2 << 30, "fsize": 1 << 20, "nofile": 300, "core": 0, "cpu": 90, "nproc": 100}
			if !s.Namespaces {
				delete(want, "nproc")
			}
			for name, value := range want {
				if got.Limits[name] != value {
					t.Errorf("the limit %s is %d, not %d", name, got.Limits[name], value)
				}
			}
		})
	}
}

func TestLimits(t *testing.T) {
	w := lay(t)
	rules := readRules(w)
	rules.Limits.FileSize = 1 << 20
	out, err := runChild(t, Supported(), rules, "large", w)
	if got := strings.TrimSpace(string(out)); err != nil || got != "1048576 EFBIG" {
		t.Errorf("a file over the limit: %q, %v", got, err)
	}
	rules.Limits = Limits{Memory: 512 << 20}
	if out, err := runChild(t, Supported(), rules, "memory", w); err == nil || !strings.Contains(string(out), "out of memory") && !strings.Contains(string(out), "failed to allocate") { // as the race detector says it
		t.Errorf("memory over the limit: %.200q, %v", out, err)
	}
	rules.Limits = Limits{CPU: time.Second}
	_, err = runChild(t, Supported(), rules, "spin", w)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || !exit.Sys().(syscall.WaitStatus).Signaled() {
		t.Errorf("processor time over the limit: %v", err)
	}
}

// Another table of system calls is another way into the kernel; using one is the end.
func TestForeignCalls(t *testing.T) {
	w := lay(t)
	for _, what := range foreign {
		_, err := runChild(t, Supported(), readRules(w), what, w)
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != unix.SIGSYS {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Every version of Landlock is tried as if the kernel had no newer one.
func TestOlderKernels(t *testing.T) {
	for abi := 1; abi <= Supported().Landlock; abi++ {
		t.Run(fmt.Sprint(abi), func(t *testing.T) {
			w := lay(t)
			s := alone()
			s.Landlock = abi
			compare(t, escapes, escape(t, s, readRules(w), "escape", w), nil)
			open := map[string]string{}
			if abi < 6 { // all that is lost
				open = map[string]string{"signal the host": "ok", "signal the host by descriptor": "ok"}
			}
			compare(t, signals, escape(t, s, readRules(w), "signals", w), open)
			if text, err := os.ReadFile(w.ReadFile); err != nil || string(text) != "file" {
				t.Errorf("what was granted to read is now %q, %v", text, err)
			}
			inside := *Supported()
			inside.Landlock = abi
			compare(t, signals, escape(t, &inside, readRules(w), "signals", w), nil)
		})
	}
}

// A host that is itself nobody in its user namespace can make none, and confines without.
func TestHostThatIsNobody(t *testing.T) {
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self)
	cmd.Env = []string{probeVariable + "=host", "WORLD={}"}
	if Supported().Namespaces {
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER}
	}
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "confined\n" {
		t.Errorf("got %q, %v", out, err)
	}
}

// What goes wrong in the shim is told with the call that did.
func TestStatus(t *testing.T) {
	for status, want := range map[string]string{
		"ready\n": "",
		"identity\n13\nopening /proc/self/setgroups: permission denied": `starting "p" in the sandbox: identity: opening /proc/self/setgroups: permission denied`,
		"limits\n1\noperation not permitted":                            `starting "p" in the sandbox: limits: operation not permitted`,
		"ready\nexec\n13\npermission denied":                            `starting "p": permission denied: the sandbox lets programs be run from the system's folders and the plugin's own only, and this one, or the interpreter that it names, lies elsewhere`,
		"descriptors\n0\nsomething":                                     `starting "p" in the sandbox: descriptors: something`,
		"":                                                              `starting "p" in the sandbox: starting: the process ended before it could become the program; does main begin with sandbox.Main, or with process.Main, which calls it?`,
	} {
		err := readStatus(strings.NewReader(status), "p")
		if got := fmt.Sprint(err); err == nil && want != "" || err != nil && got != want {
			t.Errorf("%q: got %v, want %s", status, err, want)
		}
		if strings.Contains(status, "\n13\n") && !errors.Is(err, unix.EACCES) {
			t.Errorf("%q: the cause is lost: %v", status, err)
		}
	}
}

// A shim that was stopped is not waited for without end.
func TestStatusThatDoesNotCome(t *testing.T) {
	reader, writer, err := os.Pipe()
	must(t, err)
	defer reader.Close()
	defer writer.Close()
	err = awaitStatus(reader, "p", time.Millisecond)
	var setup *SetupError
	if !errors.As(err, &setup) || !strings.Contains(err.Error(), "did not become the program within 1ms") {
		t.Errorf("got %v", err)
	}
}

func TestUnavailable(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Support)
		rules  Rules
		want   string
	}{
		"no Landlock":  {func(s *Support) { s.Landlock = 0 }, Rules{System: true}, "Landlock"},
		"no seccomp":   {func(s *Support) { s.Seccomp = false }, Rules{System: true}, "seccomp"},
		"no namespace": {func(s *Support) { s.Network = false }, Rules{System: true, Dial: (&net.Dialer{}).DialContext}, "a network namespace, which a list of granted hosts needs"},
		"both":         {func(s *Support) { s.Landlock = 7 }, Rules{System: true, Dial: (&net.Dialer{}).DialContext, Sockets: "/x"}, "granted hosts for a program that listens at a unix socket"},
	} {
		s := *Supported()
		c.change(&s)
		_, err := confine(exec.Command("/bin/true"), &c.rules, Require, &s)
		var unavailable *UnavailableError
		if !errors.As(err, &unavailable) || unavailable.What != c.want || unavailable.Hint == "" || unavailable.Why == "" {
			t.Errorf("%s: %#v", name, err)
		}
		c.rules.Sockets = ""
		cmd := exec.Command("/bin/true")
		child, err := confine(cmd, &c.rules, BestEffort, &s)
		if err != nil {
			t.Errorf("%s, best effort: %v", name, err)
			continue
		}
		if err := errors.Join(child.Start(), cmd.Wait(), child.Close()); err != nil {
			t.Errorf("%s, best effort: %v", name, err)
		}
	}
}

// What cannot become the program says why.
func TestStartErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), mode))
		return filepath.Join(dir, name)
	}
	for name, c := range map[string]struct{ path, want string }{
		"missing":            {dir + "/missing", "no such file or directory"},
		"not executable":     {write("plain", "#!/bin/sh\n", 0o644), "the file is not executable (chmod +x)"},
		"no interpreter":     {write("shebang", "#!/nowhere/at/all\n", 0o755), "the interpreter that its first line or its header names is missing"},
		"hidden interpreter": {write("outside", "#!"+write("inner", "#!/bin/sh\n", 0o755)+"\n", 0o755), "the sandbox lets programs be run from"},
		"no program":         {write("junk", "\x00\x01\x02", 0o755), "it is no program for this machine"},
		"a folder":           {dir, "permission denied"},
	} {
		cmd := &exec.Cmd{Path: c.path, Args: []string{c.path}, Env: []string{}}
		child, err := Confine(cmd, &Rules{System: true, Temp: true}, Require)
		must(t, err)
		err = child.Start()
		var setup *SetupError
		if !errors.As(err, &setup) || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), fmt.Sprintf("starting %q: ", c.path)) {
			t.Errorf("%s: %v", name, err)
		}
		temp := child.Temp()
		must(t, child.Close())
		if _, err := os.Stat(temp); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the temporary folder is still there", name)
		}
	}
	if _, err := Confine(exec.Command("no-such-program-anywhere"), nil, Require); err == nil || !strings.Contains(err.Error(), "no-such-program-anywhere") {
		t.Errorf("a name that is nowhere: %v", err)
	}
}

// The zero rules open nothing.
func TestZeroRules(t *testing.T) {
	w := lay(t)
	cmd := exec.Command("/bin/sh", "-c", "true")
	child, err := Confine(cmd, nil, Require)
	must(t, err)
	defer child.Close()
	// A program with libraries cannot even load them.
	err = child.Start()
	if err == nil {
		err = cmd.Wait()
	}
	if err == nil {
		t.Error("a program ran without its libraries")
	}
	if child.Temp() != "" {
		t.Error("there is a temporary folder")
	}
	_ = w
}

// Off passes on the environment that was given, and nothing else.
func TestOff(t *testing.T) {
	t.Setenv("HOST_SECRET", "secret")
	cmd := exec.Command("/usr/bin/env")
	var out strings.Builder
	cmd.Stdout = &out
	child, err := Confine(cmd, &Rules{Temp: true}, Off)
	must(t, err)
	defer child.Close()
	must(t, child.Start())
	must(t, cmd.Wait())
	if strings.Contains(out.String(), "HOST_SECRET") || !strings.Contains(out.String(), "TMPDIR="+child.Temp()) {
		t.Errorf("the environment is %q", out.String())
	}
}

// A program may listen where it is let, and the host can connect; it connects nowhere itself.
func TestSockets(t *testing.T) {
	w := lay(t)
	sockets := t.TempDir()
	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self)
	text, _ := json.Marshal(w)
	cmd.Env = []string{probeVariable + "=unix", "SOCKETS=" + sockets, "WORLD=" + string(text)}
	out, err := cmd.StdoutPipe()
	must(t, err)
	child, err := Confine(cmd, &Rules{System: true, Temp: true, Sockets: sockets}, Require)
	must(t, err)
	defer child.Close()
	must(t, child.Start())
	line := make([]byte, len("listening\n"))
	if _, err := io.ReadFull(out, line); err != nil || string(line) != "listening\n" {
		t.Fatalf("%q, %v", line, err)
	}
	c, err := net.Dial("unix", sockets+"/s")
	must(t, err)
	_, err = c.Write([]byte("hello"))
	must(t, err)
	must(t, c.(*net.UnixConn).CloseWrite())
	back, err := io.ReadAll(c)
	if err != nil || string(back) != "hello" {
		t.Errorf("%q, %v", back, err)
	}
	must(t, c.Close())
	must(t, cmd.Wait())

	rules := readRules(w)
	rules.Sockets = sockets
	compare(t, escapes, escape(t, Supported(), rules, "escape", w), map[string]string{"unix socket": "ok"})
}

// A list of hosts is held by a network that holds the host's proxy alone.
func TestProxy(t *testing.T) {
	w := lay(t)
	plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Host)
	}))
	defer plain.Close()
	where, err := url.Parse(plain.URL)
	must(t, err)
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		if address != "allowed.test:80" && address != "allowed.test:443" {
			return nil, &permissions.DeniedError{Op: "net", Target: address}
		}
		return (&net.Dialer{}).DialContext(ctx, network, where.Host)
	}
	rules := readRules(w)
	rules.Dial = dial
	compare(t, proxied, escape(t, Supported(), rules, "proxied", w), nil)

	self, err := os.Executable()
	must(t, err)
	cmd := exec.Command(self)
	text, _ := json.Marshal(w)
	cmd.Env = []string{probeVariable + "=fetch", "WORLD=" + string(text), "PLAIN=http://allowed.test/x", "TLS=https://allowed.test/", "DENIED=http://evil.test/", "DENIEDTLS=https://evil.test/"}
	var out, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &stderr
	child, err := Confine(cmd, rules, Require)
	must(t, err)
	defer child.Close()
	must(t, child.Start())
	if err := cmd.Wait(); err != nil {
		t.Fatal(err, stderr.String())
	}
	got := map[string]string{}
	must(t, json.Unmarshal([]byte(out.String()), &got))
	if got["plain"] != "200 allowed.test" {
		t.Errorf("the allowed host: %q", got["plain"])
	}
	// The connection came about, to a server that speaks no TLS.
	if !strings.Contains(got["tls"], "server gave HTTP response to HTTPS client") {
		t.Errorf("the allowed host by CONNECT: %q", got["tls"])
	}
	if !strings.HasPrefix(got["denied"], "403 ") || !strings.Contains(got["denied"], "evil.test") {
		t.Errorf("the other host: %q", got["denied"])
	}
	if !strings.Contains(got["deniedTLS"], "Forbidden") {
		t.Errorf("the other host by CONNECT: %q", got["deniedTLS"])
	}
}

// A child that was stopped in the middle leaves nothing, with a tunnel open too.
func TestClose(t *testing.T) {
	w := lay(t)
	self, err := os.Executable()
	must(t, err)
	for name, dial := range map[string]func(context.Context, string, string) (net.Conn, error){"": nil, "dial": (&net.Dialer{}).DialContext} {
		cmd := exec.Command(self)
		text, _ := json.Marshal(w)
		cmd.Env = []string{probeVariable + "=hang", "WORLD=" + string(text)}
		out, err := cmd.StdoutPipe()
		must(t, err)
		rules := readRules(w)
		rules.Dial = dial
		child, err := Confine(cmd, rules, Require)
		must(t, err)
		must(t, child.Start())
		if _, err := io.ReadFull(out, make([]byte, len("started\n"))); err != nil {
			t.Fatal(name, err)
		}
		must(t, cmd.Process.Kill())
		_ = cmd.Wait() // it was killed
		must(t, os.Mkdir(child.Temp()+"/closed", 0))
		must(t, child.Close())
		must(t, child.Close())
		if _, err := os.Stat(child.Temp()); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%q: the temporary folder is still there", name)
		}
	}
}

// How long the shim takes, beside the same program without one.
func BenchmarkStart(b *testing.B) {
	for _, c := range []struct {
		name    string
		mode    Mode
		support *Support
	}{{"bare", Off, Supported()}, {"alone", Require, alone()}, {"namespaces", Require, Supported()}} {
		b.Run(c.name, func(b *testing.B) {
			best := time.Hour // on a busy machine the mean says little
			for b.Loop() {
				begun := time.Now()
				cmd := exec.Command("/bin/true")
				child, err := confine(cmd, &Rules{System: true}, c.mode, c.support)
				if err != nil {
					b.Fatal(err)
				}
				if err := child.Start(); err != nil {
					b.Fatal(err)
				}
				if err := cmd.Wait(); err != nil {
					b.Fatal(err)
				}
				best = min(best, time.Since(begun))
				_ = child.Close()
			}
			b.ReportMetric(float64(best.Microseconds())/1000, "best-ms")
		})
	}
}
