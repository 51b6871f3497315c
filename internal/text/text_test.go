package text_test

import (
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolhost/toolhost/internal/text"
)

func TestCountWords(t *testing.T) {
	for s, want := range map[string]int{"": 0, " \t\n": 0, "one": 1, " one  two\u00a0three\u2028four\ufefffive ": 5, "ü 😀": 2, "a\xffb c": 2} {
		if got := text.CountWords(s); got != want {
			t.Errorf("%q: %d words, want %d", s, got, want)
		}
	}
}

func TestWordFrequency(t *testing.T) {
	got := text.WordFrequency("The cat, the CAT's well-known — don’t 'quote' Ünï ünï 42 x- -y é\u0301", text.FrequencyOptions{})
	want := []text.WordCount{{"the", 2}, {"ünï", 2}, {"42", 1}, {"cat", 1}, {"cat's", 1}, {"don’t", 1}, {"quote", 1}, {"well-known", 1}, {"x", 1}, {"y", 1}, {"é\u0301", 1}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
	got = text.WordFrequency("A a bb BB bb c", text.FrequencyOptions{CaseSensitive: true, MinLength: 2, Limit: 1})
	if !reflect.DeepEqual(got, []text.WordCount{{"bb", 2}}) {
		t.Errorf("got %v", got)
	}
}

func lines(s string) []string { return slices.Collect(text.Lines(s)) }

func TestLines(t *testing.T) {
	for s, want := range map[string][]string{
		"": nil, "a": {"a"}, "a\n": {"a"}, "a\n\nb": {"a", "", "b"}, "a\r\nb\rc\n": {"a", "b", "c"}, "\n": {""}, "\r\r\n\n": {"", "", ""}, "x\ry\nz": {"x", "y", "z"},
	} {
		if got := lines(s); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

func TestSearch(t *testing.T) {
	s := "one 😀two\r\ntwo two\n" + strings.Repeat("x", 5000) + "two"
	got := text.Search(s, "two", text.SearchOptions{})
	if len(got) != 4 || got[0].Line != 1 || got[0].Column != 7 || got[2].Column != 5 || got[3].Line != 3 || got[3].Column != 5001 || len(got[3].Text) != text.MaxLine || !strings.HasSuffix(got[3].Text, "two") {
		t.Errorf("got %+v", got)
	}
	if got := text.Search(s, "two", text.SearchOptions{Limit: 2}); len(got) != 2 {
		t.Errorf("%d matches, want 2", len(got))
	}
	if got := text.Search(s, "", text.SearchOptions{}); got != nil {
		t.Errorf("an empty text was found: %v", got)
	}
	got = text.SearchRegexp(s, regexp.MustCompile(`t(w)o$`), text.SearchOptions{Limit: 2})
	if len(got) != 2 || got[1].Line != 2 || got[1].Column != 5 || got[1].Match != "two" {
		t.Errorf("got %+v", got)
	}
	for pattern, want := range map[string]int{`(?:on)+e`: 1, `(?i)TWO`: 4, `x|one`: 5001, `(t)w{1,2}o`: 4, `(?:zz)?two`: 4, `(?:zz)*😀`: 1, `none\d`: 0} {
		if got := len(text.SearchRegexp(s, regexp.MustCompile(pattern), text.SearchOptions{})); got != want {
			t.Errorf("%s: %d matches, want %d", pattern, got, want)
		}
	}
	stopped := text.Search(strings.Repeat("a\n", 5000), "a", text.SearchOptions{Stop: func() bool { return true }})
	if len(stopped) >= 1000 {
		t.Errorf("%d matches after the end", len(stopped))
	}
}

func parse(s string) ([][]string, error) {
	var rows [][]string
	err := text.ParseCSV(s, ',', func(fields []string) bool { rows = append(rows, slices.Clone(fields)); return true })
	return rows, err
}

func TestCSV(t *testing.T) {
	for s, want := range map[string][][]string{
		"":                         nil,
		"a,b\r\n1,2\n":             {{"a", "b"}, {"1", "2"}},
		"\"a,\"\"x\"\"\r\ny\",b":   {{"a,\"x\"\r\ny", "b"}},
		"a,\n\n,b":                 {{"a", ""}, {"", "b"}},
		"\"\"":                     {{""}},
		"\"a\" x,b":                {{"a x", "b"}},
		"a\"b,c":                   {{"a\"b", "c"}},
		"a\rb":                     {{"a"}, {"b"}},
		"\"x\"":                    {{"x"}},
		"one,\"tw\"\"o\",\"\"\"\"": {{"one", "tw\"o", "\""}},
	} {
		got, err := parse(s)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, %v, want %q", s, got, err, want)
		}
	}
	_, err := parse("a\n\"b\nc")
	var csv *text.CSVError
	if !errors.As(err, &csv) || csv.Line != 2 {
		t.Errorf("got %v", err)
	}
}

func TestDiff(t *testing.T) {
	if got := text.Diff("a\nb\nc\n", "a\nx\nc\n", "old", "new"); got != "--- old\n+++ new\n@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n" {
		t.Errorf("got %q", got)
	}
	if got := text.Diff("a\n", "a\n", "x", "y"); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestGlob(t *testing.T) {
	for _, tt := range []struct {
		pattern, path string
		want          bool
	}{{"**/*.md", "a/b.md", true}, {"*.md", "a/b.md", false}, {"{a,b}/[c-e]?", "b/dx", true}, {"a/**", "a", true}} {
		if got := text.Glob(tt.pattern, tt.path); got != tt.want {
			t.Errorf("%q, %q: %v", tt.pattern, tt.path, got)
		}
	}
	for _, bad := range []string{"[", "{a", strings.Repeat("{a,b}", 9), strings.Repeat("x", 1001), strings.Repeat("**/", 9)} {
		if text.CheckGlob(bad) == nil {
			t.Errorf("%q was let through", bad)
		}
	}
}

// FuzzCSV: what is written reads back as it was.
func FuzzCSV(f *testing.F) {
	f.Add("a", "b\"c", "\r\n,")
	f.Add("", "", "x")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		for _, row := range [][]string{{a, b, c}, {a}} {
			var out strings.Builder
			text.AppendCSV(&out, row, ',')
			got, err := parse(out.String())
			if err != nil || len(got) != 1 || !slices.Equal(got[0], row) {
				t.Errorf("%q became %q, which gives %q, %v", row, out.String(), got, err)
			}
		}
	})
}

// FuzzText: nothing panics, words and lines are within the text.
func FuzzText(f *testing.F) {
	f.Add("a b\r\nc's 😀", "b")
	f.Fuzz(func(t *testing.T, s, x string) {
		if text.CountWords(s) != len(regexp.MustCompile(`[^\s\v\x{feff}\x{2028}\x{2029}\p{Zs}]+`).FindAllString(s, -1)) && utf8.ValidString(s) {
			t.Errorf("%q: %d words", s, text.CountWords(s))
		}
		length := 0
		for _, line := range lines(s) {
			if strings.ContainsAny(line, "\r\n") {
				t.Errorf("a line of %q holds its end", s)
			}
			length += len(line)
		}
		if length+strings.Count(s, "\n")+strings.Count(s, "\r") != len(s) {
			t.Errorf("lines of %q lost something", s)
		}
		for _, w := range text.WordFrequency(s, text.FrequencyOptions{CaseSensitive: true}) {
			if strings.Count(s, w.Word) < w.Count {
				t.Errorf("%q is not %d times in %q", w.Word, w.Count, s)
			}
		}
		if x != "" && utf8.ValidString(s) && utf8.ValidString(x) && !strings.ContainsAny(x, "\r\n") {
			if got := len(text.Search(s, x, text.SearchOptions{})); got != strings.Count(s, x) {
				t.Errorf("%q is %d times in %q", x, got, s)
			}
		}
		text.Diff(s, x, "a", "b")
		_, _ = parse(s)
	})
}
