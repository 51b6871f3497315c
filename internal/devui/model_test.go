package devui

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/clean"
	"github.com/toolhost/toolhost/loader"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write what is drawn into testdata")

// screen drives a model as its terminal would.
type screen struct {
	t      *testing.T
	m      *model
	feed   *Feed
	called []string
	tested int
	onload []bool
	saved  map[string]string
	fail   error
}

// clock is the time of everything that happens.
var clock = time.Date(2026, 5, 4, 12, 30, 0, 0, time.Local)

func newScreen(t *testing.T, width, height int) *screen {
	s := &screen{t: t, feed: NewFeed(), saved: map[string]string{}}
	s.m = newModel(t.Context(), s.feed, &Options{
		Title: "./plugins", Address: "http://127.0.0.1:8080/mcp",
		Tools: func() []host.Registered {
			return []host.Registered{
				{Tool: &host.Tool{Name: "ant_dig", Title: "Dig", Description: "Digs a hole.\nDeeply.", InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)}},
				{Tool: &host.Tool{Name: "bee_fly", Title: "Fly", Description: "Flies.", InputSchema: json.RawMessage(`{"type":"object"}`)}},
			}
		},
		Arguments: func(tool string) string { return s.saved[tool] },
		Remember:  func(tool, line string) { s.saved[tool] = line },
		Call: func(_ context.Context, tool, line string) error {
			s.called = append(s.called, tool+" "+line)
			return s.fail
		},
		Test:         func(context.Context) error { s.tested++; return s.fail },
		TestOnReload: func(on bool) { s.onload = append(s.onload, on) },
	})
	s.send(tea.WindowSizeMsg{Width: width, Height: height})
	return s
}

// send gives the model a message and runs the command that comes of it, unless that waits.
func (s *screen) send(msg tea.Msg) {
	s.t.Helper()
	_, cmd := s.m.Update(msg)
	if cmd == nil {
		return
	}
	if _, waits := msg.(updates); waits {
		return
	}
	switch answer := cmd().(type) {
	case called, tested:
		s.m.Update(answer)
	}
}

// happen shows what waits in the feed.
func (s *screen) happen() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 10*time.Second)
	defer cancel()
	list, err := s.feed.Next(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	s.send(updates(list))
}

// keys presses keys, which are named as bubbletea names them.
func (s *screen) keys(names ...string) {
	s.t.Helper()
	special := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "pgup": tea.KeyPgUp, "home": tea.KeyHome, "end": tea.KeyEnd, "backspace": tea.KeyBackspace}
	for _, n := range names {
		k := tea.KeyPressMsg{Code: special[n]}
		switch {
		case n == "shift+tab":
			k = tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
		case n == "ctrl+u":
			k = tea.KeyPressMsg{Code: 'u', Mod: tea.ModCtrl}
		case k.Code == 0:
			k = tea.KeyPressMsg{Code: []rune(n)[0], Text: n}
		}
		s.send(k)
	}
}

func (s *screen) typed(text string) {
	for _, r := range text {
		s.send(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

var styles = regexp.MustCompile("\x1b\\[[0-9;]*m")

// view gives the screen without colours, and makes sure of its size.
func (s *screen) view() string {
	s.t.Helper()
	rows := strings.Split(s.m.View().Content, "\n")
	if len(rows) != s.m.height {
		s.t.Errorf("%d rows on a screen of %d", len(rows), s.m.height)
	}
	for i, r := range rows {
		if w := lipgloss.Width(r); w > s.m.width {
			s.t.Errorf("row %d has %d cells on a screen of %d: %q", i, w, s.m.width, r)
		}
		rows[i] = strings.TrimRight(styles.ReplaceAllString(r, ""), " ")
		if strings.ContainsFunc(rows[i], func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u202e' }) {
			s.t.Errorf("row %d drives the terminal: %q", i, rows[i])
		}
	}
	return strings.Join(rows, "\n") + "\n"
}

// want compares the screen with a file.
func (s *screen) want(name string) {
	s.t.Helper()
	path := filepath.Join("testdata", name+".txt")
	got := s.view()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			s.t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	if got != string(want) {
		s.t.Errorf("%s:\n%s\nwant:\n%s", name, got, want)
	}
}

func (s *screen) load(kind loader.EventKind, status loader.PluginStatus) {
	s.t.Helper()
	s.feed.Load(loader.Event{Kind: kind, Time: clock, Status: status})
}

func ant(revision int, errs ...*loader.ManifestError) loader.PluginStatus {
	return loader.PluginStatus{Name: "ant", Dir: "plugins/ant", State: loader.Loaded, Revision: revision, Tools: []string{"ant_dig"}, Errors: errs}
}

// call has a call happen whose answer is known.
func (s *screen) call(id, tool, args string, result *host.Result, failure host.FailureKind, say ...string) {
	c := &host.Call{ID: id, Tool: tool, Plugin: "ant", Agent: host.Agent{ID: Caller, Name: Caller}}
	s.feed.Observe(host.Event{Kind: host.CallStarted, Time: clock, Call: c, Received: json.RawMessage(args)})
	log := slog.New(s.feed.Handler(slog.LevelInfo)).With("plugin", "ant", "tool", tool, "call", id)
	for _, text := range say {
		r := slog.NewRecord(clock, slog.LevelInfo, text, 0)
		r.Add("n", 3)
		if err := log.Handler().Handle(s.t.Context(), r); err != nil {
			s.t.Error(err)
		}
	}
	s.feed.Observe(host.Event{Kind: host.CallProgress, Time: clock, Call: c, Message: "half\nway"})
	s.feed.Observe(host.Event{Kind: host.CallEnded, Time: clock, Call: c, Received: json.RawMessage(args), Duration: 12 * time.Millisecond, Result: result, Failure: failure})
}

func TestScreen(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "h.js"), []byte("// one\n// two\nexport default () =>\n\tone two\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := newScreen(t, 72, 24)
	s.want("empty")
	s.load(loader.PluginLoaded, loader.PluginStatus{Name: "bee", Dir: "plugins/bee", State: loader.Loaded, Revision: 1, Tools: []string{"bee_fly"}})
	s.load(loader.PluginLoaded, ant(1))
	s.call("1", "ant_dig", `{"path": "a.md"}`, host.TextResult("a hole\n\tdeep"), host.NoFailure, "the tool digs")
	s.happen()
	s.want("called")
	broken := ant(1, &loader.ManifestError{File: "h.js", Line: 4, Column: 6, Msg: `expected ";" but found "two"`, Hint: "put something between them"})
	broken.Dir = dir
	s.load(loader.PluginRemoved, ant(1))
	s.load(loader.PluginFailed, broken)
	s.call("2", "ant_dig", `{}`, host.ErrorResult("no path"), host.FailureArguments)
	s.happen()
	s.want("broken")
	s.send(tea.WindowSizeMsg{Width: 30, Height: 14})
	s.want("narrow")
	for _, size := range [][2]int{{1, 1}, {3, 2}, {10, 3}, {20, 4}, {7, 40}, {300, 5}} {
		s.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		s.view()
	}
}

func TestKeys(t *testing.T) {
	s := newScreen(t, 72, 16)
	s.saved["ant_dig"] = `{"path": "old.md"}`
	s.keys("enter", "e", "s") // there is nothing to call yet
	if len(s.called) > 0 || s.m.notice == "" {
		t.Errorf("called %q, notice %q", s.called, s.m.notice)
	}
	s.load(loader.PluginLoaded, ant(1))
	s.happen()
	s.keys("enter")
	s.keys("e")
	s.typed("x=1") // in place of the object, behind which nothing can stand
	if got := s.m.input.Value(); got != "x=1" {
		t.Errorf("the line is %q", got)
	}
	s.keys("esc", "e")
	s.send(tea.PasteMsg{Content: "y=2"})
	if got := s.m.input.Value(); got != "y=2" {
		t.Errorf("the line is %q", got)
	}
	s.keys("esc", "e", "backspace")
	s.typed(`, "n": 1}`) // in it
	s.keys("enter")
	s.keys("e")
	s.typed("path=new q.md")
	s.want("editing")
	if c := s.m.View().Cursor; c == nil || c.Y != 14 || c.X != len("ant_dig path=new q.md") {
		t.Errorf("cursor = %+v", c)
	}
	s.keys("enter")
	s.keys("e")
	s.typed(" more")
	s.keys("esc", "r") // what was typed is dropped
	s.keys("tab", "enter", "tab", "shift+tab", "enter")
	s.keys("p")
	s.typed("A")
	s.want("picking")
	s.keys("enter", "enter")
	s.keys("p", "down", "down", "up", "down", "enter", "enter")
	s.keys("p")
	s.typed("nothing")
	s.keys("enter", "enter") // none matches: the tool stays
	want := []string{
		`ant_dig {"path": "old.md"}`, `ant_dig {"path": "old.md", "n": 1}`, "ant_dig path=new q.md", "ant_dig path=new q.md",
		"bee_fly ", "bee_fly ", "ant_dig path=new q.md", "bee_fly ", "bee_fly ",
	}
	if !slices.Equal(s.called, want) {
		t.Errorf("called %q, want %q", s.called, want)
	}
	s.keys("shift+tab", "s")
	s.want("schema")
	s.keys("down", "end", "home", "esc")
	s.keys("t", "T", "T")
	if s.tested != 1 || !slices.Equal(s.onload, []bool{true, false}) {
		t.Errorf("tested %d times, on reload %v", s.tested, s.onload)
	}
	s.fail = errors.New("out\x1b[2Jof order")
	s.keys("enter", "t")
	s.want("failed")
	for _, k := range []tea.KeyPressMsg{{Code: 'q', Text: "q"}, {Code: 'c', Mod: tea.ModCtrl}} {
		_, cmd := s.m.Update(k)
		if cmd == nil {
			t.Fatalf("%s does not quit", k)
		}
		if _, ok := cmd().(tea.QuitMsg); !ok {
			t.Errorf("%s does not quit", k)
		}
	}
}

func TestScrolling(t *testing.T) {
	s := newScreen(t, 40, 10)
	say := func(from, to int) {
		for i := from; i < to; i++ {
			s.feed.put(Update{Lines: []Line{{Text: fmt.Sprintf("line %d", i)}}})
		}
		s.happen()
	}
	say(0, 100)
	shows := func(text string, want bool) {
		t.Helper()
		if got := strings.Contains(s.view(), text+"\n"); got != want {
			t.Errorf("shows %q: %t\n%s", text, got, s.view())
		}
	}
	shows("line 99", true)
	s.keys("up", "up", "up")
	shows("line 99", false)
	shows("line 96", true)
	say(100, 120) // the same is shown on
	shows("line 96", true)
	shows("line 97", false)
	s.keys("home")
	shows("line 0", true)
	s.keys("end")
	shows("line 119", true)
}

// TestMemoryIsBounded: ten times as many lines as are kept, and lines that are large.
func TestMemoryIsBounded(t *testing.T) {
	s := newScreen(t, 80, 20)
	text := strings.Repeat("x", 4000)
	s.load(loader.PluginLoaded, ant(1))
	for range 100_000 {
		s.feed.put(Update{Lines: []Line{{Time: clock, Text: text}}})
	}
	s.feed.mu.Lock()
	waiting, bytes := len(s.feed.waiting), s.feed.bytes
	s.feed.mu.Unlock()
	if waiting > maxWaiting || bytes > maxWaitingBytes || bytes <= 0 {
		t.Errorf("%d updates of %d bytes wait", waiting, bytes)
	}
	s.happen()
	if got := s.view(); len(s.m.plugins) != 1 {
		t.Errorf("the load was left out:\n%s", got)
	}
	s.keys("home")
	if got := s.view(); !strings.Contains(got, "lines were left out") {
		t.Errorf("nothing tells of what was left out:\n%s", got)
	}
	for range 30 {
		for range 1000 {
			s.feed.put(Update{Lines: []Line{{Text: text}}})
		}
		s.happen()
	}
	if h := s.m.history; len(h.lines) > maxHistory || h.bytes > maxHistoryBytes || h.bytes <= 0 {
		t.Errorf("%d lines of %d bytes are kept", len(h.lines), h.bytes)
	}
}

func TestHostileTexts(t *testing.T) {
	const evil = "\x1b[2J\x07\r\u009b31m\u202ebad\xff\t日本"
	s := newScreen(t, 50, 40)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "h.js"), []byte("\ufeff"+evil+evil+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	status := loader.PluginStatus{Name: evil, Dir: dir, State: loader.Failed, Errors: []*loader.ManifestError{{File: "h.js", Line: 1, Column: 9, Msg: evil, Hint: evil}}, Skipped: []*host.ConflictError{{Tool: evil, TakenBy: evil}}}
	s.load(loader.PluginFailed, status)
	s.call(evil, evil, evil, host.TextResult(evil+"\n"+evil), host.NoFailure, evil)
	log := slog.New(s.feed.Handler(slog.LevelDebug)).WithGroup(evil).With(evil, evil)
	log.Error(evil, slog.Group(evil, evil, errors.New(evil)))
	fmt.Fprint(s.feed, evil+"\n"+evil)
	s.feed.Say(Bad, evil)
	s.happen()
	s.view()
	var plain bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	s.load(loader.PluginFailed, status)
	s.call(evil, evil, evil, host.TextResult(evil), host.NoFailure, evil)
	cancel()
	if err := Print(ctx, s.feed, &plain); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(plain.String()) {
		if line = strings.TrimSuffix(line, "\n"); clean.Line(line) != line {
			t.Errorf("a plain line drives the terminal: %q", line)
		}
	}
}

// TestFrames: a file may be anything by the time it is read.
func TestFrames(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret")
	for path, text := range map[string]string{
		outside:                          "secret\n",
		filepath.Join(dir, "wide.js"):    "日本 = '\t' x",
		filepath.Join(dir, "long.js"):    strings.Repeat("a", 5000) + "!" + strings.Repeat("b", 5000),
		filepath.Join(dir, "crlf.js"):    "one\r\ntwo\r\n",
		filepath.Join(dir, "a/inner.js"): "x",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(outside, filepath.Join(dir, "link.js")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file         string
		line, column int
		want         string
	}{
		{"wide.js", 1, 9, "  1 | 日本 = '    ' x\n    | " + strings.Repeat(" ", 13) + "^"},
		{"crlf.js", 2, 4, "  1 | one\n  2 | two\n    |    ^"},
		{"crlf.js", 3, 1, "  1 | one\n  2 | two\n  3 | \n    | ^"}, // the end of the file
		{"crlf.js", 9, 1, ""},
		{"crlf.js", 1, 0, "  1 | one"},
		{"crlf.js", 1, 999, "  1 | one\n    |    ^"},
		{"long.js", 1, 5001, "  1 | …" + strings.Repeat("a", 80) + "!" + strings.Repeat("b", 79) + "…\n    | " + strings.Repeat(" ", 81) + "^"},
		{"link.js", 1, 1, ""},
		{"../secret", 1, 1, ""},
		{"a", 1, 1, ""},
		{"gone.js", 1, 1, ""},
		{"", 1, 1, ""},
		{"crlf.js", -1, 1, ""},
	} {
		var got []string
		for _, l := range frame(dir, &loader.ManifestError{File: c.file, Line: c.line, Column: c.column}) {
			got = append(got, l.Text)
		}
		if text := strings.Join(got, "\n"); text != c.want {
			t.Errorf("%s:%d:%d:\n%s\nwant:\n%s", c.file, c.line, c.column, text, c.want)
		}
	}
}

func TestRefusedAndNonText(t *testing.T) {
	s := newScreen(t, 72, 14)
	c := &host.Call{ID: "1", Tool: "no_such", Agent: host.Agent{ID: "x", Name: "claude"}}
	s.feed.Observe(host.Event{Kind: host.CallEnded, Time: clock, Call: c, Err: errors.New(`there is no tool "no_such"`), Failure: host.FailureUnknown})
	s.call("2", "ant_dig", "", &host.Result{Content: []host.Content{host.Image([]byte{1, 2, 3}, "image/png")}}, host.NoFailure)
	s.call("3", "ant_dig", "{}", &host.Result{Structured: json.RawMessage(`{"n":1}`)}, host.NoFailure)
	s.happen()
	s.want("refused")
	if n := len(s.feed.calls); n != 0 {
		t.Errorf("%d calls are remembered", n)
	}
}

// TestTheTerminalIsLeftAsItWas: by a quit, by the end of the context and by a panic.
func TestTheTerminalIsLeftAsItWas(t *testing.T) {
	const enter, leave = "\x1b[?1049h", "\x1b[?1049l"
	for _, how := range []string{"quit", "context", "panic"} {
		t.Run(how, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			feed := NewFeed()
			var out bytes.Buffer
			in, keys := io.Pipe()
			defer keys.Close()
			o := &Options{}
			o.Tools = func() []host.Registered {
				switch how {
				case "panic":
					panic("a fault of the screen")
				case "context":
					cancel()
				default:
					go func() { _, _ = io.WriteString(keys, "q") }()
				}
				return nil
			}
			feed.Say(Plain, "something happens")
			err := Run(ctx, feed, in, &out, o)
			if how == "panic" != (err != nil) {
				t.Errorf("err = %v", err)
			}
			text := out.String()
			if strings.Contains(text, enter) && strings.LastIndex(text, leave) < strings.LastIndex(text, enter) {
				t.Errorf("the alternate screen is not left: %q", text)
			}
			if !strings.Contains(text, enter) && how == "quit" {
				t.Errorf("there was no screen: %q", text)
			}
		})
	}
}
