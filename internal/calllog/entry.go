package calllog

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/internal/state"
	"github.com/toolhost/toolhost/permissions"
)

// What is kept of one call at most.
const (
	maxArguments     = 64 << 10 // bytes of the arguments as JSON, and of the checked ones
	maxResult        = 64 << 10 // bytes of the texts of the result, and of its structured content
	maxError         = 4 << 10
	maxName          = 300
	maxProgress      = 100 // lines
	maxProgressBytes = 400 // of a line
	// cutProgress is how long a line is at least, in bytes, that the host has cut.
	cutProgress = 200
	// maxParsed is how large arguments may be to be looked at, in bytes.
	maxParsed = 1 << 20
)

// Entry is a call as the log has it. Secrets are taken out.
type Entry struct {
	ID         string    `json:"id"`
	Time       time.Time `json:"time"` // when it ended
	Tool       string    `json:"tool"`
	Command    bool      `json:"command,omitempty"` // the tool is a command
	Plugin     string    `json:"plugin"`
	Version    string    `json:"version,omitempty"` // of the plugin
	Runtime    string    `json:"runtime,omitempty"`
	Agent      string    `json:"agent,omitempty"`
	Session    string    `json:"session,omitempty"` // the agent's ID
	Folder     string    `json:"folder,omitempty"`
	DurationMS float64   `json:"ms"`
	Failure    string    `json:"failure,omitempty"` // the kind of failure
	Error      string    `json:"error,omitempty"`

	// Arguments are those that came; absent where only ArgumentsText is kept, or nothing.
	Arguments     json.RawMessage `json:"arguments,omitempty"`
	ArgumentsText string          `json:"argumentsText,omitempty"` // the beginning of arguments that are too long or no JSON
	// Checked are the arguments as the handler got them, where they differ.
	Checked       json.RawMessage `json:"checked,omitempty"`
	ArgumentBytes int             `json:"argumentBytes"`
	// Redacted says that a secret was taken out of the arguments.
	Redacted bool `json:"redacted,omitempty"`

	Result      *Result `json:"result,omitempty"`
	ResultBytes int     `json:"resultBytes"`

	Progress     []string `json:"progress,omitempty"`
	MoreProgress int      `json:"moreProgress,omitempty"` // how many lines were left out

	Read        []string `json:"read,omitempty"` // files, below the agent's folder
	Written     []string `json:"written,omitempty"`
	Fetched     []string `json:"fetched,omitempty"`
	Connected   []string `json:"connected,omitempty"`
	Env         []string `json:"env,omitempty"`
	Denied      []Denial `json:"denied,omitempty"`
	MoreTouched int      `json:"moreTouched,omitempty"`

	n int64
}

// Denial is one access that was refused.
type Denial struct {
	Op     string `json:"op"`
	Target string `json:"target"`
	Rule   string `json:"rule,omitempty"` // the line of the manifest that would allow it
	Reason string `json:"reason,omitempty"`
}

// Result is a result as the log has it.
type Result struct {
	Content    []Block         `json:"content"`
	IsError    bool            `json:"isError,omitempty"`
	Structured json.RawMessage `json:"structured,omitempty"`
	Cut        bool            `json:"cut,omitempty"` // it was longer
}

// Block is a block of a result. Of images and other data only a digest is kept.
type Block struct {
	Type   string `json:"type"`
	Text   string `json:"text,omitempty"`
	Bytes  int    `json:"bytes,omitempty"` // of what is not kept, as JSON
	SHA256 string `json:"sha256,omitempty"`
}

// newEntry makes what is kept of a call.
func newEntry(r *record, redactor *Redactor, m *marks) *Entry {
	call, event := r.event.Call, &r.event
	e := &Entry{ArgumentBytes: len(event.Received)}
	// What was taken out of the arguments goes from the other texts of the call too.
	redactor = redactor.with(e.arguments(event.Received, call.Args, redactor, m))
	short := func(s string) string { text, _ := redactor.bounded(s, maxName); return text }
	e.ID, e.Time, e.Tool, e.Plugin = call.ID, event.Time, short(call.Tool), call.Plugin
	e.Agent, e.Session, e.Folder = short(call.Agent.Name), short(call.Agent.ID), call.Folder
	e.DurationMS, e.Failure = float64(event.Duration.Microseconds())/1000, string(event.Failure)
	e.Result = NewResult(event.Result, redactor)
	if event.Tool != nil {
		e.Tool, e.Version, e.Runtime, e.Command = event.Tool.Name, event.Tool.Version, event.Tool.Runtime, event.Tool.Command
	}
	if event.Err != nil {
		e.Error, _ = redactor.bounded(event.Err.Error(), maxError)
	}
	if event.Result != nil {
		e.ResultBytes = event.Result.Size()
	}
	if r.bare {
		e.ArgumentsText = "[not kept: too much was waiting to be recorded]"
	}
	if r.progress != nil {
		for _, line := range r.progress.lines {
			text := redactor.Text(line)
			if len(line) >= cutProgress { // the host has cut it, perhaps in the middle of a secret
				text = redactor.end(text)
			}
			e.Progress = append(e.Progress, text)
		}
		e.MoreProgress = r.progress.more
	}
	e.touched(event.Touched, redactor)
	return e
}

// arguments keeps what came and what the handler got of it, and gives the secrets that it took
// out by their keys.
func (e *Entry) arguments(received, checked json.RawMessage, redactor *Redactor, m *marks) (hidden []string) {
	received = bytes.TrimSpace(received)
	if len(received) == 0 {
		received = json.RawMessage("{}")
	}
	if len(received) > maxParsed {
		e.ArgumentsText = fmt.Sprintf("[not kept: %d bytes]", len(received))
		return nil
	}
	text, hidden, redacted, ok := redactor.rewrite(received, m)
	e.Redacted = redacted
	switch {
	case !ok:
		e.ArgumentsText, _ = redactor.bounded(string(received), maxArguments)
		return nil
	case len(text) > maxArguments:
		e.ArgumentsText = cut(string(text), maxArguments)
		return hidden
	}
	e.Arguments = text
	if len(checked) > maxParsed || bytes.Equal(checked, received) {
		return hidden
	}
	if text, _, ok := redactor.JSON(checked, m); ok && len(text) <= maxArguments && !bytes.Equal(text, e.Arguments) {
		e.Checked = text
	}
	return hidden
}

func (e *Entry) touched(t *permissions.Touched, redactor *Redactor) {
	if t == nil {
		return
	}
	clean := func(names []string) (out []string) {
		for _, name := range names {
			out = append(out, redactor.Text(name))
		}
		return out
	}
	e.Read, e.Written, e.Fetched, e.Connected, e.Env = clean(t.Read), clean(t.Written), clean(t.Fetched), clean(t.Connected), clean(t.Env)
	for _, d := range t.Denied {
		e.Denied = append(e.Denied, Denial{d.Op, redactor.Text(d.Target), redactor.Text(d.Rule), redactor.Text(d.Reason)})
	}
	e.MoreTouched = t.More
}

// NewResult makes what is kept of a result; nil of nil.
func NewResult(r *host.Result, redactor *Redactor) *Result {
	if r == nil {
		return nil
	}
	out := &Result{IsError: r.IsError, Content: []Block{}}
	left := maxResult
	for _, c := range r.Content {
		if c.Type() == "text" {
			text, isCut := redactor.bounded(c.Text(), left)
			left -= len(text)
			out.Cut = out.Cut || isCut
			out.Content = append(out.Content, Block{Type: "text", Text: text})
			continue
		}
		raw, _ := c.MarshalJSON() // the block's own text, never an error
		sum := sha256.Sum256(raw)
		out.Content = append(out.Content, Block{Type: c.Type(), Bytes: len(raw), SHA256: hex.EncodeToString(sum[:8])})
	}
	value := r.Structured
	if value == nil {
		value = r.Value // of a command
	}
	if len(value) == 0 {
		return out
	}
	if len(value) <= maxParsed {
		if text, _, ok := redactor.JSON(value, nil); ok && len(text) <= maxResult {
			out.Structured = text
			return out
		}
	}
	out.Cut = true
	return out
}

// Text gives a result as lines of text, to be compared with another one.
func (r *Result) Text() string {
	if r == nil {
		return "(no result: the call was refused or cancelled)\n"
	}
	var b strings.Builder
	if r.IsError {
		b.WriteString("(failed)\n")
	}
	for _, c := range r.Content {
		if c.Type == "text" {
			b.WriteString(c.Text)
		} else {
			fmt.Fprintf(&b, "(%s, %d bytes, sha256 %s…)", c.Type, c.Bytes, c.SHA256)
		}
		if !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
	}
	if r.Structured != nil {
		var text bytes.Buffer
		if json.Indent(&text, r.Structured, "", "  ") == nil {
			fmt.Fprintf(&b, "(structured)\n%s\n", text.Bytes())
		}
	}
	return b.String()
}

// Replayable says why the call cannot be made again with the same arguments; nil where it can.
func (e *Entry) Replayable() error {
	switch {
	case e.Redacted:
		return errors.New("a secret was taken out of its arguments before they were written down")
	case e.Arguments == nil && e.ArgumentBytes > maxArguments:
		return fmt.Errorf("its arguments were too long to be kept whole (%d bytes)", e.ArgumentBytes)
	case e.Arguments == nil:
		return errors.New("its arguments were not kept")
	}
	return nil
}

// row gives the entry as a row of the database.
func (e *Entry) row(t *permissions.Touched) *state.Call {
	fields := *e
	fields.ID, fields.Tool, fields.Plugin, fields.Failure = "", "", "", "" // columns of their own
	row := &state.Call{
		ID: e.ID, At: e.Time, Tool: e.Tool, Plugin: e.Plugin, Failure: e.Failure,
		Duration: time.Duration(e.DurationMS * float64(time.Millisecond)), Fields: jsondoc.Marshal(fields),
	}
	if t != nil {
		row.Used = t.Used
	}
	return row
}

// FromRow gives the entry of a row of the database.
func FromRow(row *state.Call) (*Entry, error) {
	e := &Entry{}
	if err := json.Unmarshal(row.Fields, e); err != nil {
		return nil, fmt.Errorf("reading the call %q: %w", row.ID, err)
	}
	e.ID, e.Time, e.Tool, e.Plugin, e.Failure, e.n = row.ID, row.At, row.Tool, row.Plugin, row.Failure, row.N
	return e, nil
}

// N gives the place of an entry in the log.
func (e *Entry) N() int64 { return e.n }

// validEnd reports whether a text ends with a whole character.
func validEnd(s string) bool {
	r, size := utf8.DecodeLastRuneInString(s)
	return r != utf8.RuneError || size > 1
}
