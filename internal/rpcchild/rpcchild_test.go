package rpcchild

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	goplugin "github.com/hashicorp/go-plugin"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	health "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/toolhost/toolhost/internal/child"
	"github.com/toolhost/toolhost/permissions/sandbox"
	"github.com/toolhost/toolhost/runtimes/runtimestest"
)

var handshakeOfTests = goplugin.HandshakeConfig{ProtocolVersion: 1, MagicCookieKey: "RPCCHILD", MagicCookieValue: "tests"}

// TestMain lets the test binary be the child of its tests.
func TestMain(m *testing.M) {
	child.Main()
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		goplugin.Serve(&goplugin.ServeConfig{
			HandshakeConfig:  handshakeOfTests,
			VersionedPlugins: map[int]goplugin.PluginSet{1: {"service": &nothing{}}},
			GRPCServer:       goplugin.DefaultGRPCServer,
		})
		return
	}
	goleak.VerifyTestMain(m)
}

// nothing is a plugin with no service of its own: go-plugin itself serves its health.
type nothing struct {
	goplugin.NetRPCUnsupportedPlugin
}

func (*nothing) GRPCServer(*goplugin.GRPCBroker, *grpc.Server) error { return nil }

func (*nothing) GRPCClient(context.Context, *goplugin.GRPCBroker, *grpc.ClientConn) (any, error) {
	return nil, errors.New("this is the child")
}

// said is what a child says besides.
type said struct {
	mu    sync.Mutex
	lines []string
}

func (s *said) add(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, line)
}

func (s *said) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n")
}

// options are those for a child that is a program.
func options(argv ...string) (*Options, *said) {
	s := &said{}
	return &Options{
		Child:  child.Options{Argv: argv, Env: []string{"PATH=/usr/bin:/bin"}, Rules: &sandbox.Rules{System: true, Temp: true}},
		Cookie: [2]string{handshakeOfTests.MagicCookieKey, handshakeOfTests.MagicCookieValue}, Version: 1, Service: "service", Said: s.add,
	}, s
}

func self(t *testing.T) string {
	t.Helper()
	file, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// temp gives a folder for sockets, and demands that nothing is left in it.
func temp(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "r") // paths of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	t.Cleanup(func() {
		if left := runtimestest.Remaining(t, filepath.Join(dir, "*")); len(left) > 0 {
			t.Errorf("what is left: %v", left)
		}
		_ = os.RemoveAll(dir)
	})
}

func TestServing(t *testing.T) {
	temp(t)
	for _, wrapped := range []bool{false, true} {
		argv := []string{self(t), "serve"}
		if wrapped { // what is said before the line that counts, and on other descriptors
			argv = []string{"/bin/sh", "-c", `echo "a banner"; echo; echo "1|1|http|x"; printf 'split\377' ; echo; exec "$0" serve`, argv[0]}
		}
		o, s := options(argv...)
		o.Child.Rules.Exec = []string{self(t)}
		c, err := Start(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		reply, err := health.NewHealthClient(c.Connection()).Check(t.Context(), &health.HealthCheckRequest{Service: "plugin"})
		if err != nil || reply.Status != health.HealthCheckResponse_SERVING {
			t.Errorf("got %v, %v", reply, err)
		}
		c.Stop(5 * time.Second)
		c.Stop(0)
		if err := c.Process().Err(); err != nil {
			t.Errorf("it was not asked to end, or did not: %v", err)
		}
		if want := map[bool]string{true: "a banner\n1|1|http|x\nsplit\ufffd"}[wrapped]; s.all() != want {
			t.Errorf("it said %q, want %q", s.all(), want)
		}
	}
}

// A child that hangs is ended in bounded time.
func TestStopHanging(t *testing.T) {
	temp(t)
	o, _ := options(self(t), "serve")
	o.Child.Supervise = true
	c, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(c.Process().PID(), syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	c.Stop(100 * time.Millisecond)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestStartErrors(t *testing.T) {
	temp(t)
	for name, c := range map[string]struct {
		script string
		want   string
		status int // of its end; 0 where that is not told
	}{
		"ends":            {"echo sorry >&2; exit 7", "ended before it served (exit status 7)", 7},
		"takes its time":  {"exec >&-; sleep 0.5; exit 7", "ended before it served (exit status 7)", 7},
		"ends well":       {"exit 0", "ended before it served (exit status 0)", 0},
		"closes stdout":   {"exec >&-; sleep 86400", "closed its stdout without the line", 0},
		"noise":           {"while true; do echo hello; done", "more than 100 lines", 0},
		"one long line":   {"head -c 1000000 /dev/zero | tr '\\0' x; sleep 86400", "did not say within 500ms", 0},
		"silence":         {"sleep 86400", "did not say within 500ms", 0},
		"a strange place": {"echo '1|1|unix|/run/docker.sock|grpc'; sleep 86400", "PLUGIN_UNIX_SOCKET_DIR", 0},
		"a place above":   {`echo "1|1|unix|$PLUGIN_UNIX_SOCKET_DIR/../x|grpc"; sleep 86400`, "PLUGIN_UNIX_SOCKET_DIR", 0},
		"a port":          {"echo '1|1|tcp|127.0.0.1:22|grpc'; sleep 86400", "PLUGIN_UNIX_SOCKET_DIR", 0},
		"another version": {`echo "1|9|unix|$PLUGIN_UNIX_SOCKET_DIR/x|grpc"; sleep 86400`, "does not serve as it should", 0},
		"half a line":     {`printf '1|1|un'; exit 3`, "exit status 3", 3},
	} {
		t.Run(name, func(t *testing.T) {
			o, _ := options("/bin/sh", "-c", c.script)
			o.StartLimit = 500 * time.Millisecond
			if !strings.Contains(c.want, "500ms") {
				o.StartLimit = 10 * time.Second
			}
			child, err := Start(t.Context(), o)
			if err == nil {
				child.Stop(0)
				t.Fatal("it was started")
			}
			var failed *StartError
			if !errors.As(err, &failed) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			if c.status != 0 && (failed.Exit == nil || failed.Exit.Status != c.status) {
				t.Errorf("its end is %+v", failed.Exit)
			}
			if name == "ends" && failed.Tail != "sorry" {
				t.Errorf("its last lines are %q", failed.Tail)
			}
		})
	}
	o, _ := options("/no/such/program")
	if _, err := Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "could not be started") || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a program that is not there: %v", err)
	}
}

// The context bounds the start, and nothing is left where it ends.
func TestStartCancelled(t *testing.T) {
	temp(t)
	o, _ := options("/bin/sleep", "86400")
	why := errors.New("nobody waits for it")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, why)
	defer cancel()
	if _, err := Start(ctx, o); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}

// Only a socket in the child's own folder is connected to, and no link to another.
func TestDialSocket(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "d")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	at := func(name string) string { return filepath.Join(dir, name) }
	l, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.WriteFile(at("file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link": at("socket"), "nowhere": at("gone")} {
		if err := os.Symlink(target, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]bool{"socket": true, "link": false, "file": false, "nowhere": false, "gone": false, ".": false} {
		c, err := dialSocket(t.Context(), at(name))
		if (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			_ = c.Close()
		}
	}
}

func TestLineWriter(t *testing.T) {
	s := &said{}
	w := &lineWriter{said: s.add}
	for _, part := range []string{"one\ntw", "o\r\n", "\n", strings.Repeat("x", maxSaid), "yyy\nthree \xff\n", "last"} {
		if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	w.flush()
	w.flush()
	if want := "one\ntwo\n" + strings.Repeat("x", maxSaid) + "\nthree \ufffd\nlast"; s.all() != want {
		t.Errorf("got %q", s.all())
	}
}
