package foldertools

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// applyAll makes edits in order and gives the text and the composed changes.
func applyAll(t *testing.T, text string, edits []replacement) (string, []change) {
	t.Helper()
	var all []change
	for _, e := range edits {
		next, changes, err := e.apply(text)
		if err != nil {
			continue // the edits are random; those that do not apply change nothing
		}
		text, all = next, compose(all, changes)
	}
	return text, all
}

// rebuild makes the new text from the old one and the changes: what lies between
// changes must be the same in both.
func rebuild(before, after string, changes []change) string {
	var b strings.Builder
	at := 0
	for _, c := range changes {
		b.WriteString(before[at:c.oldFrom] + after[c.newFrom:c.newTo])
		at = c.oldTo
	}
	return b.String() + before[at:]
}

func TestChangesRebuildTheText(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(n int) string {
		var b strings.Builder
		for range r.IntN(n + 1) {
			b.WriteByte("ab\n"[r.IntN(3)])
		}
		return b.String()
	}
	for range 5000 {
		before := random(40)
		var edits []replacement
		for range 1 + r.IntN(4) {
			edits = append(edits, replacement{OldText: random(2) + "a", NewText: random(3), ReplaceAll: r.IntN(2) == 0})
		}
		after, changes := applyAll(t, before, edits)
		if got := rebuild(before, after, changes); got != after {
			t.Fatalf("%q with %+v gives %q, its changes give %q", before, edits, after, got)
		}
		if got := rebuild(before, after, wholeLines(before, after, changes)); got != after {
			t.Fatalf("%q with %+v gives %q, its changed lines give %q", before, edits, after, got)
		}
		if diff := unifiedDiff("f", before, after, changes); (diff == "") != (before == after) {
			t.Fatalf("%q to %q has the diff %q", before, after, diff)
		}
	}
}

// patch applies a unified diff as strictly as patch(1) does without fuzz.
func patch(t *testing.T, before, diff string) string {
	t.Helper()
	lines, shift := linesOf(before), 0
	var out []string
	at := 0 // the next line of before
	rows := linesOf(diff + "\n")[2:]
	for len(rows) > 0 {
		var oldFrom, oldCount, newFrom, newCount int
		old, next, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(rows[0], "@@ -"), " @@\n"), " +")
		for _, r := range []struct {
			text        string
			from, count *int
		}{{old, &oldFrom, &oldCount}, {next, &newFrom, &newCount}} {
			if n, _ := fmt.Sscanf(r.text, "%d,%d", r.from, r.count); n == 1 {
				*r.count = 1
			}
			if *r.count > 0 {
				*r.from--
			}
		}
		if newFrom != oldFrom+shift {
			t.Fatalf("hunk %q starts at the wrong line of the new text", rows[0])
		}
		out = append(out, lines[at:oldFrom]...)
		at = oldFrom
		kept, added := 0, 0
		for rows = rows[1:]; len(rows) > 0 && rows[0][0] != '@'; rows = rows[1:] {
			row := rows[0][1:]
			if len(rows) > 1 && rows[1][0] == '\\' {
				row = strings.TrimSuffix(row, "\n")
			}
			switch mark := rows[0][0]; mark {
			case '\\':
				continue
			case '+':
				out, added = append(out, row), added+1
			default:
				if lines[at] != row {
					t.Fatalf("the diff has %q where the text has %q", row, lines[at])
				}
				if at++; mark == ' ' {
					out, kept = append(out, row), kept+1
				}
			}
		}
		if at != oldFrom+oldCount || kept+added != newCount {
			t.Fatalf("the hunk has other counts than its header:\n%s", diff)
		}
		shift += newCount - oldCount
	}
	return strings.Join(append(out, lines[at:]...), "")
}

func TestDiffApplies(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		var b strings.Builder
		for range 1 + r.IntN(60) {
			b.WriteString(string("abcdefgh"[r.IntN(8)]) + strings.Repeat("\n", r.IntN(3)))
		}
		before := b.String()
		var edits []replacement
		for range 1 + r.IntN(5) {
			edits = append(edits, replacement{OldText: string("abcdefgh"[r.IntN(8)]) + strings.Repeat("\n", r.IntN(2)), NewText: strings.Repeat("x\n", r.IntN(3)), ReplaceAll: true})
		}
		after, changes := applyAll(t, before, edits)
		if after == before {
			continue
		}
		diff := unifiedDiff("f", before, after, changes)
		if got := patch(t, before, diff); got != after {
			t.Fatalf("patching %q gives %q, want %q:\n%s", before, got, after, diff)
		}
	}
}

func TestUnifiedDiff(t *testing.T) {
	long := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n"
	for _, c := range []struct {
		name, before string
		edits        []replacement
		want         string
	}{
		{"one word", "a b c\n", []replacement{{"b", "x", false}}, "@@ -1 +1 @@\n-a b c\n+a x c"},
		{"no line end", "a\nb", []replacement{{"b", "x", false}}, "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+x\n\\ No newline at end of file"},
		{"line joined", "a\nb\nc\n", []replacement{{"a\n", "a ", false}}, "@@ -1,3 +1,2 @@\n-a\n-b\n+a b\n c"},
		{"all removed", "a\n", []replacement{{"a\n", "", false}}, "@@ -1 +0,0 @@\n-a"},
		{"two hunks", long, []replacement{{"18\n", "", false}, {"2\n3", "2\nnew\n3", false}},
			"@@ -1,5 +1,6 @@\n 1\n 2\n+new\n 3\n 4\n 5\n@@ -15,6 +16,5 @@\n 15\n 16\n 17\n-18\n 19\n 20"},
		{"neighbours join", long, []replacement{{"5\n6", "5\nx\n6", false}, {"8\n9\n", "8\n", false}},
			"@@ -3,10 +3,10 @@\n 3\n 4\n 5\n+x\n 6\n 7\n 8\n-9\n 10\n 11\n 12"},
		{"edit of an edit", "a\n", []replacement{{"a", "b", false}, {"b", "c", false}}, "@@ -1 +1 @@\n-a\n+c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			after, changes := applyAll(t, c.before, c.edits)
			want := "--- f\n+++ f\n" + c.want
			if got := unifiedDiff("f", c.before, after, changes); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// FuzzEdit makes two edits and applies the diff that it answers with: the result must be
// the edited text, and CRLF files must stay CRLF files.
func FuzzEdit(f *testing.F) {
	f.Add("a\nb\nc\n", "b", "x\ny", "x\ny\nc", "", false)
	f.Add("a\r\nb\r\n", "a\nb", "1\n2\n3", "3", "4", true)
	f.Add("aaa", "a", "b", "bb", "a", true)
	f.Fuzz(func(t *testing.T, before, old1, new1, old2, new2 string, all bool) {
		if old1 == "" || old2 == "" || len(before)+len(new1)+len(new2) > 10_000 {
			return
		}
		after, changes := before, []change(nil)
		for _, e := range []replacement{{old1, new1, all}, {old2, new2, !all}} {
			next, made, err := e.apply(after)
			if err != nil {
				continue
			}
			after, changes = next, compose(changes, made)
		}
		if got := rebuild(before, after, changes); got != after {
			t.Fatalf("the changes give %q, want %q", got, after)
		}
		onlyCRLF := func(s string) bool { return strings.Count(s, "\n") == strings.Count(s, "\r\n") }
		if strings.Contains(before, "\r\n") && onlyCRLF(before) && !onlyCRLF(after) && strings.Contains(after, "\r\n") && !strings.ContainsAny(old1+old2, "\r\n") {
			t.Fatalf("%q became %q, with mixed line ends", before, after)
		}
		diff := unifiedDiff("f", before, after, changes)
		if diff == "" || len(diff) > maxDiff || strings.ContainsAny(before+after, "\x00\ufffd") || !utf8.ValidString(before+after) {
			if before == after != (diff == "") {
				t.Fatalf("%q to %q has the diff %q", before, after, diff)
			}
			return
		}
		if got := patch(t, before, diff); got != after {
			t.Fatalf("patching %q gives %q, want %q:\n%s", before, got, after, diff)
		}
	})
}
