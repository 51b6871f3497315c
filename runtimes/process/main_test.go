package process_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/process"
)

// supervisorName is the name under which a program is started again to be a supervisor.
const supervisorName = "toolhost-supervisor"

// TestMain lets the test binary be the plugin of its tests. What is a plugin of the tests' own ends
// by syscall.Exit: os.Exit has the race detector wait for a second, and a test with it.
func TestMain(m *testing.M) {
	process.Main()
	if os.Args[0] == supervisorName {
		os.Exit(99) // Main is no supervisor: the tests must not begin anew in it
	}
	if len(os.Args) > 1 && os.Args[1] == "plugin" {
		servePlugin()
		syscall.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == "rpc" {
		serveRPC()
		return
	}
	if len(os.Args) > 2 && os.Args[1] == "mcp" {
		serveMCP(os.Args[2])
		syscall.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// servePlugin answers requests as the tests want it.
func servePlugin() {
	out := bufio.NewWriter(os.Stdout)
	var mu sync.Mutex
	say := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(out, format, args...)
		out.Flush()
	}
	in := bufio.NewReader(os.Stdin)
	count := 0
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		if json.Unmarshal(line, &m) != nil || m.Method == "cancel" || m.ID == nil {
			continue
		}
		var p struct {
			Text, Message, Data, Path, How string
			Bytes                          int
		}
		_ = json.Unmarshal(m.Params, &p)
		answer := func(v any) {
			text, _ := json.Marshal(v)
			say("{\"id\":%s,\"result\":%s}\n", m.ID, text)
		}
		fail := func(text string) {
			quoted, _ := json.Marshal(text)
			say("{\"id\":%s,\"error\":%s}\n", m.ID, quoted)
		}
		progress := func(text string) {
			say("{\"method\":\"progress\",\"params\":{\"id\":%s,\"message\":%q}}\n", m.ID, text)
		}
		switch m.Method {
		case "echo":
			answer(m.Params)
		case "text":
			answer(p.Text)
		case "nothing":
			say("{\"id\":%s}\n", m.ID)
		case "fail":
			fail(p.Message)
		case "envelope":
			answer(json.RawMessage(`{"isError":true,"content":[{"type":"text","text":"failed on purpose"}]}`))
		case "image":
			answer(map[string]any{"content": []any{map[string]any{"type": "image", "data": p.Data, "mimeType": "image/png"}}})
		case "wait":
			progress("waiting")
			select {} // a cancel is not read
		case "spin":
			progress("spinning")
			for spinning := true; spinning; { // a program that computes without end
			}
		case "progress":
			progress("one")
			progress("two")
			answer("done")
		case "read":
			text, err := os.ReadFile(p.Path)
			if err != nil {
				fail(err.Error())
				continue
			}
			answer(string(text))
		case "large":
			answer(strings.Repeat("x", p.Bytes))
		case "count":
			count++
			answer(strconv.Itoa(count))
		case "odd":
			odd(p.How, m.ID, in, say)
		}
	}
}

// odd answers as no plugin should.
func odd(how string, id json.RawMessage, in *bufio.Reader, say func(string, ...any)) {
	ok := fmt.Sprintf("{\"id\":%s,\"result\":\"ok\"}\n", id)
	switch how {
	case "fine":
		say("%s", ok)
	case "exit 3":
		fmt.Fprintln(os.Stderr, "first line")
		fmt.Fprintln(os.Stderr, "out of cheese")
		syscall.Exit(3)
	case "exit 0":
		syscall.Exit(0)
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSEGV)
		select {}
	case "silence":
		fmt.Fprintln(os.Stderr, "thinking")
		select {}
	case "close stdin":
		_ = os.Stdin.Close()
		say("%s", ok)
		select {}
	case "close stdout":
		_ = os.Stdout.Close()
		select {}
	case "half a line":
		say(`{"id":%s,"resu`, id)
		syscall.Exit(0)
	case "no newline, exit":
		say("%s", strings.TrimSuffix(ok, "\n"))
		syscall.Exit(0)
	case "twice":
		say("%s%s", ok, ok)
	case "other id":
		say("{\"id\":\"zzz\",\"result\":\"wrong\"}\n{\"id\":7,\"result\":\"wrong\"}\n%s", ok)
	case "only other id":
		say("{\"id\":\"zzz\",\"result\":\"wrong\"}\n")
		syscall.Exit(0)
	case "junk":
		say("hello\n[1,2]\n\"text\"\nnull\n{}\n{\"method\":7}\n\n   \n{\"result\":1}\n\xff\xfe\n%s", ok)
	case "glued":
		say("half a line %s", ok)
	case "bom":
		say("\ufeff%s", ok)
	case "crlf":
		say("%s\r\n", strings.TrimSuffix(ok, "\n"))
	case "too much junk":
		for i := range 1100 {
			say("noise %d\n", i)
		}
		say("%s", ok)
	case "much junk":
		for i := range 900 {
			say("noise %d\n", i)
		}
		say("%s", ok)
	case "long line":
		for range 50 {
			say("%s", strings.Repeat("x", 100_000))
		}
		say("\n%s", ok)
	case "flood":
		for {
			say("%s", strings.Repeat("y", 1<<16))
		}
	case "stderr flood":
		line := strings.Repeat("e", 1<<16)
		for range 500 {
			fmt.Fprint(os.Stderr, line)
		}
		fmt.Fprintln(os.Stderr)
		say("%s", ok)
	case "log flood":
		for i := range 20_000 {
			say("{\"method\":\"log\",\"params\":{\"message\":\"flooded %d\"}}\n", i)
		}
		say("%s", ok)
	case "split":
		text := `{"id":` + string(id) + `,"result":"zażółć 😀"}` + "\n"
		for i := range len(text) {
			say("%s", text[i:i+1])
		}
	case "escapes":
		say("{\"id\":%s,\"result\": {\"b\" : \"\\u017c\\ud83d\\ude00 \\ud800 \\/ \\\" \\n\", \"a\": 1.50, \"b2\": [ ] }}\n", id)
	case "error object":
		say("{\"id\":%s,\"error\":{\"code\":-1,\"message\":\"from an object\"}}\n", id)
	case "null error":
		say("{\"id\":%s,\"error\":null,\"result\":\"ok\"}\n", id)
	case "ignore TERM":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		select {}
	case "stop":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		select {}
	case "fork":
		cmd := exec.Command("sleep", "86400")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		say("%s", ok)
	case "fork and exit":
		cmd := exec.Command("sleep", "86400")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		_ = cmd.Start()
		syscall.Exit(4)
	case "answer and exit 1":
		say("%s", ok)
		syscall.Exit(1)
	case "environment":
		text, _ := json.Marshal(os.Environ())
		say("{\"id\":%s,\"result\":%s}\n", id, text)
	case "temp":
		name := filepath.Join(os.TempDir(), "file")
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			name = err.Error()
		}
		text, _ := json.Marshal(name)
		say("{\"id\":%s,\"result\":%s}\n", id, text)
	case "data":
		name := filepath.Join(os.Getenv("TOOLHOST_DATA_DIR"), "file")
		before, _ := os.ReadFile(name)
		if err := os.WriteFile(name, append(before, 'x'), 0o600); err != nil {
			before = []byte(err.Error())
		}
		text, _ := json.Marshal(string(before))
		say("{\"id\":%s,\"result\":%s}\n", id, text)
	case "write self":
		self := filepath.Join(os.Getenv("TOOLHOST_PLUGIN_DIR"), "evil")
		err := os.WriteFile(self, nil, 0o600)
		text, _ := json.Marshal(fmt.Sprint(err))
		say("{\"id\":%s,\"result\":%s}\n", id, text)
	default:
		if rest, ok := strings.CutPrefix(how, "ask "); ok {
			say("%s\n", rest)
			line, _ := in.ReadBytes('\n')
			var reply struct {
				ID     json.RawMessage
				Result json.RawMessage
				Error  string
			}
			_ = json.Unmarshal(line, &reply)
			text, _ := json.Marshal(fmt.Sprintf("%s %s %s", reply.ID, reply.Result, reply.Error))
			say("{\"id\":%s,\"result\":%s}\n", id, text)
		}
	}
}

// plugin is a plugin that a test has opened.
type plugin struct {
	t        *testing.T
	host     *host.Host
	instance runtimes.Instance
	log      *lines
	folder   string
	timeout  time.Duration
}

// lines is a log that tests read.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

func self(t *testing.T) string {
	t.Helper()
	file, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// open opens a plugin that is this test binary, unless the spec has a command.
func open(t *testing.T, options *process.Options, spec runtimes.Spec) *plugin {
	t.Helper()
	return openIn(t, t.TempDir(), options, spec)
}

// openIn opens a plugin as open does, for an agent's folder.
func openIn(t *testing.T, folder string, options *process.Options, spec runtimes.Spec) *plugin {
	t.Helper()
	p := &plugin{t: t, log: &lines{}, folder: folder, timeout: 20 * time.Second}
	log := slog.New(slog.NewTextHandler(p.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	if spec.Plugin == "" {
		spec.Plugin = "tested"
	}
	if spec.Dir == "" {
		spec.Dir = t.TempDir()
	}
	if spec.Command == nil {
		spec.Command = map[string][]string{
			"": {self(t), "plugin"}, "stdio": {self(t), "plugin"}, "go-plugin": {self(t), "rpc"}, "mcp": {self(t), "mcp", "fine"},
		}[spec.Protocol]
	}
	if spec.Policy == nil {
		spec.Policy = &permissions.Policy{}
	}
	spec.Policy.Root, spec.Log = spec.Dir, log.With("plugin", spec.Plugin)
	if spec.Tools == nil {
		for _, id := range toolIDs {
			spec.Tools = append(spec.Tools, runtimes.Tool{ID: id})
		}
	}
	var err error
	if p.instance, err = process.New(options).Open(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	p.host = host.New(&host.Options{Folder: p.folder, Log: log})
	p.offer(spec)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := p.instance.Close(ctx); err != nil {
			t.Errorf("closing the instance: %v", err)
		}
		if err := p.host.Close(ctx); err != nil {
			t.Errorf("closing the host: %v", err)
		}
	})
	return p
}

// reopen opens the plugin anew: crashes before are forgotten.
func (p *plugin) reopen(spec runtimes.Spec) {
	p.t.Helper()
	if err := p.instance.Close(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	fresh := open(p.t, nil, spec)
	p.instance, p.host, p.log, p.folder = fresh.instance, fresh.host, fresh.log, fresh.folder
}

func (p *plugin) offer(spec runtimes.Spec) {
	p.t.Helper()
	var tools []*host.Tool
	for _, t := range spec.Tools {
		tools = append(tools, &host.Tool{
			Name: t.ID, Description: "for tests", InputSchema: json.RawMessage(`{"type":"object","properties":{"marked":{"type":"string","format":"file-path"}}}`),
			Timeout: p.timeout, Policy: spec.Policy, Handler: p.instance.Handler(t.ID),
		})
	}
	if _, err := p.host.Replace(spec.Plugin, host.Plugin, tools); err != nil {
		p.t.Fatal(err)
	}
}

// call gives the text of a result, and whether it is a failed one.
func (p *plugin) call(tool string, args any) (text string, failed bool) {
	p.t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		p.t.Fatal(err)
	}
	r, err := p.host.Call(p.t.Context(), &host.Call{Tool: tool, Args: raw, Agent: host.Agent{ID: "tester"}})
	if err != nil {
		p.t.Fatalf("calling %q: %v", tool, err)
	}
	return r.Content[0].Text(), r.IsError
}

func (p *plugin) odd(how string) (text string, failed bool) {
	p.t.Helper()
	return p.call("odd", map[string]string{"how": how})
}

// expect makes a call that must succeed.
func (p *plugin) expect(tool string, args any, want string) {
	p.t.Helper()
	if text, failed := p.call(tool, args); failed || text != want {
		p.t.Errorf("%s: failed %v, got %.300q, want %q", tool, failed, text, want)
	}
}

type object = map[string]any

// problems gives what is wrong with a plugin that must not open.
func problems(t *testing.T, spec runtimes.Spec) []runtimes.Problem {
	t.Helper()
	spec.Plugin, spec.Policy = "tested", &permissions.Policy{Root: spec.Dir, Env: []string{}}
	instance, err := process.New(nil).Open(t.Context(), spec)
	if err == nil {
		_ = instance.Close(t.Context())
		t.Fatal("the plugin was opened")
	}
	var load *runtimes.LoadError
	if !errors.As(err, &load) {
		t.Fatalf("got %v, want a *LoadError", err)
	}
	return load.Problems
}
