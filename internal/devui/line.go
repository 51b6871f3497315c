package devui

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolhost/toolhost/internal/clean"
)

// Kind says what a line is, and with it how it looks.
type Kind int

// The kinds of lines.
const (
	Plain Kind = iota
	Faint
	Strong
	Good
	Warning
	Bad
)

// Line is a line to be shown: it has no character that would drive a terminal.
type Line struct {
	Kind Kind
	Time time.Time // zero in lines that go on with the one before
	Text string
	Code bool // source, and marks below it, which are cut at the edge and not wrapped
}

const (
	// maxText and maxLines are how much of one text is shown.
	maxText  = 8 << 10
	maxLines = 40
)

// lines makes lines of a text that others wrote, each after the same indent.
func lines(kind Kind, indent, text string) []Line {
	text, cutAt := cut(text, maxText)
	var list []Line
	for l := range strings.Lines(text) {
		if len(list) == maxLines {
			cutAt = true
			break
		}
		list = append(list, Line{Kind: kind, Text: indent + oneLine(strings.TrimRight(l, "\r\n"))})
	}
	if cutAt {
		list = append(list, Line{Kind: Faint, Text: indent + "… (the rest is left out)"})
	}
	return list
}

// oneLine gives what can stand in a line; tabs become spaces.
func oneLine(s string) string {
	return clean.Line(strings.ReplaceAll(s, "\t", "    "))
}

// short gives the beginning of a text, as a part of a line.
func short(s string, most int) string {
	s, more := cut(s, most)
	if s = oneLine(strings.TrimSpace(s)); more {
		s += "…"
	}
	return s
}

// cut gives at most so many bytes of a text, in whole characters.
func cut(s string, most int) (string, bool) {
	if len(s) <= most {
		return s, false
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most], true
}
