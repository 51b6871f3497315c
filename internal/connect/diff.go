package connect

import (
	"strings"
)

// around is how many lines are shown before and after what changes.
const around = 3

// maxCompared bounds the work of telling which lines stay between those that change: the
// product of their numbers.
const maxCompared = 1 << 20

// Diff shows what of a text changes, as lines that begin with -, + or a space. What changes
// is at one place, perhaps with lines between that stay.
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
	changed(a[head:len(a)-tail], b[head:len(b)-tail], write)
	write("  ", a[len(a)-tail:min(len(a), len(a)-tail+around)])
	return out.String()
}

// changed writes the lines of a that go, those of b that come, and those that both have.
func changed(a, b []string, write func(mark string, lines []string)) {
	if len(a)*len(b) > maxCompared {
		write("- ", a)
		write("+ ", b)
		return
	}
	// common[i][j] is how many lines a[i:] and b[j:] have in common, in order.
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		fromA, fromB := i, j
		for (i < len(a) || j < len(b)) && !(i < len(a) && j < len(b) && a[i] == b[j]) {
			if j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1] {
				i++
			} else {
				j++
			}
		}
		write("- ", a[fromA:i])
		write("+ ", b[fromB:j])
		for i < len(a) && j < len(b) && a[i] == b[j] {
			write("  ", a[i:i+1])
			i++
			j++
		}
	}
}

func splitLines(text string) []string {
	var lines []string
	for l := range strings.Lines(text) {
		lines = append(lines, l)
	}
	return lines
}
