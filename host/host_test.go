package host

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/permissions"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var anyObject = json.RawMessage(`{"type":"object"}`)

func tool(name string, h HandlerFunc) *Tool {
	return &Tool{Name: name, Description: "A tool of a test.", InputSchema: anyObject, Handler: h}
}

// answer is a tool that answers with a text.
func answer(name, text string) *Tool {
	return tool(name, func(context.Context, *Call) (*Result, error) { return TextResult(text), nil })
}

func replace(t *testing.T, h *Host, owner string, source Source, tools ...*Tool) []string {
	t.Helper()
	conflicts, err := h.Replace(owner, source, tools)
	if err != nil {
		t.Fatal(err)
	}
	var taken []string
	for _, c := range conflicts {
		taken = append(taken, c.Tool+" by "+c.TakenBy)
	}
	return taken
}

func text(t *testing.T, h *Host, call *Call) string {
	t.Helper()
	r, err := h.Call(t.Context(), call)
	if err != nil {
		t.Fatalf("calling %q: %v", call.Tool, err)
	}
	var all []string
	for _, c := range r.Content {
		all = append(all, c.Text())
	}
	return strings.Join(all, "\n")
}

func names(h *Host) string {
	var all []string
	for _, t := range h.Tools() {
		all = append(all, t.Name+"@"+t.Owner)
	}
	return strings.Join(all, " ")
}

func TestOrderAndConflicts(t *testing.T) {
	h := New(nil)
	if got := replace(t, h, "aa", Plugin, answer("one", "aa"), answer("two", "aa"), answer("two", "second")); !slices.Equal(got, []string{"two by plugin aa"}) {
		t.Errorf("conflicts of aa: %q", got)
	}
	if got := replace(t, h, "bb", Plugin, answer("one", "bb"), answer("three", "bb")); !slices.Equal(got, []string{"one by plugin aa"}) {
		t.Errorf("conflicts of bb: %q", got)
	}
	replace(t, h, "app", HostTool, answer("three", "app"))
	replace(t, h, "toolhost", BuiltIn, answer("four", "built-in"))
	if got, want := names(h), "four@toolhost three@app one@aa two@aa"; got != want {
		t.Errorf("tools: %s, want %s", got, want)
	}
	if got := text(t, h, &Call{Tool: "two"}); got != "aa" {
		t.Errorf("two answers %q: the first of a doubled name must keep it", got)
	}

	// The owner goes: the name passes on without a reload of the next claimant.
	h.Remove("aa")
	if got := text(t, h, &Call{Tool: "one"}); got != "bb" {
		t.Errorf("one answers %q after its owner went", got)
	}
	// The owner that comes back stands at the end and takes nothing.
	if got := replace(t, h, "aa", Plugin, answer("one", "aa")); !slices.Equal(got, []string{"one by plugin bb"}) {
		t.Errorf("conflicts of aa after it came back: %q", got)
	}
	// A reload keeps the place, and a name that it adds steals nothing.
	replace(t, h, "cc", Plugin, answer("five", "cc"))
	replace(t, h, "bb", Plugin, answer("one", "bb 2"), answer("five", "bb 2"))
	if got, want := names(h), "four@toolhost three@app one@bb five@cc"; got != want {
		t.Errorf("tools after the reload: %s, want %s", got, want)
	}
	if got := text(t, h, &Call{Tool: "one"}); got != "bb 2" {
		t.Errorf("one answers %q after the reload", got)
	}
	// A reload that drops a name gives it up.
	replace(t, h, "bb", Plugin)
	replace(t, h, "bb", Plugin, answer("one", "bb 3"))
	if got := text(t, h, &Call{Tool: "one"}); got != "aa" {
		t.Errorf("one answers %q after bb had dropped it", got)
	}
	if got := len(h.Skipped()); got != 1 {
		t.Errorf("%d skipped tools, want 1 (one of bb)", got)
	}
}

func TestReplaceRefusesWhatIsWrong(t *testing.T) {
	h := New(nil)
	replace(t, h, "p", Plugin, answer("good", "1"))
	_, err := h.Replace("p", Plugin, []*Tool{
		{Name: "bad name", Description: "x", InputSchema: anyObject, Handler: answer("x", "").Handler},
		{Name: "no_handler", Description: "x", InputSchema: anyObject},
		{Name: "no_description", InputSchema: anyObject, Handler: answer("x", "").Handler},
		{Name: "no_object", Description: "x", InputSchema: json.RawMessage(`{"type":"string"}`), Handler: answer("x", "").Handler},
		{Name: "too_long", Description: "x", InputSchema: anyObject, Timeout: time.Hour, Handler: answer("x", "").Handler},
	})
	for _, want := range []string{"bad name", "no_handler", "no_description", "no_object", "too_long"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not name %s: %v", want, err)
		}
	}
	if names(h) != "good@p" {
		t.Errorf("a refused replacement changed the tools: %s", names(h))
	}
}

func TestUnknownAndDisabled(t *testing.T) {
	h := New(&Options{Offer: func(r Registered) bool { return r.Name != "hidden" }})
	replace(t, h, "p", Plugin, answer("count_words", "1"), answer("hidden", "1"))
	var unknown *UnknownToolError
	if _, err := h.Call(t.Context(), &Call{Tool: "count_word"}); !errors.As(err, &unknown) || unknown.Nearest != "count_words" {
		t.Errorf("calling count_word: %v", err)
	}
	if _, err := h.Call(t.Context(), &Call{Tool: "hidden"}); !errors.As(err, &unknown) {
		t.Errorf("a tool that is not offered was called: %v", err)
	}
	h.SetEnabled("count_words", false)
	if _, err := h.Call(t.Context(), &Call{Tool: "count_words"}); !errors.As(err, &unknown) {
		t.Errorf("a disabled tool was called: %v", err)
	}
	if r, _ := h.Tool("count_words"); r.Enabled {
		t.Error("the disabled tool is listed as enabled")
	}
	h.SetEnabled("count_words", true)
	if got := text(t, h, &Call{Tool: "count_words"}); got != "1" {
		t.Errorf("the tool answers %q after it was enabled again", got)
	}
}

func TestArguments(t *testing.T) {
	h := New(&Options{Limits: Limits{Arguments: 100}})
	echo := tool("echo", func(_ context.Context, c *Call) (*Result, error) { return TextResult(string(c.Args)), nil })
	echo.InputSchema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},"unit":{"type":"string","default":"kg"}},"additionalProperties":false}`)
	replace(t, h, "p", Plugin, echo)
	for args, want := range map[string]string{
		``:             `{"unit":"kg"}`,
		`{"n":5}`:      `{"n":5,"unit":"kg"}`,
		`{"n":"5"}`:    `{"n":5,"unit":"kg"}`,
		`{"n":"five"}`: `expected integer`,
		`{"m":5}`:      `- /m: unknown property`,
		`null`:         `invalid arguments for tool "echo"`,
		`[1]`:          `invalid arguments for tool "echo"`,
		`{"n":`:        `invalid arguments for tool "echo"`,
		`{"unit":"` + strings.Repeat("x", 100) + `"}`: `the limit is 100 bytes`,
	} {
		if got := text(t, h, &Call{Tool: "echo", Args: json.RawMessage(args)}); !strings.Contains(strings.ToLower(got), strings.ToLower(want)) {
			t.Errorf("arguments %s: got %q, want %q", args, got, want)
		}
	}
	strict := New(&Options{StrictArguments: true})
	replace(t, strict, "p", Plugin, echo)
	if got := text(t, strict, &Call{Tool: "echo", Args: json.RawMessage(`{"n":"5"}`)}); !strings.Contains(got, "expected integer") {
		t.Errorf("strict arguments were repaired: %q", got)
	}
}

func TestFailures(t *testing.T) {
	h := New(&Options{Limits: Limits{Result: 200}})
	var closed atomic.Int32
	replace(t, h, "p", Plugin,
		tool("fails", func(context.Context, *Call) (*Result, error) { return nil, errors.New("the disk is full") }),
		tool("panics", func(context.Context, *Call) (*Result, error) { panic("at the disco") }),
		tool("nothing", func(context.Context, *Call) (*Result, error) { return nil, nil }),
		tool("big", func(context.Context, *Call) (*Result, error) { return TextResult(strings.Repeat("x", 300)), nil }),
		tool("silent", func(context.Context, *Call) (*Result, error) { return nil, errors.New(" ") }),
		tool("swapped", func(context.Context, *Call) (*Result, error) {
			if closed.Add(1) == 1 {
				return nil, ErrHandlerClosed
			}
			return TextResult("new version"), nil
		}),
		tool("gone", func(context.Context, *Call) (*Result, error) { return nil, ErrHandlerClosed }),
	)
	for name, want := range map[string]struct {
		text   string
		failed bool
	}{
		"fails": {"the disk is full", true}, "panics": {`internal error in tool "panics"`, true}, "nothing": {"OK", false},
		"big": {"the limit is 200 bytes", true}, "silent": {"without a message", true},
		"swapped": {"new version", false}, "gone": {"call it again", true},
	} {
		r, err := h.Call(t.Context(), &Call{Tool: name})
		if err != nil || r.IsError != want.failed || !strings.Contains(r.Content[0].Text(), want.text) {
			t.Errorf("%s: %+v, %v; want %q", name, r, err, want.text)
		}
	}
}

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(nil)
		release, returned := make(chan struct{}), make(chan struct{})
		var cause error
		var grant *permissions.Grant
		deaf := tool("deaf", func(ctx context.Context, c *Call) (*Result, error) {
			defer close(returned)
			grant = c.Grant
			<-ctx.Done()
			cause = context.Cause(ctx)
			<-release
			return TextResult("late"), nil
		})
		deaf.Timeout = 600 * time.Millisecond
		replace(t, h, "p", Plugin, deaf)
		telling := tool("telling", func(ctx context.Context, c *Call) (*Result, error) {
			c.Explain(func() string { return "it was thinking" })
			<-ctx.Done()
			return nil, ctx.Err()
		})
		telling.Timeout = time.Second
		replace(t, h, "q", Plugin, telling)
		if r, err := h.Call(t.Context(), &Call{Tool: "telling"}); err != nil || !r.IsError || r.Content[0].Text() != `tool "telling" timed out after 1s; it was thinking` {
			t.Errorf("got %+v, %v", r, err)
		}
		start := time.Now()
		r, err := h.Call(t.Context(), &Call{Tool: "deaf"})
		if err != nil || !r.IsError || r.Content[0].Text() != `tool "deaf" timed out after 600ms` {
			t.Errorf("got %+v, %v", r, err)
		}
		if took := time.Since(start); took != 600*time.Millisecond {
			t.Errorf("the answer came after %s", took)
		}
		var timeout *TimeoutError
		if synctest.Wait(); !errors.As(cause, &timeout) || !errors.Is(cause, context.DeadlineExceeded) {
			t.Errorf("the handler's context ended because of %v", cause)
		}
		time.Sleep(revokeGrace) // fake time: lets the revocation happen
		synctest.Wait()
		if _, err := grant.FS().ReadDir("."); !errors.Is(err, permissions.ErrDenied) {
			t.Errorf("the grant outlived its call: %v", err)
		}
		close(release)
		<-returned
	})
}

func TestCancelAndClose(t *testing.T) {
	h := New(nil)
	started := make(chan struct{}, 2)
	replace(t, h, "p", Plugin, tool("wait", func(ctx context.Context, _ *Call) (*Result, error) {
		started <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("the user stopped it")
	go func() { <-started; cancel(stopped) }()
	if r, err := h.Call(ctx, &Call{Tool: "wait"}); r != nil || !errors.Is(err, stopped) {
		t.Errorf("a cancelled call gave %+v, %v", r, err)
	}
	ended := make(chan error)
	go func() {
		_, err := h.Call(context.Background(), &Call{Tool: "wait"})
		ended <- err
	}()
	<-started
	if err := h.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, ErrClosed) {
		t.Errorf("the running call ended with %v", err)
	}
	if _, err := h.Call(t.Context(), &Call{Tool: "wait"}); !errors.Is(err, ErrClosed) {
		t.Errorf("a call after Close ended with %v", err)
	}
}

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(nil)
		replace(t, h, "p", Plugin, tool("report", func(_ context.Context, c *Call) (*Result, error) {
			for i := range 10 {
				c.Progress(fmt.Sprintf("step %d", i))
				time.Sleep(100 * time.Millisecond) // fake time
			}
			c.Progress(strings.Repeat("ż", 300))
			late := c.Progress
			time.AfterFunc(time.Second, func() { late("too late") })
			return TextResult("done"), nil
		}))
		var said []string
		var at []time.Duration
		start := time.Now()
		call := &Call{Tool: "report", Progress: func(m string) { said = append(said, m); at = append(at, time.Since(start)) }}
		if _, err := h.Call(t.Context(), call); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second) // fake time: the late line would come now
		if want := strings.Repeat("ż", 200); said[len(said)-1] != want {
			t.Errorf("the last line is %q", said[len(said)-1])
		}
		if said[0] != "step 0" {
			t.Errorf("the first line is %q", said[0])
		}
		for i := range len(at) - 5 {
			if at[i+4]-at[i] < time.Second {
				t.Errorf("five lines within %s: %v", at[i+4]-at[i], at)
			}
		}
	})
}

type recorder struct {
	mu     sync.Mutex
	events []string
}

func (r *recorder) Observe(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Kind {
	case ToolsChanged:
		r.events = append(r.events, "tools")
	case CallStarted:
		r.events = append(r.events, "started "+e.Call.Tool)
	case CallProgress:
		r.events = append(r.events, "progress "+e.Message)
	case CallEnded:
		r.events = append(r.events, fmt.Sprintf("ended %s %s", e.Call.Tool, e.Failure))
	}
}

func TestObservers(t *testing.T) {
	h, r := New(nil), &recorder{}
	stop := h.Observe(r)
	t1 := tool("t", func(_ context.Context, c *Call) (*Result, error) { c.Progress("half"); return TextResult("1"), nil })
	replace(t, h, "p", Plugin, t1)
	replace(t, h, "p", Plugin, answer("t", "same list, other handler"))
	replace(t, h, "q", Plugin, answer("t", "skipped: the list is the same"))
	replace(t, h, "p", Plugin, t1)
	text(t, h, &Call{Tool: "t"})
	stop()
	h.Remove("p")
	if want := []string{"tools", "started t", "progress half", "ended t "}; !reflect.DeepEqual(r.events, want) {
		t.Errorf("events %q, want %q", r.events, want)
	}
}

func TestToolsFor(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub.md"), 0o755); err != nil {
		t.Fatal(err)
	}
	h := New(nil)
	with := func(name string, extensions ...string) *Tool {
		a := answer(name, "")
		a.Extensions = extensions
		return a
	}
	replace(t, h, "toolhost", BuiltIn, with("built_in"))
	replace(t, h, "p", Plugin, with("md", ".md"), with("gz", ".gz"), with("targz", ".TAR.gz"), with("every"), with("text", ".txt", ".md"), with("kelvin", ".k"), with("off", ".md"))
	h.SetEnabled("off", false)
	for files, want := range map[string]string{
		"a.md": "md text every", "README.MD": "md text every", "a.tar.gz": "targz gz every", ".tar.gz": "gz every", ".gz": "every",
		".env": "every", "a.md b.txt": "text every", "a.md b.csv": "every", "a.md a.md": "md text every", "": "", "sub.md": "",
		"a.md sub.md": "", "x.\u212a": "kelvin every", "nottar.gz": "gz every", "md": "every", "a.m\u0131": "every",
	} {
		var paths []string
		for _, f := range strings.Fields(files) {
			paths = append(paths, filepath.Join(dir, f))
		}
		var got []string
		for _, r := range h.ToolsFor(paths...) {
			got = append(got, r.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("ToolsFor(%s) = %q, want %q", files, got, want)
		}
	}
}

func TestShape(t *testing.T) {
	png := base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\nrest"))
	many := strings.TrimSuffix(strings.Repeat(`{"type":"text","text":"p"},`, 17), ",")
	for name, c := range map[string]struct {
		value string
		want  string // the result as JSON; "" means one text block with the value itself
		log   string // what the log says; "" means that it says nothing
	}{
		"object":       {value: `{"a":1}`},
		"null":         {value: `null`},
		"data":         {value: `{"content":[{"type":"text","text":"x"}],"title":"y"}`},
		"document":     {value: `{"content":"body"}`, log: "content is no list"},
		"empty":        {value: `{"content":[]}`, log: "0 blocks"},
		"many":         {value: `{"content":[` + many + `]}`, log: "17 blocks"},
		"strings":      {value: `{"content":["x"]}`, log: "content[0]: not an object"},
		"nulls":        {value: `{"content":[null]}`, log: "content[0]: not an object"},
		"unknown":      {value: `{"content":[{"type":"video"}]}`, log: `content[0]: unknown type "video"`},
		"no text":      {value: `{"content":[{"type":"text"}]}`, log: "content[0]: text is missing"},
		"text type":    {value: `{"content":[{"type":"text","text":5}]}`, log: "content[0]: text is number"},
		"error flag":   {value: `{"content":[{"type":"text","text":"x"}],"isError":"yes"}`, log: "isError is no boolean"},
		"base64url":    {value: `{"content":[{"type":"text","text":"x"},{"type":"image","data":"-_-_","mimeType":"image/png"}]}`, log: "content[1]: the data is no valid base64"},
		"no padding":   {value: `{"content":[{"type":"image","data":"AAA","mimeType":"image/png"}]}`, log: "no valid base64"},
		"line breaks":  {value: `{"content":[{"type":"image","data":"AA\nAA","mimeType":"image/png"}]}`, log: "no valid base64"},
		"mime type":    {value: `{"content":[{"type":"image","data":"AAAA","mimeType":"png"}]}`, log: `mimeType "png"`},
		"annotations":  {value: `{"content":[{"type":"text","text":"x","annotations":1}]}`, log: "annotations is no object"},
		"link":         {value: `{"content":[{"type":"resource_link","uri":"file:///a"}]}`, log: "name is missing"},
		"resource":     {value: `{"content":[{"type":"resource","resource":{"uri":"file:///a"}}]}`, log: "neither text nor blob"},
		"text block":   {value: `{"content":[{"type":"text","text":"x","_meta":{"k":1}}]}`, want: `{"content":[{"type":"text","text":"x","_meta":{"k":1}}]}`},
		"image":        {value: `{"content":[{"type":"image","data":"` + png + `","mimeType":"image/png"}]}`, want: `{"content":[{"type":"image","data":"` + png + `","mimeType":"image/png"}]}`},
		"wrong bytes":  {value: `{"content":[{"type":"image","data":"` + png + `","mimeType":"image/jpeg"}]}`, want: `{"content":[{"type":"image","data":"` + png + `","mimeType":"image/jpeg"}]}`, log: "do not look like image/jpeg"},
		"failed":       {value: `{"content":[{"type":"text","text":"x"}],"isError":true,"structuredContent":{"a":1}}`, want: `{"content":[{"type":"text","text":"x"}],"isError":true}`},
		"structured":   {value: `{"content":[{"type":"text","text":"x"}],"structuredContent":{"a":1},"_meta":{"m":1}}`, want: `{"content":[{"type":"text","text":"x"}],"structuredContent":{"a":1},"_meta":{"m":1}}`},
		"structured 5": {value: `{"content":[{"type":"text","text":"x"}],"structuredContent":5}`, want: `{"content":[{"type":"text","text":"x"}]}`, log: "structuredContent is no object"},
		"surrogates":   {value: `{"content":[{"type":"text","text":"a\ud83d b\ud83d\ude00 c\ude00 \\ud83d"}]}`, want: `{"content":[{"type":"text","text":"a\ufffd b\ud83d\ude00 c\ufffd \\ud83d"}]}`},
		"rich":         {value: `{"content":[{"type":"audio","data":"AAAA","mimeType":"audio/wav"},{"type":"resource_link","uri":"file:///n/a.md","name":"a.md","size":3},{"type":"resource","resource":{"uri":"file:///a","blob":"AAAA"}}]}`, want: `same`},
	} {
		var log bytes.Buffer
		h := New(&Options{Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelInfo}))})
		replace(t, h, "p", Plugin, tool("t", func(context.Context, *Call) (*Result, error) { return ValueResult(json.RawMessage(c.value)), nil }))
		r, err := h.Call(t.Context(), &Call{Tool: "t"})
		if err != nil {
			t.Fatal(err)
		}
		got := string(jsondoc.Marshal(struct {
			Content    []Content       `json:"content"`
			IsError    bool            `json:"isError,omitempty"`
			Structured json.RawMessage `json:"structuredContent,omitempty"`
			Meta       json.RawMessage `json:"_meta,omitempty"`
		}{r.Content, r.IsError, r.Structured, r.Meta}))
		want := c.want
		switch want {
		case "":
			want = string(jsondoc.Marshal(map[string]any{"content": []Content{Text(c.value)}}))
		case "same":
			want = c.value
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
		if quoted := strings.ReplaceAll(log.String(), `\"`, `"`); c.log == "" && quoted != "" || !strings.Contains(quoted, c.log) {
			t.Errorf("%s: the log says %q, want %q", name, quoted, c.log)
		}
	}
}

// A handler that fails when its deadline has passed has run out of time: nobody has cancelled.
func TestErrorAtTheDeadline(t *testing.T) {
	h := New(nil)
	late := tool("late", func(ctx context.Context, _ *Call) (*Result, error) {
		<-ctx.Done()
		return nil, errors.New("aborted")
	})
	late.Timeout = 1
	replace(t, h, "p", Plugin, late)
	for range 100 {
		r, err := h.Call(t.Context(), &Call{Tool: "late"})
		if err != nil || r.Failure != FailureTimeout || !strings.Contains(r.Content[0].Text(), "timed out after") {
			t.Fatalf("it gives %+v, %v", r, err)
		}
	}
}

// What a handler in Go gives as structured content goes out without half pairs, and may be no JSON.
func TestStructuredOfHandlers(t *testing.T) {
	h := New(nil)
	for raw, want := range map[string]string{
		`{"a":"\ud83d \ud83d\ude00","n":9007199254740993}`: `{"a":"\ufffd \ud83d\ude00","n":9007199254740993}`,
		`{"a":"\u000`: `{"a":"\u000`, `{"\`: `{"\`, `{"\ud83d`: `{"\ufffd`,
	} {
		replace(t, h, "p", Plugin, tool("t", func(context.Context, *Call) (*Result, error) {
			return &Result{Structured: json.RawMessage(raw), Meta: json.RawMessage(raw)}, nil
		}))
		r, err := h.Call(t.Context(), &Call{Tool: "t"})
		if err != nil || string(r.Structured) != want || string(r.Meta) != want {
			t.Errorf("%s became %s and %s, %v", raw, r.Structured, r.Meta, err)
		}
	}
}

func TestSize(t *testing.T) {
	for _, content := range [][]Content{
		{Text("")}, {Text("plain"), Text("żółw 😀")}, {Text("\"quoted\" \\ \n\r\t\b\f\x00\x1f\x7f <&> \u2028\u2029")}, {Image([]byte{1, 2, 3}, "image/png"), Text("a")},
	} {
		if got, want := (&Result{Content: content}).Size(), len(jsondoc.Marshal(content)); got != want {
			t.Errorf("the size of %s is %d, want %d", jsondoc.Marshal(content), got, want)
		}
	}
}

func TestOutputSchema(t *testing.T) {
	for name, c := range map[string]struct {
		result *Result
		want   string
		failed bool
	}{
		"fits":       {ValueResult(json.RawMessage(`{"n":5}`)), `{"n":5}`, false},
		"misfit":     {ValueResult(json.RawMessage(`{"n":"5"}`)), "/n: expected integer", true},
		"text":       {TextResult("5"), "an object is required", true},
		"nothing":    {&Result{}, "an object is required", true},
		"envelope":   {ValueResult(json.RawMessage(`{"content":[{"type":"text","text":"five"}],"structuredContent":{"n":5}}`)), "five", false},
		"no content": {ValueResult(json.RawMessage(`{"content":[{"type":"text","text":"five"}]}`)), "no structuredContent", true},
		"failed":     {ValueResult(json.RawMessage(`{"content":[{"type":"text","text":"no"}],"isError":true}`)), "no", true},
	} {
		h := New(nil)
		typed := tool("t", func(context.Context, *Call) (*Result, error) { return c.result, nil })
		typed.OutputSchema = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
		replace(t, h, "p", Plugin, typed)
		r, err := h.Call(t.Context(), &Call{Tool: "t"})
		if err != nil || r.IsError != c.failed || !strings.Contains(r.Content[0].Text(), c.want) {
			t.Errorf("%s: %+v, %v; want %q", name, r, err, c.want)
		}
		if !c.failed && string(r.Structured) != `{"n":5}` || c.failed && r.Structured != nil {
			t.Errorf("%s: structured content %s", name, r.Structured)
		}
	}
}

func FuzzParseEnvelope(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"text","text":"a\ud83d"}],"isError":true}`))
	f.Add([]byte(`{"content":[{"type":"resource","resource":{"uri":"a","blob":"AA=="}}]}`))
	f.Fuzz(func(t *testing.T, value []byte) {
		if !json.Valid(value) {
			return
		}
		repaired := repairSurrogates(value)
		if !json.Valid(repaired) {
			t.Fatalf("%q is no JSON any more: %q", value, repaired)
		}
		e, wrong := parseEnvelope(repaired)
		if e != nil && (wrong != "" || len(e.result.Content) == 0 || len(e.result.Content) > maxBlocks) {
			t.Fatalf("%q: %+v, %q", value, e, wrong)
		}
		if e != nil {
			for _, c := range e.result.Content {
				if b, err := json.Marshal(c); err != nil || !json.Valid(b) {
					t.Fatalf("%q: a block does not marshal: %v", value, err)
				}
			}
		}
	})
}
