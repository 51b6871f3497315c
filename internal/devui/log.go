package devui

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
)

// Handler gives a handler for log lines of at least a level, which are shown beside the
// calls that they are of.
func (f *Feed) Handler(level slog.Leveler) slog.Handler { return &handler{feed: f, level: level} }

type handler struct {
	feed  *Feed
	level slog.Leveler
	tool  string // whose call it is about; "" for none
	attrs string // " key=value" each
	group string // "name." each
}

// Enabled reports whether lines of a level are shown.
func (h *handler) Enabled(_ context.Context, level slog.Level) bool { return level >= h.level.Level() }

// known are the messages that say again what a feed was told by events.
func known(message string) bool {
	return slices.Contains([]string{"plugin loaded", "plugin reloaded", "plugin repaired", "plugin failed", "plugin removed", "plugin held", "plugin warning", "tool skipped"}, message)
}

// Handle shows a line.
func (h *handler) Handle(_ context.Context, r slog.Record) error {
	if known(r.Message) {
		return nil
	}
	line := *h
	r.Attrs(func(a slog.Attr) bool { line.add(a); return true })
	kind := Plain
	switch {
	case r.Level >= slog.LevelError:
		kind = Bad
	case r.Level >= slog.LevelWarn:
		kind = Warning
	case r.Level < slog.LevelInfo:
		kind = Faint
	}
	lead := "  "
	if line.tool != "" {
		lead += line.tool + ": "
	}
	at := r.Time
	if at.IsZero() {
		at = time.Now()
	}
	h.feed.put(Update{Lines: []Line{{Kind: kind, Time: at, Text: lead + short(r.Message, 2000) + line.attrs}}})
	return nil
}

// add notes an attribute. The call's id is left out: it tells an author nothing.
func (h *handler) add(a slog.Attr) {
	v := a.Value.Resolve()
	switch {
	case v.Kind() == slog.KindGroup:
		in := *h
		if a.Key != "" {
			in.group += a.Key + "."
		}
		for _, b := range v.Group() {
			in.add(b)
		}
		h.attrs, h.tool = in.attrs, in.tool
	case h.group == "" && a.Key == "tool":
		h.tool = short(v.String(), 200)
	case h.group == "" && a.Key == "call", h.group == "" && a.Key == "plugin" && h.tool != "", a.Equal(slog.Attr{}):
	default:
		text := short(v.String(), 500)
		if text == "" || strings.ContainsAny(text, " =\"") {
			text = fmt.Sprintf("%q", text)
		}
		h.attrs += " " + short(h.group+a.Key, 100) + "=" + text
	}
}

// WithAttrs gives a handler whose lines have attributes.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *h
	for _, a := range attrs {
		if c.group == "" && a.Key == "tool" { // the plugin need not be named beside its tool
			c.tool = short(a.Value.Resolve().String(), 200)
		}
	}
	for _, a := range attrs {
		c.add(a)
	}
	return &c
}

// WithGroup gives a handler whose further attributes are in a group.
func (h *handler) WithGroup(name string) slog.Handler {
	c := *h
	if name != "" {
		c.group += name + "."
	}
	return &c
}
