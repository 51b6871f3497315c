package text_test

import (
	"bytes"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/toolhost/toolhost/internal/text"
)

// patch applies a difference to a text.
func patch(t *testing.T, from, difference string) string {
	t.Helper()
	if difference == "" {
		return from
	}
	lines := strings.SplitAfter(from, "\n")
	var out strings.Builder
	at, last := 0, ""
	for i, line := range strings.SplitAfter(difference, "\n") {
		var start, n, other, m int
		switch {
		case i < 2 || line == "":
		case strings.HasPrefix(line, "@@"):
			if _, err := fmt.Sscanf(line, "@@ -%d,%d +%d,%d @@", &start, &n, &other, &m); err != nil {
				t.Fatal(line, err)
			}
			if n > 0 {
				start--
			}
			for ; at < start; at++ {
				out.WriteString(lines[at])
			}
		case line[0] == '\\':
			if last == "-" {
				continue
			}
			s := strings.TrimSuffix(out.String(), "\n")
			out.Reset()
			out.WriteString(s)
		default:
			if last = line[:1]; last != "+" {
				if strings.TrimSuffix(lines[at], "\n") != strings.TrimSuffix(line[1:], "\n") {
					t.Fatalf("line %d is %q, not %q", at+1, lines[at], line[1:])
				}
				at++
			}
			if last != "-" {
				out.WriteString(line[1:])
			}
		}
	}
	return out.String() + strings.Join(lines[at:], "")
}

// checkDiff compares a difference with that of the package which this one took the place of, and
// applies it.
func checkDiff(t *testing.T, from, to string) {
	t.Helper()
	got := text.Diff(from, to, "a", "b")
	_, want, _ := bytes.Cut(diff.Diff("a", []byte(from), "b", []byte(to)), []byte("\n"))
	if got != string(want) {
		t.Fatalf("%.300q to %.300q:\n got %.500q\nwant %.500q", from, to, got, want)
	}
	if made := patch(t, from, got); made != to {
		t.Fatalf("%.300q with %.300q became %.300q, not %.300q", from, got, made, to)
	}
}

func TestDiffs(t *testing.T) {
	for _, tt := range [][2]string{
		{"", "a"}, {"a", ""}, {"a", "a\n"}, {"a\n", "a"}, {"\n", ""}, {"", "\n\n"}, {"a\na\na\n", "a\na\n"}, {"a\nb\nc", "c\nb\na"},
		{"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nx\n6\n7\n8\n9\n"}, {"b\n\nb\n", "b\nb\n\n"},
	} {
		checkDiff(t, tt[0], tt[1])
	}
	r := rand.New(rand.NewSource(1))
	for range 2000 {
		words := 1 + r.Intn(40)
		var from, to []string
		for range r.Intn(60) {
			line := fmt.Sprint(r.Intn(words))
			if r.Intn(8) != 0 {
				from = append(from, line)
			}
			if r.Intn(8) == 0 {
				line = fmt.Sprint(r.Intn(words))
			}
			if r.Intn(8) != 0 {
				to = append(to, line)
			}
		}
		end := []string{"", "\n"}
		checkDiff(t, strings.Join(from, "\n")+end[r.Intn(2)], strings.Join(to, "\n")+end[r.Intn(2)])
	}
}

// FuzzDiff: a difference applied to the one text gives the other.
func FuzzDiff(f *testing.F) {
	f.Add("a\nb\nc", "a\nc\n")
	f.Add("", "\n")
	f.Fuzz(func(t *testing.T, from, to string) { checkDiff(t, from, to) })
}

// BenchmarkDiff compares texts that are much the same, and texts that have nothing in common.
func BenchmarkDiff(b *testing.B) {
	var from, to, other strings.Builder
	for i := range 80_000 {
		fmt.Fprintf(&from, "line %d of a text, with some words that are longer than the number\n", i)
		fmt.Fprintf(&other, "nothing %d\n", i)
		if i%1000 == 7 {
			to.WriteString("changed ")
		}
		fmt.Fprintf(&to, "line %d of a text, with some words that are longer than the number\n", i)
	}
	for name, changed := range map[string]string{"little": to.String(), "all": other.String()} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				text.Diff(from.String(), changed, "a", "b")
			}
		})
	}
}
