package devui

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/loader"
)

// Update is something that happened.
type Update struct {
	Lines    []Line
	Load     *loader.Event // what became of a plugin; nil for anything else
	Problems []Line        // of Load: what is wrong, with its places in the source
}

const (
	// maxWaiting and maxWaitingBytes are how much waits to be shown; what is older is left out.
	maxWaiting      = 10_000
	maxWaitingBytes = 8 << 20
)

// Feed collects what happens until it is shown. Nobody who tells it of something waits; what
// comes faster than it can be shown is left out, and counted. It is safe for concurrent use.
type Feed struct {
	wake chan struct{} // holds one signal where there is something new

	mu      sync.Mutex
	waiting []Update
	bytes   int
	dropped int
	calls   map[string]bool // that have begun and not ended
}

// NewFeed makes an empty feed.
func NewFeed() *Feed { return &Feed{wake: make(chan struct{}, 1), calls: map[string]bool{}} }

var _ host.Observer = (*Feed)(nil)

// Next waits for something to show and gives all that there is. The error is that of ctx;
// with it comes what is left.
func (f *Feed) Next(ctx context.Context) ([]Update, error) {
	var err error
	select {
	case <-f.wake:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	f.mu.Lock()
	list, dropped := f.waiting, f.dropped
	f.waiting, f.bytes, f.dropped = nil, 0, 0
	f.mu.Unlock()
	if dropped > 0 {
		list = slices.Insert(list, 0, Update{Lines: []Line{{Kind: Warning, Time: time.Now(), Text: fmt.Sprintf("%d lines were left out: they came too fast", dropped)}}})
	}
	for i, u := range list {
		if u.Load != nil {
			list[i].Problems = problems(u.Load.Status)
		}
	}
	return list, err
}

// problems gives the lines that show all that is wrong with a plugin.
func problems(s loader.PluginStatus) []Line {
	var list []Line
	for _, errs := range [][]*loader.ManifestError{s.Errors, s.Warnings} {
		for _, e := range errs {
			list = append(list, problem(s.Dir, e)...)
		}
	}
	for _, c := range s.Skipped {
		list = append(list, Line{Kind: Warning, Text: oneLine(fmt.Sprintf("the tool %q stays out: %s has that name", c.Tool, c.TakenBy))})
	}
	return list
}

func (f *Feed) put(u Update) {
	size := 0
	for _, l := range u.Lines {
		size += len(l.Text)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.waiting = append(f.waiting, u)
	if f.bytes += size; len(f.waiting) > maxWaiting || f.bytes > maxWaitingBytes {
		f.drop()
	}
	select {
	case f.wake <- struct{}{}:
	default: // it is set
	}
}

// drop leaves out the older half of the lines that wait; what became of plugins stays.
func (f *Feed) drop() {
	older := len(f.waiting) / 2
	var kept []Update
	for _, u := range f.waiting[:older] {
		if u.Load != nil {
			kept = append(kept, u)
			continue
		}
		for _, l := range u.Lines {
			f.dropped++
			f.bytes -= len(l.Text)
		}
	}
	f.waiting = append(kept, f.waiting[older:]...)
}

// Say adds lines of a text.
func (f *Feed) Say(kind Kind, text string) {
	list := lines(kind, "", text)
	if len(list) > 0 {
		list[0].Time = time.Now()
		f.put(Update{Lines: list})
	}
}

// Write adds what would have been written beside a screen, such as a warning of the program.
func (f *Feed) Write(b []byte) (int, error) {
	for line := range bytes.Lines(b) {
		f.Say(Warning, string(line))
	}
	return len(b), nil
}

// Load takes what became of a plugin: it is for [loader.Options].
func (f *Feed) Load(e loader.Event) {
	f.put(Update{Lines: []Line{loadLine(e)}, Load: &e})
}

func loadLine(e loader.Event) Line {
	s := e.Status
	l := Line{Kind: Good, Time: e.Time, Text: s.Name + " " + e.Kind.String()}
	switch e.Kind {
	case loader.PluginFailed:
		l.Kind, l.Text = Bad, s.Name+" did not load"
		if s.State == loader.Loaded {
			l.Text += fmt.Sprintf("; revision %d, which is older, serves on", s.Revision)
		}
	case loader.PluginRemoved:
		l.Kind = Warning
	case loader.PluginHeld:
		l.Kind, l.Text = Warning, s.Name+" waits for consent: "+strings.Join(s.Waits, "; ")
	default:
		l.Text += fmt.Sprintf(", revision %d", s.Revision)
		if len(s.Tools) > 0 {
			l.Text += ": " + strings.Join(s.Tools, ", ")
		}
	}
	l.Text = short(l.Text, maxText)
	return l
}

// Observe takes what happened to a call.
func (f *Feed) Observe(e host.Event) {
	switch e.Kind {
	case host.CallStarted:
		f.begun(e.Call.ID)
		f.put(Update{Lines: []Line{callLine(e)}})
	case host.CallProgress:
		f.put(Update{Lines: []Line{{Kind: Faint, Time: e.Time, Text: "  " + short(e.Call.Tool, 200) + ": " + short(e.Message, 500)}}})
	case host.CallEnded:
		var list []Line
		if !f.ended(e.Call.ID) { // it was refused
			list = append(list, callLine(e))
		}
		f.put(Update{Lines: append(list, endLines(e)...)})
	}
}

func (f *Feed) begun(call string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[call] = true
}

// ended reports whether a call had begun.
func (f *Feed) ended(call string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	began := f.calls[call]
	delete(f.calls, call)
	return began
}

// callLine shows the beginning of a call.
func callLine(e host.Event) Line {
	args := e.Received
	if len(bytes.TrimSpace(args)) == 0 {
		args = []byte("{}")
	}
	text := "call " + short(e.Call.Tool, 200) + " " + short(string(args), 2000)
	if by := e.Call.Agent.Name; by != "" && by != Caller {
		text += " by " + short(by, 100)
	}
	return Line{Kind: Strong, Time: e.Time, Text: text}
}

// Caller is the name of the agent that a screen's own calls have.
const Caller = "dev"

// endLines show the end of a call and what came of it.
func endLines(e host.Event) []Line {
	took := e.Duration.Round(time.Microsecond * 10)
	if e.Duration > 10*time.Millisecond {
		took = e.Duration.Round(time.Millisecond)
	}
	head := Line{Kind: Good, Time: e.Time, Text: fmt.Sprintf("%s answered in %s", short(e.Call.Tool, 200), took)}
	r := e.Result
	if r == nil || r.IsError {
		head.Kind, head.Text = Bad, fmt.Sprintf("%s failed in %s", short(e.Call.Tool, 200), took)
		if e.Failure != host.NoFailure {
			head.Text += fmt.Sprintf(" (%s)", e.Failure)
		}
	}
	list := []Line{head}
	if r == nil {
		if e.Err != nil {
			list = append(list, lines(Bad, "  ", e.Err.Error())...)
		}
		return list
	}
	kind := Plain
	if r.IsError {
		kind = Bad
	}
	for _, c := range r.Content {
		if c.Type() == "text" {
			list = append(list, lines(kind, "  ", c.Text())...)
			continue
		}
		text := c.Type()
		if data, mimeType, ok := c.Data(); ok {
			text = fmt.Sprintf("%s of %d bytes, %s", text, len(data), mimeType)
		}
		list = append(list, Line{Kind: Faint, Text: "  [" + short(text, 200) + "]"})
	}
	if len(r.Content) == 0 && len(r.Structured) > 0 {
		list = append(list, lines(kind, "  ", string(r.Structured))...)
	}
	if len(list) > maxLines*2 {
		list = append(list[:maxLines*2], Line{Kind: Faint, Text: "  … (the rest is left out)"})
	}
	return list
}
