package connect

import (
	"strings"
)

// around is how many lines are shown before and after what changes.
const around = 3

// Diff shows what of a text changes, as lines that begin with -, + or a space. One change
// at one place is all that there is here.
func Diff(before, after string) string {
	a, b := splitLines(before), splitLines(after)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out strings.Builder
	write := func(mark string, lines []string) {
		for _, l := range lines {
			out.WriteString(mark + strings.TrimRight(l, "\r\n") + "\n")
		}
	}
	write("  ", a[max(0, head-around):head])
	write("- ", a[head:len(a)-tail])
	write("+ ", b[head:len(b)-tail])
	write("  ", a[len(a)-tail:min(len(a), len(a)-tail+around)])
	return out.String()
}

func splitLines(text string) []string {
	var lines []string
	for l := range strings.Lines(text) {
		lines = append(lines, l)
	}
	return lines
}
