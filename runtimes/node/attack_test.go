//go:build !race

package node_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/node"
)

// attackVariable makes the test binary run one attack instead of its tests.
const attackVariable = "TOOLHOST_TEST_ATTACK"

type attack struct{ Name, Source string }

func attacks(tb testing.TB) []attack {
	tb.Helper()
	file, err := os.Open("testdata/attacks.jsonl")
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	var list []attack
	for s := bufio.NewScanner(file); s.Scan(); {
		var a attack
		if err := json.Unmarshal(s.Bytes(), &a); err != nil {
			tb.Fatal(err)
		}
		list = append(list, a)
	}
	if len(list) == 0 {
		tb.Fatal("there are no attacks")
	}
	return list
}

// Every attack gets an answer by its deadline, and the host goes on: each runs in a
// process of its own, with bounded memory, beside a plugin that must still answer.
func TestAttacks(t *testing.T) {
	for _, a := range attacks(t) {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			cmd := exec.CommandContext(ctx, os.Args[0])
			cmd.Env = append(os.Environ(), attackVariable+"="+a.Source)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v\n%.600s", err, out)
			}
			t.Logf("%.300s", bytes.TrimSpace(out))
		})
	}
}

// runAttack is the process of one attack.
func runAttack(source string) int {
	const memory = 4 << 30
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: memory, Max: memory}); err != nil {
		return fail(err)
	}
	dir, err := os.MkdirTemp("", "attack")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(dir)
	for name, code := range map[string]string{
		"attack.js": "export default function () {\n" + returned(source) + "\n}", "beside.js": "export default () => 'beside'",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(code), 0o600); err != nil {
			return fail(err)
		}
	}
	log := slog.New(slog.DiscardHandler)
	instance, err := node.New(&node.Options{MaxHeap: 512 << 20}).Open(context.Background(), runtimes.Spec{
		Plugin: "attack", Dir: dir, Log: log,
		Tools: []runtimes.Tool{{ID: "attack", Handler: "attack.js"}, {ID: "beside", Handler: "beside.js"}},
	})
	if err != nil {
		return fail(err)
	}
	h := host.New(nil)
	var tools []*host.Tool
	for _, id := range []string{"attack", "beside"} {
		tools = append(tools, &host.Tool{
			Name: id, Description: "test", InputSchema: json.RawMessage(`{"type":"object"}`),
			Timeout: 700 * time.Millisecond, Handler: instance.Handler(id),
		})
	}
	if _, err := h.Replace("test", host.Plugin, tools); err != nil {
		return fail(err)
	}
	began := time.Now()
	r, err := h.Call(context.Background(), &host.Call{Tool: "attack"})
	if err != nil {
		return fail(err)
	}
	took := time.Since(began)
	if took > 5*time.Second {
		return fail(fmt.Errorf("the answer came after %s", took))
	}
	deadline := time.Now().Add(10 * time.Second)
	for {
		beside, err := h.Call(context.Background(), &host.Call{Tool: "beside"})
		if err == nil && !beside.IsError {
			break
		}
		if time.Now().After(deadline) {
			return fail(fmt.Errorf("the plugin beside does not answer: %v, %v", beside, err))
		}
	}
	// Native code that was begun goes on to its end. How long that may take is bounded by the
	// time of the processor, as a clock counts what others take: one that goes on for longer
	// is killed.
	used, err := processorTime()
	if err != nil {
		return fail(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: used + endTime, Max: used + endTime}); err != nil {
		return fail(err)
	}
	if err := instance.Close(context.Background()); err != nil {
		return fail(fmt.Errorf("the script goes on after its answer: %w", err))
	}
	fmt.Printf("%s after %d ms: %.120s\n", map[bool]string{true: "failed", false: "ok"}[r.IsError], took.Milliseconds(), r.Content[0].Text())
	return 0
}

// endTime is how many seconds of a processor a script may go on for after its answer.
const endTime = 8

// processorTime gives how many seconds of a processor this process has used, rounded up.
func processorTime() (uint64, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return uint64(u.Utime.Sec+u.Stime.Sec) + 2, nil
}

// returned makes a source give its value, where that is an expression or ends with a promise.
func returned(source string) string {
	const promise = "new Promise(()=>{})"
	if before, ok := strings.CutSuffix(source, promise); ok {
		return before + "return " + promise
	}
	if !strings.ContainsAny(source, ";{") || strings.HasPrefix(source, "Array.prototype") {
		return "return " + source
	}
	return source
}

func fail(err error) int {
	fmt.Println(err)
	return 1
}
