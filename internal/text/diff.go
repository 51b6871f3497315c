package text

import (
	"fmt"
	"hash/maphash"
	"slices"
	"sort"
	"strings"
)

// around is how many lines are shown before and after a change.
const around = 3

// Diff gives the difference of two texts in the unified format, with three lines around
// each change; "" where there is none. It is an anchored diff: its way is the longest rising
// list of lines that occur once in both, by the algorithm of Szymanski, so that its time is no
// square of the length. Texts may have 2 GiB.
func Diff(from, to, fromName, toName string) string {
	if from == to {
		return ""
	}
	d := &differ{from: splitLines(from), to: splitLines(to)}
	d.number()
	d.out.WriteString("--- " + fromName + "\n+++ " + toName + "\n")
	d.write(d.anchors())
	return d.out.String()
}

// splitText is a text and where its lines begin; the last entry is its end.
type splitText struct {
	text   string
	starts []int32
}

func splitLines(s string) splitText {
	t := splitText{s, make([]int32, 1, strings.Count(s, "\n")+2)}
	for at := 0; at < len(s); {
		if n := strings.IndexByte(s[at:], '\n'); n >= 0 {
			at += n + 1
		} else {
			at = len(s)
		}
		t.starts = append(t.starts, int32(at))
	}
	return t
}

func (t splitText) len() int32 { return int32(len(t.starts) - 1) }

// line gives a line with its end. The last one may have none, and is not the same as one that has.
func (t splitText) line(i int32) string { return t.text[t.starts[i]:t.starts[i+1]] }

// differ compares two texts. Lines that are the same have the same number.
type differ struct {
	from, to       splitText
	fromIDs, toIDs []int32
	first          []int32 // by number: a line of from, or of to counted from the end of from, that has it
	out            strings.Builder
}

// number gives each line its number. Lines are looked up in a table by a hash that nobody can
// foresee; a line of to that follows where the one before it was found is compared only.
func (d *differ) number() {
	n, m := d.from.len(), d.to.len()
	size := 1024
	for size < 2*int(n+m) {
		size *= 2
	}
	seed, slots, hashes := maphash.MakeSeed(), make([]int32, size), []uint32{}
	line := func(i int32) string {
		if i < n {
			return d.from.line(i)
		}
		return d.to.line(i - n)
	}
	find := func(i int32) int32 {
		s := line(i)
		h := maphash.String(seed, s)
		for slot := int(h) & (size - 1); ; slot = (slot + 1) & (size - 1) {
			id := slots[slot] - 1
			if id < 0 {
				slots[slot] = int32(len(d.first)) + 1
				d.first, hashes = append(d.first, i), append(hashes, uint32(h>>32))
				return slots[slot] - 1
			}
			if hashes[id] == uint32(h>>32) && line(d.first[id]) == s {
				return id
			}
		}
	}
	d.fromIDs, d.toIDs = make([]int32, n), make([]int32, m)
	for i := range n {
		d.fromIDs[i] = find(i)
	}
	next := int32(0)
	for i := range m {
		if next < n && d.from.line(next) == d.to.line(i) {
			d.toIDs[i] = d.fromIDs[next]
		} else {
			d.toIDs[i] = find(n + i)
			next = d.first[d.toIDs[i]]
		}
		next++
	}
}

// pair is a line of from and the line of to that it matches.
type pair struct{ x, y int32 }

// anchors gives the longest list of pairs, rising in both texts, of lines that occur once in each,
// and the ends of the texts as its last.
func (d *differ) anchors() []pair {
	const many = -2
	inFrom, inTo := make([]int32, len(d.first)), make([]int32, len(d.first)) // by number: the line, many, or -1
	for i := range inFrom {
		inFrom[i], inTo[i] = -1, -1
	}
	note := func(places []int32, ids []int32) {
		for i, id := range ids {
			if places[id] == -1 {
				places[id] = int32(i)
			} else {
				places[id] = many
			}
		}
	}
	note(inFrom, d.fromIDs)
	note(inTo, d.toIDs)
	var unique []pair
	for i, id := range d.fromIDs {
		if inFrom[id] >= 0 && inTo[id] >= 0 {
			unique = append(unique, pair{int32(i), inTo[id]})
		}
	}
	// length is, for each pair, that of the longest rising list which ends with it; ends has, for
	// each length, the lowest line with which such a list ends.
	length, ends := make([]int32, len(unique)), []int32{}
	for i, p := range unique {
		k := len(ends)
		if k > 0 && p.y < ends[k-1] {
			k = sort.Search(k, func(k int) bool { return ends[k] >= p.y })
		}
		if k == len(ends) {
			ends = append(ends, p.y)
		} else {
			ends[k] = p.y
		}
		length[i] = int32(k) + 1
	}
	found := []pair{{d.from.len(), d.to.len()}}
	k, below := int32(len(ends)), d.to.len()
	for i := len(unique) - 1; i >= 0; i-- {
		if length[i] == k && unique[i].y < below {
			found = append(found, unique[i])
			below = unique[i].y
			k--
		}
	}
	slices.Reverse(found)
	return found
}

// hunk is a part of the difference: lines that changed, with some around them.
type hunk struct {
	start  pair   // its first lines
	count  pair   // of its lines in each text
	pieces []span // in their order
}

// span is a run of lines behind the same mark: of to behind '+', else of from.
type span struct {
	mark     byte
	from, to int32
}

func (h *hunk) add(mark byte, from, to int32) {
	if from == to {
		return
	}
	h.pieces = append(h.pieces, span{mark, from, to})
	if mark != '+' {
		h.count.x += to - from
	}
	if mark != '-' {
		h.count.y += to - from
	}
}

// write writes what is between matches, each of which it widens as far as lines are the same.
func (d *differ) write(matches []pair) {
	var done pair // up to here, all is in the hunks
	var h hunk
	n, m := d.from.len(), d.to.len()
	for _, match := range append([]pair{{0, 0}}, matches...) {
		if match.x < done.x {
			continue // within what an earlier match was widened to
		}
		start, end := match, match
		for start.x > done.x && start.y > done.y && d.fromIDs[start.x-1] == d.toIDs[start.y-1] {
			start.x--
			start.y--
		}
		for end.x < n && end.y < m && d.fromIDs[end.x] == d.toIDs[end.y] {
			end.x++
			end.y++
		}
		h.add('-', done.x, start.x)
		h.add('+', done.y, start.y)
		same, last := end.x-start.x, end.x == n && end.y == m
		if !last && (same < around || len(h.pieces) > 0 && same < 2*around) {
			h.add(' ', start.x, end.x) // too few to end a hunk
			done = end
			continue
		}
		if len(h.pieces) > 0 {
			h.add(' ', start.x, start.x+min(same, around))
			d.writeHunk(&h)
		}
		if last {
			return
		}
		h.start, h.count, h.pieces = pair{end.x - around, end.y - around}, pair{}, h.pieces[:0]
		h.add(' ', h.start.x, end.x)
		done = end
	}
}

func (d *differ) writeHunk(h *hunk) {
	start := h.start
	if h.count.x > 0 { // lines count from 1, unless there is none
		start.x++
	}
	if h.count.y > 0 {
		start.y++
	}
	fmt.Fprintf(&d.out, "@@ -%d,%d +%d,%d @@\n", start.x, h.count.x, start.y, h.count.y)
	for _, p := range h.pieces {
		t := d.from
		if p.mark == '+' {
			t = d.to
		}
		for i := p.from; i < p.to; i++ {
			line := t.line(i)
			d.out.WriteByte(p.mark)
			d.out.WriteString(line)
			if line[len(line)-1] != '\n' {
				d.out.WriteString("\n\\ No newline at end of file\n")
			}
		}
	}
}
