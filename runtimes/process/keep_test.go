package process_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/process"
)

func policyWithEnv(names ...string) *permissions.Policy { return &permissions.Policy{Env: names} }

func TestKeepAlive(t *testing.T) {
	p := open(t, nil, runtimes.Spec{KeepAlive: true})
	for _, want := range []string{"1", "2", "3"} {
		p.expect("count", object{}, want)
	}
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() { p.expect("text", object{"text": fmt.Sprint(i)}, fmt.Sprint(i)) })
	}
	wg.Wait()
	p.expect("count", object{}, "4")
	if _, failed := p.odd("exit 3"); !failed {
		t.Error("a crash is no failure")
	}
	p.expect("count", object{}, "1")
}

func TestIdleStop(t *testing.T) {
	p := open(t, &process.Options{Idle: time.Millisecond}, runtimes.Spec{KeepAlive: true})
	deadline := time.Now().Add(20 * time.Second)
	p.expect("count", object{}, "1")
	for {
		if text, _ := p.call("count", object{}); text == "1" {
			return // it was ended, and started anew
		}
		if time.Now().After(deadline) {
			t.Fatal("the idle process was not ended")
		}
	}
}

// From the third crash on a process is not started at once, which a call that has no time to
// wait is told.
func TestCrashLoop(t *testing.T) {
	p := open(t, nil, runtimes.Spec{KeepAlive: true})
	for {
		var crashed time.Time
		for i := range 3 {
			crashed = time.Now()
			if text, _ := p.odd("exit 3"); !strings.Contains(text, "exit status 3") {
				t.Fatalf("crash %d: %q", i+1, text)
			}
		}
		ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(300*time.Millisecond)) // less than the wait that is left
		r, err := p.host.Call(ctx, &host.Call{Tool: "odd", Args: json.RawMessage(`{"how":"fine"}`)})
		late := time.Since(crashed) > 700*time.Millisecond // the machine had no time for the test, and less may be left
		cancel()
		if err == nil && r.IsError && strings.Contains(r.Content[0].Text(), "crashed 3 times in a row") {
			return
		}
		if !late {
			t.Fatalf("got %+v, %v", r, err)
		}
		p.expect("odd", object{"how": "fine"}, "ok") // which begins the count anew
	}
}

// A call that was given up does not hold up the next, nor is its answer taken for another's.
func TestCancelKept(t *testing.T) {
	p := open(t, nil, runtimes.Spec{KeepAlive: true})
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := p.host.Call(ctx, &host.Call{Tool: "wait", Progress: func(string) { cancel() }})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		p.expect("text", object{"text": "next"}, "next")
	}
	// A program that heeds the cancel goes on.
	for deadline := time.Now().Add(20 * time.Second); ; {
		q := open(t, nil, runtimes.Spec{KeepAlive: true, Command: []string{"/bin/sh", "-c", `
n=0
while read -r line; do
  n=$((n+1))
  case "$line" in
  *'"method":"wait"'*) id=$(echo "$line" | sed 's/.*"id":"\(c[0-9]*\)".*/\1/'); echo '{"method":"progress","params":{"id":"'$id'","message":"waiting"}}' ;;
  *'"cancel"'*) echo '{"id":"'$id'","error":"cancelled"}' ;;
  *) id=$(echo "$line" | sed 's/.*"id":"\(c[0-9]*\)".*/\1/'); echo '{"id":"'$id'","result":"line '$n'"}' ;;
  esac
done`}})
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := q.host.Call(ctx, &host.Call{Tool: "wait", Progress: func(string) { cancel() }}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		text, failed := q.call("text", object{})
		if !failed && text == "line 3" {
			return
		}
		// One for which the machine had no time was ended.
		if failed || text != "line 1" || time.Now().After(deadline) {
			t.Fatalf("failed %v, got %q", failed, text)
		}
	}
}

func TestQueueHonoursDeadlines(t *testing.T) {
	p := open(t, &process.Options{MaxProcesses: 1}, runtimes.Spec{})
	started, release := make(chan bool, 1), make(chan bool)
	go func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		_, _ = p.host.Call(ctx, &host.Call{Tool: "wait", Progress: func(string) { started <- true; go func() { <-release; cancel() }() }})
		release <- true
	}()
	<-started
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := p.host.Call(ctx, &host.Call{Tool: "text"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	release <- true
	<-release
	p.expect("text", object{"text": "free"}, "free")
}

// The processes of all plugins have places: one that has nothing to do makes room, one that
// serves is waited for, no longer than the call has.
func TestPlaces(t *testing.T) {
	options := &process.Options{Places: runtimes.NewPlaces(1)}
	specs := []runtimes.Spec{{}, {KeepAlive: true}, {Protocol: "go-plugin"}, {Protocol: "mcp"}}
	var plugins []*plugin
	for _, spec := range specs {
		plugins = append(plugins, open(t, options, spec))
	}
	for range 2 {
		for _, p := range plugins {
			p.expect("count", object{}, "1")
		}
	}
	for i, p := range plugins {
		waiting := make(chan bool, 1)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := p.host.Call(ctx, &host.Call{Tool: "wait", Progress: func(string) { waiting <- true }})
			ended <- err
		}()
		<-waiting
		next := plugins[(i+1)%len(plugins)]
		limited, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
		if _, err := next.host.Call(limited, &host.Call{Tool: "count"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%+v: got %v", specs[i], err)
		}
		stop()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%+v: got %v", specs[i], err)
		}
		next.expect("text", object{"text": "served"}, "served")
	}
}

// What a process asks of the host during a call.
func TestServices(t *testing.T) {
	store := map[string]json.RawMessage{}
	spec := runtimes.Spec{
		Policy: &permissions.Policy{AIComplete: true, Store: true},
		Services: runtimes.Services{
			Complete: func(_ context.Context, call *host.Call, prompt *host.Prompt) (string, error) {
				if prompt.Text == "panic" {
					panic("in a service")
				}
				for _, image := range prompt.Images {
					prompt.Text += fmt.Sprintf(" %s=%s", image.MIMEType, image.Data)
				}
				return call.Tool + ": " + prompt.Text + "!", nil
			},
			Store: memory(store),
		},
	}
	bare := runtimes.Spec{Policy: &permissions.Policy{AIComplete: true}}
	for _, c := range []struct {
		spec      runtimes.Spec
		ask, want string
	}{
		{spec, `{"id":"p1","method":"ai.complete","params":{"prompt":"hello"}}`, `"p1" "odd: hello!" `},
		{spec, `{"id":7,"method":"ai.complete","params":{"prompt":""}}`, `7 "odd: !" `},
		{spec, `{"id":"p1","method":"ai.complete","params":{"prompt":"see","imageUrls":["data:image/png;base64,eA=="]}}`, `"p1" "odd: see image/png=x!" `},
		{spec, `{"id":"p1","method":"ai.complete","params":{"prompt":"see","imageUrls":["https://example.com/a.png"]}}`, `imageUrls[0]: not a data: URL`},
		{spec, `{"id":"p1","method":"ai.complete","params":{}}`, `must have a text "prompt"`},
		{spec, `{"id":"p1","method":"ai.complete","params":[1]}`, `the params are not as they should be`},
		{spec, `{"id":"p1","method":"ai.complete","params":{"prompt":"panic"}}`, `internal error`},
		{spec, `{"id":"p1","method":"launch.missiles"}`, `does not know the method "launch.missiles"`},
		{spec, `{"id":"p1","method":"store.set","params":{"key":"a","value":{"b":1}}}`, `"p1" null `},
		{spec, `{"id":"p1","method":"store.get","params":{"key":"a"}}`, `"p1" {"b":1} `},
		{spec, `{"id":"p1","method":"store.get","params":{"key":"none"}}`, `"p1" null `},
		{spec, `{"id":"p1","method":"store.list"}`, `"p1" ["a"] `},
		{spec, `{"id":"p1","method":"store.delete","params":{"key":"a"}}`, `"p1" true `},
		{spec, `{"id":"p1","method":"settings.get","params":{"key":"a"}}`, `"settings": true`},
		{spec, `{"id":"p1","method":"execute","params":{"command":"x"}}`, `"hostTrigger": true`},
		{bare, `{"id":"p1","method":"ai.complete","params":{"prompt":"x"}}`, `this host has nothing that could do it`},
		{runtimes.Spec{}, `{"id":"p1","method":"ai.complete","params":{"prompt":"x"}}`, `"ai": {"complete": true}`},
		{bare, `{"id":"p1","method":"fetch","params":{"url":"https://a.example"}}`, `"fetch": {"static": ["a.example"]}`},
		{bare, `{"id":"p1","method":"fetch","params":{"url":"https://a.example/?k={{secret:a.b}}"}}`, `the arguments of this call hold a placeholder`},
	} {
		p := open(t, nil, c.spec)
		if text, failed := p.odd("ask " + c.ask); failed || !strings.Contains(text, c.want) {
			t.Errorf("%s: got %q, want %q", c.ask, text, c.want)
		}
	}
}

type memory map[string]json.RawMessage

func (m memory) Get(_ context.Context, key string) (json.RawMessage, error) { return m[key], nil }
func (m memory) Set(_ context.Context, key string, value json.RawMessage) error {
	m[key] = value
	return nil
}
func (m memory) Delete(_ context.Context, key string) (bool, error) {
	_, ok := m[key]
	delete(m, key)
	return ok, nil
}
func (m memory) List(context.Context, string) ([]string, error) {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	return keys, nil
}

// A call's process sees what its arguments name, and nothing else.
func TestFiles(t *testing.T) {
	byArgument := &permissions.Policy{FS: permissions.FSPolicy{Read: permissions.Access{Parameter: true}}}
	for _, keep := range []bool{false, true} {
		p := open(t, nil, runtimes.Spec{KeepAlive: keep, Policy: byArgument, Command: []string{"/bin/sh", "-c", `
while read -r line; do
  id=$(echo "$line" | sed 's/.*"id":"\(c[0-9]*\)".*/\1/')
  file=$(echo "$line" | sed 's/.*"marked":"\([^"]*\)".*/\1/')
  other=$(echo "$line" | sed 's/.*"other":"\([^"]*\)".*/\1/')
  case "$file" in /*) ;; *) echo '{"id":"'$id'","error":"not absolute"}'; continue ;; esac
  echo '{"id":"'$id'","result":"'$(cat "$file" 2>&1)' '$(cat "$other" 2>&1 | sed 's/.*: //')'"}'
done`}})
		for name, text := range map[string]string{"a.txt": "text of a", "b.txt": "text of b"} {
			if err := os.WriteFile(filepath.Join(p.folder, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			p.expect("text", object{"marked": "a.txt", "other": filepath.Join(p.folder, "b.txt")}, "text of a Permission denied")
			p.expect("text", object{"marked": filepath.Join(p.folder, "b.txt"), "other": filepath.Join(p.folder, "a.txt")}, "text of b Permission denied")
		}
	}
}

// What a call may write arrives when it has succeeded, and only then.
func TestWrites(t *testing.T) {
	for name, c := range map[string]struct {
		write   permissions.Access
		keep    bool
		process string // that serves the last call
	}{
		"a process a call":      {permissions.Access{Parameter: true}, false, "1"},
		"kept":                  {permissions.Access{Parameter: true}, true, "4"},
		"not kept, all as well": {permissions.Access{Parameter: true, Paths: []string{"*.txt"}}, true, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			policy := &permissions.Policy{FS: permissions.FSPolicy{Write: c.write, Read: permissions.Access{Parameter: true}}}
			p := open(t, nil, runtimes.Spec{Policy: policy, KeepAlive: c.keep, Command: []string{"/bin/sh", "-c", `
n=0
while read -r line; do
  n=$((n+1))
  id=$(echo "$line" | sed 's/.*"id":"\(c[0-9]*\)".*/\1/')
  file=$(echo "$line" | sed 's/.*"marked":"\([^"]*\)".*/\1/')
  echo evil 2>/dev/null >"$(dirname "$file")/../../evil"
  ln -s /etc/passwd "$(dirname "$file")/link" 2>/dev/null && echo "a link was made" >&2
  case "$line" in
  *'"fail"'*) echo bad >"$file"; echo '{"id":"'$id'","error":"failed"}' ;;
  *'"remove"'*) rm "$file"; echo '{"id":"'$id'","result":"'$n'"}' ;;
  *) echo "$(cat "$file" 2>/dev/null)" good >"$file"; echo '{"id":"'$id'","result":"'$n'"}' ;;
  esac
done`}})
			file := filepath.Join(p.folder, "new.txt")
			if text, failed := p.call("text", object{"marked": "new.txt", "how": "fail"}); !failed || text != "failed" {
				t.Errorf("got %q", text)
			}
			if _, err := os.Stat(file); err == nil {
				t.Error("a failed call has written")
			}
			for i, want := range []string{" good\n", " good good\n"} {
				process := "1"
				if c.process != "1" {
					process = fmt.Sprint(i + 2)
				}
				p.expect("text", object{"marked": "new.txt"}, process)
				if text, err := os.ReadFile(file); err != nil || string(text) != want {
					t.Errorf("got %q, %v, want %q", text, err, want)
				}
			}
			if entries, _ := os.ReadDir(p.folder); len(entries) != 1 {
				t.Errorf("the folder holds %v", entries)
			}
			other := filepath.Join(p.folder, "other.txt")
			if err := os.WriteFile(other, []byte("other"), 0o600); err != nil {
				t.Fatal(err)
			}
			p.expect("text", object{"marked": other}, c.process)
			for file, want := range map[string]string{file: " good good\n", other: "other good\n"} {
				if text, err := os.ReadFile(file); err != nil || string(text) != want {
					t.Errorf("got %q, %v, want %q", text, err, want)
				}
			}
			log := p.log.String()
			if passed := strings.Contains(log, "keepAlive is passed over"); passed != (c.keep && c.process == "1") || strings.Contains(log, "a link was made") {
				t.Errorf("the log is\n%s", log)
			}
		})
	}
}

// What a process says of its staged files has the agent's own names of them, in whatever it
// says; what it is told has those of the stage.
func TestNamesOfTheAgent(t *testing.T) {
	for _, keep := range []bool{false, true} {
		policy := &permissions.Policy{FS: permissions.FSPolicy{Write: permissions.Access{Parameter: true}, Read: permissions.Access{Parameter: true}}, Store: true}
		store := memory{}
		p := open(t, nil, runtimes.Spec{Policy: policy, KeepAlive: keep, Services: runtimes.Services{Store: store}, Command: []string{"/bin/sh", "-c", `
while read -r line; do
  id=$(echo "$line" | sed 's/.*"id":"\(c[0-9]*\)".*/\1/')
  file=$(echo "$line" | sed 's/.*"marked":"\([^"]*\)".*/\1/')
  echo '{"method":"progress","params":{"id":"'$id'","message":"at '$file'"}}'
  echo '{"method":"log","params":{"message":"log of '$file'"}}'
  echo "printed $file"
  echo "stderr of $file" >&2
  echo '{"id":"n1","method":"store.set","params":{"key":"last","value":"'$file'"}}'
  read -r answer
  case "$line" in
  *'"fail"'*) echo '{"id":"'$id'","error":"cannot open '$file'"}' ;;
  *'"crash"'*) exit 3 ;;
  *'"value"'*) echo '{"id":"'$id'","result":{"'$file'.bak":["'$file'",1]}}' ;;
  *) echo '{"id":"'$id'","result":"wrote '$file'"}' ;;
  esac
done`}})
		file := filepath.Join(p.folder, "new.txt")
		for how, want := range map[string]string{
			"text": "wrote " + file, "value": `{"` + file + `.bak":["` + file + `",1]}`, "fail": "cannot open " + file, "crash": "stderr of " + file,
		} {
			var said []string
			args, _ := json.Marshal(object{"marked": "new.txt", "how": how})
			r, err := p.host.Call(t.Context(), &host.Call{Tool: "text", Args: args, Agent: host.Agent{ID: "tester"}, Progress: func(m string) { said = append(said, m) }})
			if err != nil {
				t.Fatal(err)
			}
			if text := r.Content[0].Text(); !strings.HasSuffix(text, want) || strings.Contains(text, "scratch") {
				t.Errorf("keep %v, %s: got %q, want %q", keep, how, text, want)
			}
			if len(said) != 1 || said[0] != "at "+file {
				t.Errorf("keep %v, %s: progress is %q", keep, how, said)
			}
			if string(store["last"]) != string(quoteOf(file)) {
				t.Errorf("keep %v, %s: stored is %s", keep, how, store["last"])
			}
		}
		log := p.log.String()
		for _, want := range []string{"log of " + file, "printed " + file} {
			if !strings.Contains(log, want) {
				t.Errorf("keep %v: the log does not say %q:\n%s", keep, want, log)
			}
		}
		if !keep && strings.Contains(log, "toolhost-scratch-") {
			t.Errorf("the log speaks of the stage:\n%s", log)
		}
	}
}

// A call that a kept process makes of itself cannot have its turn, which the call that made it
// holds: it is refused, and does not wait for the end of all.
func TestKeptCallsItself(t *testing.T) {
	var h *host.Host
	p := open(t, nil, runtimes.Spec{
		Policy: &permissions.Policy{HostTrigger: true}, KeepAlive: true,
		Services: runtimes.Services{Execute: func(ctx context.Context, _ *host.Call, command string, _ json.RawMessage) (*host.Result, error) {
			return h.Call(ctx, &host.Call{Tool: command})
		}},
		Command: []string{"/bin/sh", "-c", `
while read -r line; do
  id=$(echo "$line" | sed 's/.*"id":"\(c[0-9]*\)".*/\1/')
  case "$line" in *'"ask"'*)
    echo '{"id":"n1","method":"execute","params":{"command":"text"}}'
    read -r answer
    said=$(echo "$answer" | sed 's/.*one call at a time.*/refused/') ;;
  *) said=fine ;;
  esac
  echo '{"id":"'$id'","result":"'$said'"}'
done`},
	})
	h = p.host
	for args, want := range map[string]string{`{"how":"ask"}`: "refused", `{}`: "fine"} {
		r, err := h.Call(t.Context(), &host.Call{Tool: "text", Args: json.RawMessage(args)})
		if err != nil || r.Content[0].Text() != want {
			t.Errorf("%s: got %+v, %v", args, r, err)
		}
	}
}

// Calls that wait for calls of the same plugin's, until all processes do: the last is refused, and
// the others go on. A command that fails is an error to the program, one that gives nothing null.
func TestProcessesThatWaitForTheirOwnCalls(t *testing.T) {
	for _, n := range []int{1, 3} {
		var h *host.Host
		p := open(t, &process.Options{MaxProcesses: n}, runtimes.Spec{
			Policy: &permissions.Policy{HostTrigger: true},
			Services: runtimes.Services{Execute: func(ctx context.Context, _ *host.Call, command string, _ json.RawMessage) (*host.Result, error) {
				if command == "nothing" {
					return &host.Result{}, nil
				}
				return h.Call(ctx, &host.Call{Tool: command})
			}},
			Command: []string{"/bin/sh", "-c", `
read -r line
id=$(echo "$line" | sed 's/.*"id":"\(c[0-9]*\)".*/\1/')
echo '{"id":"n1","method":"execute","params":{"command":"nothing"}}'
read -r answer
case "$answer" in *'"result":null'*) ;; *) echo '{"id":"'$id'","error":"nothing is not null"}' ;; esac
echo '{"id":"n2","method":"execute","params":{"command":"text"}}'
read -r answer
case "$answer" in
  *'wait for calls'*) echo '{"id":"'$id'","error":"REFUSED"}' ;;
  *'"error":"command \"text\": '*REFUSED*|*'"error":"command \\\"text\\\": '*REFUSED*) echo '{"id":"'$id'","error":"REFUSED"}' ;;
  *) echo '{"id":"'$id'","result":"answered"}' ;;
esac`},
		})
		h = p.host
		for range 2 { // nothing is left of the first
			r, err := h.Call(t.Context(), &host.Call{Tool: "text"})
			if err != nil || !r.IsError || r.Content[0].Text() != "REFUSED" {
				t.Errorf("%d processes: got %+v, %v", n, r, err)
			}
		}
	}
}

func quoteOf(text string) []byte {
	raw, _ := json.Marshal(text)
	return raw
}
