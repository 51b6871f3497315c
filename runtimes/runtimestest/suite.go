// Package runtimestest is the contract of a runtime as a test.
//
//	func TestRuntime(t *testing.T) {
//		runtimestest.Run(t, func(t *testing.T) *runtimestest.Harness {
//			return &runtimestest.Harness{Runtime: myruntime.New(nil), Handlers: map[string]string{"echo": "…"}}
//		})
//	}
//
// It runs through a [host.Host], as calls do in earnest.
package runtimestest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
)

// Harness is what the suite needs of a runtime.
type Harness struct {
	Runtime runtimes.Runtime
	// Files are the files of a plugin, by slash path. Its tools must do what [Tools] says.
	Files map[string]string
	// Handlers gives for each of [Tools] the handler path that goes into the Spec.
	Handlers map[string]string
	// Broken are the files of a plugin that must not load; its only tool has the handler
	// BrokenHandler. The report must name the file BrokenFile.
	Broken        map[string]string
	BrokenHandler string
	BrokenFile    string
	// State goes into the Spec. With "plugin" the variable of count outlives a call.
	State string
	// Timeout of the tools wait and spin, within which they must start; 0 is 300 ms.
	Timeout time.Duration
	// Spec changes the Spec of a plugin before it is opened; nil leaves it.
	Spec func(spec *runtimes.Spec)
}

func (h *Harness) timeout() time.Duration {
	if h.Timeout > 0 {
		return h.Timeout
	}
	return 300 * time.Millisecond
}

// Tools gives the tools that a harness's plugin must have, and what each does.
func Tools() map[string]string {
	return map[string]string{
		"echo":     "returns its arguments as a JSON value",
		"text":     "returns the text in its argument text",
		"nothing":  "returns nothing",
		"fail":     "fails with the message in its argument message",
		"envelope": "returns a content envelope with isError true and one text block \"failed on purpose\"",
		"image":    "returns a content envelope with one block of type image: the argument data, type image/png",
		"wait":     "says the progress \"waiting\", then waits for a minute",
		"spin":     "says the progress \"spinning\", then computes without end and without a pause",
		"progress": "says the progress \"one\", then \"two\", then returns \"done\"",
		"read":     "returns the text of the file in its argument path",
		"large":    "returns a text of as many bytes as its argument bytes says",
		"count":    "adds one to a variable of its module and returns it",
	}
}

// Run runs the suite. The function makes a fresh harness for each part.
func Run(t *testing.T, make func(t *testing.T) *Harness) {
	for _, part := range []struct {
		name string
		run  func(t *testing.T, f *fixture)
	}{
		{"echo", testEcho}, {"text", testText}, {"nothing", testNothing}, {"error", testError}, {"envelope", testEnvelope},
		{"image", testImage}, {"timeout", testTimeout}, {"cancel", testCancel}, {"progress", testProgress}, {"limits", testLimits},
		{"denied read", testDeniedRead}, {"granted read", testGrantedRead}, {"fresh state", testFreshState},
		{"100 parallel calls", testParallel}, {"close while running", testCloseWhileRunning}, {"close gives up", testCloseGivesUp},
		{"closed handler", testClosed}, {"unknown tool", testUnknownTool}, {"inputs", testInputs},
	} {
		t.Run(part.name, func(t *testing.T) {
			harness := make(t)
			if part.name == "cancel" {
				harness.Timeout = 20 * time.Second // the cancel must come first, on a busy machine too
			}
			part.run(t, open(t, harness))
		})
	}
	t.Run("broken plugin", func(t *testing.T) { testBroken(t, make(t)) })
}

// fixture is an open plugin whose tools a host has.
type fixture struct {
	host     *host.Host
	instance runtimes.Instance
	harness  *Harness
	folder   string
}

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func open(t *testing.T, harness *Harness) *fixture {
	t.Helper()
	dir := write(t, harness.Files)
	policy := &permissions.Policy{Root: dir, FS: permissions.FSPolicy{Read: permissions.Access{Paths: []string{"granted.txt"}}}}
	spec := runtimes.Spec{Plugin: "suite", Version: "1.0.0", Dir: dir, Policy: policy, Log: slog.New(slog.DiscardHandler), State: harness.State}
	for id, does := range Tools() {
		handler, ok := harness.Handlers[id]
		if !ok {
			t.Fatalf("the harness has no handler for the tool %q, which %s", id, does)
		}
		spec.Tools = append(spec.Tools, runtimes.Tool{ID: id, Handler: handler, Field: "/tools"})
	}
	if harness.Spec != nil {
		harness.Spec(&spec)
	}
	instance, err := harness.Runtime.Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{instance: instance, harness: harness, folder: t.TempDir()}
	f.host = host.New(&host.Options{Folder: f.folder})
	var list []*host.Tool
	for id, does := range Tools() {
		timeout := 20 * time.Second
		if id == "wait" || id == "spin" {
			timeout = harness.timeout()
		}
		list = append(list, &host.Tool{
			Name: id, Description: does, InputSchema: json.RawMessage(`{"type":"object"}`),
			Timeout: timeout, Policy: policy, Handler: instance.Handler(id),
		})
	}
	if _, err := f.host.Replace("suite", host.Plugin, list); err != nil {
		t.Fatal(err)
	}
	expect(t, f.call(t, "nothing", object{}), false, "OK") // what a first call starts is not for the tests of time
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := instance.Close(ctx); err != nil {
			t.Errorf("closing the instance: %v", err)
		}
		if err := f.host.Close(ctx); err != nil {
			t.Errorf("closing the host: %v", err)
		}
	})
	return f
}

func (f *fixture) call(t *testing.T, tool string, args any) *host.Result {
	t.Helper()
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.host.Call(t.Context(), &host.Call{Tool: tool, Args: raw})
	if err != nil {
		t.Fatalf("calling %q: %v", tool, err)
	}
	return r
}

// expect checks the only block of a result.
func expect(t *testing.T, r *host.Result, isError bool, text string) {
	t.Helper()
	if len(r.Content) != 1 || r.IsError != isError || r.Content[0].Text() != text {
		t.Errorf("got isError %v, %.200q; want %v, %q", r.IsError, r.Content[0].Text(), isError, text)
	}
}

type object = map[string]any

func testEcho(t *testing.T, f *fixture) {
	const value = `{"list":[1,2.5,-3,true,null,"ż😀\n"],"nested":{"__proto__":{"x":1}},"empty":{}}`
	r := f.call(t, "echo", json.RawMessage(value))
	var got, want any
	if err := json.Unmarshal([]byte(r.Content[0].Text()), &got); err != nil || r.IsError {
		t.Fatalf("got %q, %v", r.Content[0].Text(), err)
	}
	if err := json.Unmarshal([]byte(value), &want); err != nil {
		t.Fatal(err)
	}
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		t.Errorf("got %s, want %s", g, w)
	}
}

func testText(t *testing.T, f *fixture) {
	for _, text := range []string{"  two\n\ttabs  \n", "", `{"a": 1}`, "zażółć 😀"} {
		expect(t, f.call(t, "text", object{"text": text}), false, text)
	}
}

func testNothing(t *testing.T, f *fixture) { expect(t, f.call(t, "nothing", object{}), false, "OK") }

func testError(t *testing.T, f *fixture) {
	expect(t, f.call(t, "fail", object{"message": `column "age" is missing`}), true, `column "age" is missing`)
	expect(t, f.call(t, "text", object{"text": "still here"}), false, "still here")
}

func testEnvelope(t *testing.T, f *fixture) {
	expect(t, f.call(t, "envelope", object{}), true, "failed on purpose")
}

func testImage(t *testing.T, f *fixture) {
	const data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	r := f.call(t, "image", object{"data": data})
	bytes, kind, ok := r.Content[0].Data()
	if r.IsError || len(r.Content) != 1 || !ok || kind != "image/png" || len(bytes) != 70 {
		t.Errorf("got %+v: %d bytes of %q", r.Content[0], len(bytes), kind)
	}
}

// A call that goes on is answered at its deadline, and its handler ends soon after.
func testTimeout(t *testing.T, f *fixture) {
	for _, tool := range []string{"wait", "spin"} {
		began := time.Now()
		expect(t, f.call(t, tool, object{}), true, fmt.Sprintf("tool %q timed out after %s", tool, f.harness.timeout()))
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: the answer came after %s", tool, took)
		}
	}
	expect(t, f.call(t, "text", object{"text": "still here"}), false, "still here")
	f.drains(t)
}

func (f *fixture) drains(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := f.instance.Close(ctx); err != nil {
		t.Errorf("a handler goes on after its call: %v", err)
	}
}

func testCancel(t *testing.T, f *fixture) {
	for _, tool := range []string{"wait", "spin"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("not wanted any more")
		_, err := f.host.Call(ctx, &host.Call{Tool: tool, Progress: func(string) { cancel(why) }})
		if !errors.Is(err, why) {
			t.Errorf("%s: got %v", tool, err)
		}
	}
	f.drains(t)
}

func testProgress(t *testing.T, f *fixture) {
	var mu sync.Mutex
	var said []string
	r, err := f.host.Call(t.Context(), &host.Call{Tool: "progress", Progress: func(m string) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, m)
	}})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, r, false, "done")
	mu.Lock()
	defer mu.Unlock()
	// Between the first and the last, messages that come too fast may be left out.
	if len(said) == 0 || said[len(said)-1] != "two" || !slices.IsSorted(said) {
		t.Errorf("got %q", said)
	}
}

func testLimits(t *testing.T, f *fixture) {
	limit := f.host.Limits().Result
	if r := f.call(t, "large", object{"bytes": limit / 2}); r.IsError || len(r.Content[0].Text()) != limit/2 {
		t.Errorf("half the limit: isError %v, %d bytes", r.IsError, len(r.Content[0].Text()))
	}
	for _, n := range []int{limit + 1, 20 * limit} {
		r := f.call(t, "large", object{"bytes": n})
		if text := r.Content[0].Text(); !r.IsError || len(text) > 1000 || !strings.Contains(text, fmt.Sprint(limit)) {
			t.Errorf("%d bytes: isError %v, %.200q", n, r.IsError, text)
		}
	}
}

func testDeniedRead(t *testing.T, f *fixture) {
	outside := filepath.Join(t.TempDir(), "secret.txt")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{outside, "other.txt", "../x"} {
		r := f.call(t, "read", object{"path": name})
		if text := r.Content[0].Text(); !r.IsError || strings.Contains(text, "secret\n") || text == "secret" {
			t.Errorf("%s: isError %v, %.200q", name, r.IsError, text)
		}
	}
}

func testGrantedRead(t *testing.T, f *fixture) {
	if err := os.WriteFile(filepath.Join(f.folder, "granted.txt"), []byte("granted"), 0o600); err != nil {
		t.Fatal(err)
	}
	expect(t, f.call(t, "read", object{"path": filepath.Join(f.folder, "granted.txt")}), false, "granted")
}

func testFreshState(t *testing.T, f *fixture) {
	expect(t, f.call(t, "count", object{}), false, "1")
	again := "1"
	if f.harness.State == "plugin" {
		again = "2"
	}
	expect(t, f.call(t, "count", object{}), false, again)
}

func testParallel(t *testing.T, f *fixture) {
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			text := fmt.Sprintf("call %d", i)
			expect(t, f.call(t, "text", object{"text": text}), false, text)
		})
	}
	wg.Wait()
}

// Close waits for the calls that run, and takes no new ones.
func testCloseWhileRunning(t *testing.T, f *fixture) {
	started := make(chan bool, 1)
	ended := make(chan *host.Result, 1)
	go func() {
		r, err := f.host.Call(t.Context(), &host.Call{Tool: "wait", Progress: func(string) { started <- true }})
		if err != nil {
			r = host.ErrorResult(err.Error())
		}
		ended <- r
	}()
	select {
	case <-started:
	case r := <-ended:
		t.Fatalf("the call has ended before it said anything: %+v", r)
	}
	f.drains(t)
	expect(t, <-ended, true, fmt.Sprintf("tool \"wait\" timed out after %s", f.harness.timeout()))
}

func testCloseGivesUp(t *testing.T, f *fixture) {
	started := make(chan bool, 1)
	ended := make(chan *host.Result, 1)
	go func() {
		r, err := f.host.Call(context.WithoutCancel(t.Context()), &host.Call{Tool: "wait", Progress: func(string) { started <- true }})
		if err != nil {
			r = host.ErrorResult(err.Error())
		}
		ended <- r
	}()
	select {
	case <-started:
	case r := <-ended:
		t.Fatalf("the call has ended before it said anything: %+v", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.instance.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	if r := <-ended; !r.IsError {
		t.Errorf("got %+v", r)
	}
}

func testClosed(t *testing.T, f *fixture) {
	f.drains(t)
	_, err := f.instance.Handler("text").Handle(t.Context(), &host.Call{Tool: "text", Args: json.RawMessage("{}")})
	if !errors.Is(err, host.ErrHandlerClosed) {
		t.Errorf("got %v, want ErrHandlerClosed", err)
	}
	if r := f.call(t, "text", object{"text": "x"}); !r.IsError {
		t.Errorf("a closed plugin answered %q", r.Content[0].Text())
	}
}

func testUnknownTool(t *testing.T, f *fixture) {
	if _, err := f.instance.Handler("nope").Handle(t.Context(), &host.Call{Tool: "nope", Args: json.RawMessage("{}")}); err == nil {
		t.Error("a tool that is not in the Spec was run")
	}
}

func testInputs(t *testing.T, f *fixture) {
	inputs := f.instance.Inputs()
	for id, handler := range f.harness.Handlers {
		if handler == "" {
			continue
		}
		if sum, ok := inputs[handler]; !ok || sum != sha256.Sum256([]byte(f.harness.Files[handler])) {
			t.Errorf("the handler %q of %q is not among the inputs, or with the sum of other bytes: %v", handler, id, inputs)
		}
	}
}

func testBroken(t *testing.T, harness *Harness) {
	dir := write(t, harness.Broken)
	spec := runtimes.Spec{
		Plugin: "broken", Dir: dir, Policy: &permissions.Policy{Root: dir}, Log: slog.New(slog.DiscardHandler), State: harness.State,
		Tools: []runtimes.Tool{{ID: "tool", Handler: harness.BrokenHandler}},
	}
	if harness.Spec != nil {
		harness.Spec(&spec)
	}
	_, err := harness.Runtime.Open(t.Context(), spec)
	var load *runtimes.LoadError
	if !errors.As(err, &load) {
		t.Fatalf("got %v, want a *LoadError", err)
	}
	if len(load.Problems) == 0 || load.Problems[0].File != harness.BrokenFile || harness.BrokenHandler != "" && load.Problems[0].Line == 0 {
		t.Errorf("got %q, want a place in %q", err, harness.BrokenFile)
	}
}

// Remaining gives the files that match a pattern, once there are none or too long has passed: what
// takes long to remove is removed after its owner was closed.
func Remaining(tb testing.TB, pattern string) (list []string) {
	tb.Helper()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for range 1000 {
		var err error
		if list, err = filepath.Glob(pattern); err != nil {
			tb.Fatal(err)
		}
		if len(list) == 0 {
			return nil
		}
		<-look.C
	}
	return list
}
