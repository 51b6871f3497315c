package foldertools

import (
	"fmt"
	"strings"
)

// change is one stretch of a text that was replaced: bytes of the old text, and the
// bytes of the new one that stand there instead.
type change struct{ oldFrom, oldTo, newFrom, newTo int }

// compose joins the changes from one text to a second with those from the second to a
// third. Both are in order and do not overlap, and so is what it gives. Since it is known
// what an edit replaces, a diff needs no search for common lines, which would cost the
// product of two hostile texts.
func compose(a, b []change) []change {
	var all []change
	grownA, grownB := 0, 0 // by how much the texts have grown so far
	for len(a) > 0 || len(b) > 0 {
		// A group of changes that touch, in places of the second text.
		var from, to int
		if len(b) == 0 || len(a) > 0 && a[0].newFrom <= b[0].oldFrom {
			from, to = a[0].newFrom, a[0].newTo
		} else {
			from, to = b[0].oldFrom, b[0].oldTo
		}
		c := change{oldFrom: from - grownA, newFrom: from + grownB}
		for {
			if len(a) > 0 && a[0].newFrom <= to {
				to = max(to, a[0].newTo)
				grownA += (a[0].newTo - a[0].newFrom) - (a[0].oldTo - a[0].oldFrom)
				a = a[1:]
			} else if len(b) > 0 && b[0].oldFrom <= to {
				to = max(to, b[0].oldTo)
				grownB += (b[0].newTo - b[0].newFrom) - (b[0].oldTo - b[0].oldFrom)
				b = b[1:]
			} else {
				break
			}
		}
		c.oldTo, c.newTo = to-grownA, to+grownB
		all = append(all, c)
	}
	return all
}

// wholeLines widens changes to whole lines and joins those that meet.
func wholeLines(before, after string, changes []change) []change {
	var all []change
	for _, c := range changes {
		back := c.oldFrom - (strings.LastIndexByte(before[:c.oldFrom], '\n') + 1)
		c.oldFrom, c.newFrom = c.oldFrom-back, c.newFrom-back
		if !lineStart(before, c.oldTo) || !lineStart(after, c.newTo) {
			ahead := strings.IndexByte(before[c.oldTo:], '\n') + 1
			if ahead == 0 {
				ahead = len(before) - c.oldTo
			}
			c.oldTo, c.newTo = c.oldTo+ahead, c.newTo+ahead
		}
		if n := len(all); n > 0 && c.oldFrom < all[n-1].oldTo {
			all[n-1].oldTo, all[n-1].newTo = max(all[n-1].oldTo, c.oldTo), c.newTo
			continue
		}
		all = append(all, c)
	}
	return all
}

func lineStart(text string, at int) bool { return at == 0 || at == len(text) || text[at-1] == '\n' }

// block is a run of lines that differs, as indexes of lines.
type block struct {
	oldFrom, newFrom int
	old, new         []string
}

// blocks gives the lines that differ, without those that are the same at both ends.
func blocks(before, after string, changes []change) []block {
	var all []block
	line, shift, at := 0, 0, 0
	for _, c := range wholeLines(before, after, changes) {
		line += strings.Count(before[at:c.oldFrom], "\n")
		at = c.oldFrom
		b := block{oldFrom: line, newFrom: line + shift, old: linesOf(before[c.oldFrom:c.oldTo]), new: linesOf(after[c.newFrom:c.newTo])}
		shift += len(b.new) - len(b.old)
		for len(b.old) > 0 && len(b.new) > 0 && b.old[0] == b.new[0] {
			b.old, b.new, b.oldFrom, b.newFrom = b.old[1:], b.new[1:], b.oldFrom+1, b.newFrom+1
		}
		for len(b.old) > 0 && len(b.new) > 0 && b.old[len(b.old)-1] == b.new[len(b.new)-1] {
			b.old, b.new = b.old[:len(b.old)-1], b.new[:len(b.new)-1]
		}
		if len(b.old)+len(b.new) > 0 {
			all = append(all, b)
		}
	}
	return all
}

// linesOf gives the lines with their ends.
func linesOf(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if last := len(lines) - 1; lines[last] == "" {
		lines = lines[:last]
	}
	return lines
}

// diffContext is how many unchanged lines stand around a change.
const diffContext = 3

// unifiedDiff writes the changes from before to after as a unified diff, "" where there
// are none. It stops at maxDiff, and says so.
func unifiedDiff(name, before, after string, changes []change) string {
	all := blocks(before, after, changes)
	if len(all) == 0 {
		return ""
	}
	lines := linesOf(before)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", name, name)
	for i := 0; i < len(all); {
		if out.Len() > maxDiff {
			out.WriteString(fmt.Sprintf("[%s not shown, since the diff is too long]\n", count(len(all)-i, "more change")))
			break
		}
		j := i + 1
		for j < len(all) && all[j].oldFrom-(all[j-1].oldFrom+len(all[j-1].old)) <= 2*diffContext {
			j++
		}
		writeHunk(&out, lines, all[i:j])
		i = j
	}
	text, _ := cleanText([]byte(strings.TrimSuffix(out.String(), "\n")))
	if len(text) > 2*maxDiff {
		return cutText(text, 2*maxDiff) + "\n[the rest of the diff is not shown, since it is too long]"
	}
	return text
}

// writeHunk writes neighbouring blocks with the lines around them.
func writeHunk(out *strings.Builder, lines []string, hunk []block) {
	first, last := hunk[0], hunk[len(hunk)-1]
	from := max(0, first.oldFrom-diffContext)
	to := min(len(lines), last.oldFrom+len(last.old)+diffContext)
	grown := 0
	for _, b := range hunk {
		grown += len(b.new) - len(b.old)
	}
	newFrom := first.newFrom - (first.oldFrom - from)
	fmt.Fprintf(out, "@@ -%s +%s @@\n", span(from, to-from), span(newFrom, to-from+grown))
	at := from
	for _, b := range hunk {
		writeLines(out, ' ', lines[at:b.oldFrom])
		writeLines(out, '-', b.old)
		writeLines(out, '+', b.new)
		at = b.oldFrom + len(b.old)
	}
	writeLines(out, ' ', lines[at:to])
}

// span writes a range of lines as diff does: counted from 1, or the line before where it is empty.
func span(from, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(from + 1)
	}
	return fmt.Sprintf("%d,%d", from+1, n)
}

func writeLines(out *strings.Builder, mark byte, lines []string) {
	for _, l := range lines {
		if out.Len() > 2*maxDiff {
			return // unifiedDiff cuts the text here and says so
		}
		out.WriteByte(mark)
		out.WriteString(l)
		if !strings.HasSuffix(l, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}
