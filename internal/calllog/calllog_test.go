package calllog

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/state"
	"github.com/toolhost/toolhost/permissions"
)

// crashDir names the folder in which this program, started again, records calls until it is killed.
const crashDir = "CALLLOG_CRASH_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(crashDir); dir != "" {
		recordUntilKilled(dir)
	}
	goleak.VerifyTestMain(m)
}

func openDB(tb testing.TB, dir string) *state.DB {
	db := state.New(dir, nil)
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	return db
}

// tools registers tools that answer as a test needs it.
func newHost(tb testing.TB, dir string, log *Log) *host.Host {
	h := host.New(&host.Options{Folder: dir})
	tool := func(name, schema string, f host.HandlerFunc) *host.Tool {
		return &host.Tool{Name: name, Description: "A tool.", Version: "1.2.3", InputSchema: json.RawMessage(schema), Handler: f, Policy: &permissions.Policy{
			FS: permissions.FSPolicy{Read: permissions.Access{Paths: []string{"a.txt"}}}}}
	}
	_, err := h.Replace("p", host.Plugin, []*host.Tool{
		tool("echo", `{"type":"object","properties":{"text":{"type":"string"},"pass_word":{"type":"string"},"hidden":{"type":"string","writeOnly":true},"n":{"type":"integer","default":7}}}`,
			func(_ context.Context, c *host.Call) (*host.Result, error) {
				c.Progress("half of " + string(c.Args))
				return host.TextResult(string(c.Args)), nil
			}),
		tool("touch", `{"type":"object"}`, func(_ context.Context, c *host.Call) (*host.Result, error) {
			_, _ = c.Grant.FS().ReadFile("a.txt", 0)
			_, err := c.Grant.FS().ReadFile("b.txt", 0)
			return nil, err
		}),
		tool("image", `{"type":"object"}`, func(context.Context, *host.Call) (*host.Result, error) {
			return &host.Result{Content: []host.Content{host.Image([]byte("GIF89a"), "image/gif"), host.Text("made")}}, nil
		}),
		tool("long", `{"type":"object"}`, func(context.Context, *host.Call) (*host.Result, error) {
			return host.TextResult(strings.Repeat("line\n", 40_000)), nil
		}),
	})
	if err != nil {
		tb.Fatal(err)
	}
	if log != nil {
		tb.Cleanup(h.Observe(log))
	}
	return h
}

func call(tb testing.TB, h *host.Host, tool, args string) {
	tb.Helper()
	_, err := h.Call(tb.Context(), &host.Call{Tool: tool, Args: json.RawMessage(args), Agent: host.Agent{ID: "s1", Name: "tester"}})
	if unknown := (*host.UnknownToolError)(nil); err != nil && !errors.As(err, &unknown) {
		tb.Fatal(err)
	}
}

func entries(tb testing.TB, db *state.DB) []*Entry {
	tb.Helper()
	rows, err := db.Calls(tb.Context(), state.CallQuery{})
	if err != nil {
		tb.Fatal(err)
	}
	var list []*Entry
	for _, row := range rows {
		e, err := FromRow(row)
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

func TestEntries(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	db := openDB(t, t.TempDir())
	declared := state.Declaration{Key: "p.token", Type: "string", Secret: true}
	if err := db.SetSettings(t.Context(), []state.Change{{Plugin: "p", Declaration: declared, Value: json.RawMessage(`"hunter-2-hunter"`)}}); err != nil {
		t.Fatal(err)
	}
	log := New(db, nil)
	h := newHost(t, dir, log)
	call(t, h, "echo", `{"text":"a hunter-2-hunter b"}`)
	call(t, h, "echo", `{"pass_word":"x1-x1","hidden":"x2-x2","n":3}`)
	call(t, h, "echo", `{"n":"no number"}`)
	call(t, h, "touch", `{}`)
	call(t, h, "missing", `{"token":"x3-x3"}`)
	call(t, h, "image", ``)
	call(t, h, "long", `{"pad":"`+strings.Repeat("p", 70_000)+`"}`)
	call(t, h, "echo", `{"text":"plain"}`)
	if err := log.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	list := entries(t, db)
	if len(list) != 8 {
		t.Fatalf("%d entries", len(list))
	}
	all, _ := json.Marshal(list)
	for _, secret := range []string{"hunter-2", `x1-x1`, `x2-x2`, `x3-x3`} {
		if bytes.Contains(all, []byte(secret)) {
			t.Errorf("the log holds %q", secret)
		}
	}
	first := list[0]
	if first.Tool != "echo" || first.Plugin != "p" || first.Version != "1.2.3" || first.Agent != "tester" || first.Session != "s1" || first.Folder != dir ||
		string(first.Arguments) != `{"text":"a [redacted] b"}` || string(first.Checked) != `{"text":"a [redacted] b","n":7}` && string(first.Checked) != `{"n":7,"text":"a [redacted] b"}` ||
		!first.Redacted || len(first.Progress) != 1 || first.ResultBytes == 0 || first.Replayable() == nil {
		t.Errorf("%+v", first)
	}
	for i, failure := range []string{"", "", "arguments", "denied", "unknown", "", "", ""} {
		if list[i].Failure != failure {
			t.Errorf("call %d failed with %q, want %q", i, list[i].Failure, failure)
		}
	}
	if e := list[3]; !reflect.DeepEqual(e.Read, []string{"a.txt"}) || len(e.Denied) != 1 || e.Denied[0].Target != "b.txt" || e.Denied[0].Rule == "" {
		t.Errorf("%+v", e)
	}
	if e := list[5]; e.Result.Content[0].SHA256 == "" || e.Result.Content[1].Text != "made" {
		t.Errorf("%+v", e.Result)
	}
	if e := list[6]; !e.Result.Cut || e.Arguments != nil || len(e.ArgumentsText) != maxArguments || e.Replayable() == nil {
		t.Errorf("a long call: %d bytes of arguments, %v, %v", len(e.ArgumentsText), e.Result.Cut, e.Replayable())
	}
	if err := list[7].Replayable(); err != nil {
		t.Error(err)
	}
	used, err := db.UsedPermissions(t.Context(), "p", "touch")
	if _, ok := used["fs.read"]; err != nil || !ok {
		t.Errorf("used %v, %v", used, err)
	}
}

// TestNothingRecorded looks that a log that saw no call makes no file and no goroutine.
func TestNothingRecorded(t *testing.T) {
	dir := t.TempDir()
	log := New(openDB(t, dir), nil)
	newHost(t, "", log)
	if err := log.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, state.File)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("there is a database: %v", err)
	}
}

// TestUnusable has a database that cannot be written: calls go on, it is told once, and the file stays.
func TestUnusable(t *testing.T) {
	dir := t.TempDir()
	junk := bytes.Repeat([]byte("no database "), 1000)
	if err := os.WriteFile(filepath.Join(dir, state.File), junk, 0o600); err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	log := New(openDB(t, dir), &Options{Log: slog.New(slog.NewTextHandler(&text, nil))})
	h := newHost(t, "", log)
	for range 2 * maxBatch {
		call(t, h, "echo", `{}`)
	}
	if err := log.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(text.String(), "calls are not recorded"); n != 1 || !strings.Contains(text.String(), fmt.Sprintf("calls=%d", 2*maxBatch)) {
		t.Errorf("told %d times:\n%s", n, text.String())
	}
	if now, err := os.ReadFile(filepath.Join(dir, state.File)); err != nil || !bytes.Equal(now, junk) {
		t.Error("the file was changed", err)
	}
}

// TestFullOfNames holds what calls touched and said to the bound of what waits, too.
func TestFullOfNames(t *testing.T) {
	log := New(openDB(t, t.TempDir()), nil)
	log.start.Do(func() {}) // nobody takes
	name := strings.Repeat("n", 4<<10)
	touched := &permissions.Touched{Read: slices.Repeat([]string{name}, 200)}
	for i := range 200 {
		c := &host.Call{ID: fmt.Sprint(i)}
		log.Observe(host.Event{Kind: host.CallProgress, Call: c, Message: "on it"})
		log.Observe(host.Event{Kind: host.CallEnded, Time: time.Now(), Call: c, Touched: touched})
	}
	var held int64
	for _, r := range log.queue {
		held += heldByTouched(r.event.Touched)
	}
	if held > maxQueueBytes || held < maxQueueBytes/2 {
		t.Errorf("what was touched holds %d bytes", held)
	}
	last := log.queue[len(log.queue)-1]
	if last.event.Touched.More != 200 || last.progress.more != 1 || len(last.progress.lines) > 0 {
		t.Errorf("the last record has %+v, %+v", last.event.Touched, last.progress)
	}
	go log.run()
	if err := log.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestFullOfMeta holds what clients said beside the arguments to the bound of what waits, too: it is
// not written, but a record holds its call.
func TestFullOfMeta(t *testing.T) {
	log := New(openDB(t, t.TempDir()), nil)
	log.start.Do(func() {}) // nobody takes
	for i := range 100 {
		log.Observe(host.Event{Kind: host.CallEnded, Time: time.Now(), Call: &host.Call{ID: fmt.Sprint(i), Meta: make(json.RawMessage, 1<<20)}})
	}
	held := 0
	for _, r := range log.queue {
		held += len(r.event.Call.Meta)
	}
	if held > maxQueueBytes || held < maxQueueBytes/2 || len(log.queue) != 100 {
		t.Errorf("%d calls hold %d bytes of it", len(log.queue), held)
	}
	go log.run()
	if err := log.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// TestFull fills the queue while nobody takes from it: calls do not wait, and what was left out
// is counted.
func TestFull(t *testing.T) {
	var text bytes.Buffer
	log := New(openDB(t, t.TempDir()), &Options{Log: slog.New(slog.NewTextHandler(&text, nil))})
	log.start.Do(func() {}) // nobody takes
	event := host.Event{Kind: host.CallEnded, Time: time.Now(), Call: &host.Call{}, Received: make(json.RawMessage, 1<<20)}
	for i := range maxQueue + 10 {
		event.Call = &host.Call{ID: fmt.Sprint(i), Args: event.Received}
		log.Observe(event)
	}
	if log.bytes > maxQueueBytes || log.waiting != maxQueue {
		t.Errorf("%d calls with %d bytes wait", log.waiting, log.bytes)
	}
	go log.run()
	if err := log.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "calls=10") {
		t.Error(text.String())
	}
	if got := len(entries(t, log.db)); got != maxQueue {
		t.Errorf("%d entries, want %d", got, maxQueue)
	}
	if log.bytes != 0 || log.waiting != 0 {
		t.Errorf("%d calls with %d bytes are counted as waiting", log.waiting, log.bytes)
	}
}

// TestProgressForgotten has calls talk and end: nothing is remembered of them.
func TestProgressForgotten(t *testing.T) {
	log := New(openDB(t, t.TempDir()), nil)
	defer func() {
		if err := log.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	e := host.Event{Message: "half"}
	for _, id := range []string{"1", "2"} {
		e.Call = &host.Call{ID: id}
		for _, e.Kind = range []host.EventKind{host.CallStarted, host.CallProgress, host.CallProgress, host.CallEnded} {
			log.Observe(e)
		}
	}
	log.mu.Lock()
	defer log.mu.Unlock()
	if len(log.progress) != 0 {
		t.Errorf("remembered: %v", log.progress)
	}
}

// TestManyAtOnce has many calls at once in two hosts with one database.
func TestManyAtOnce(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for range 2 {
		log := New(openDB(t, dir), nil)
		h := newHost(t, "", log)
		for range 4 {
			wg.Go(func() {
				for range 50 {
					call(t, h, "echo", `{"text":"x"}`)
				}
			})
		}
		defer func() {
			if err := log.Close(context.Background()); err != nil {
				t.Error(err)
			}
			if n := len(entries(t, log.db)); n < 200 {
				t.Errorf("%d entries", n)
			}
		}()
	}
	wg.Wait()
}

// recordUntilKilled makes calls, and says after each how many were made.
func recordUntilKilled(dir string) {
	db := state.New(dir, nil)
	log := New(db, nil)
	h := host.New(nil)
	_, _ = h.Replace("p", host.Plugin, []*host.Tool{{Name: "t", Description: "A tool.", InputSchema: json.RawMessage(`{"type":"object"}`),
		Handler: host.HandlerFunc(func(context.Context, *host.Call) (*host.Result, error) { return host.TextResult("x"), nil })}})
	h.Observe(log)
	made := 0
	for range time.Tick(5 * time.Millisecond) {
		_, _ = h.Call(context.Background(), &host.Call{Tool: "t"})
		made++
		fmt.Println(made)
	}
}

// TestKilled kills a host in the middle: what it recorded is whole, and at most what waited is lost.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	for round := range 3 {
		before := len(entries(t, openDB(t, dir)))
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), crashDir+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		db := openDB(t, dir)
		made := 0
		for len(entries(t, db))-before < 100 {
			if _, err := fmt.Fscanln(out, &made); err != nil {
				t.Fatal(err)
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for {
			if _, err := fmt.Fscanln(out, &made); err != nil {
				break
			}
		}
		_ = cmd.Wait() // it was killed
		got := len(entries(t, openDB(t, dir))) - before
		// A call takes five milliseconds at least, and a batch waits for a hundred of them; the rest
		// is for a disk that takes its time.
		if lost := made - got; lost > 2*maxBatch || got < 100 {
			t.Errorf("round %d: %d of %d calls are lost", round, lost, made)
		}
	}
	stats, err := openDB(t, dir).CallStats(t.Context(), time.Time{})
	if n := len(entries(t, openDB(t, dir))); err != nil || stats[0].Calls != n {
		t.Errorf("stats %+v of %d calls (%v)", stats, n, err)
	}
}
