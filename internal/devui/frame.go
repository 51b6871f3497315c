package devui

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"charm.land/lipgloss/v2"

	"github.com/toolhost/toolhost/loader"
)

const (
	// maxSource is how much of a file is read to find a line.
	maxSource = 4 << 20
	// around is how many lines stand above the one that is meant.
	around = 2
	// maxSourceLine is how many characters of a line of source are shown.
	maxSourceLine = 160
)

// problem gives the lines that show one mistake: what is wrong, the place in the source, and
// what to do.
func problem(dir string, e *loader.ManifestError) []Line {
	kind := Bad
	if e.Warning {
		kind = Warning
	}
	list := lines(kind, "", e.Error())
	list = append(list, frame(dir, e)...)
	if e.Hint != "" {
		list = append(list, lines(Plain, "  ", "hint: "+e.Hint)...)
	}
	return list
}

// frame gives the lines of source around a mistake, and a mark below its column. There are
// none where the file cannot be read, or has no such line any more.
func frame(dir string, e *loader.ManifestError) []Line {
	if e.File == "" || e.Line <= 0 {
		return nil
	}
	source := readLines(dir, e.File, e.Line-around, e.Line)
	if len(source) == 0 {
		return nil
	}
	width := len(strconv.Itoa(e.Line))
	var list []Line
	for i, text := range source {
		n := e.Line - len(source) + 1 + i
		column := 0
		if n == e.Line {
			column = e.Column
		}
		shown, before := window(text, column)
		number := strconv.Itoa(n)
		gutter := "  " + strings.Repeat(" ", width-len(number)) + number + " | "
		list = append(list, Line{Kind: Faint, Text: gutter + shown, Code: true})
		if n == e.Line {
			list[len(list)-1].Kind = Strong
			if column > 0 {
				list = append(list, Line{Kind: Bad, Text: "  " + strings.Repeat(" ", width) + " | " + strings.Repeat(" ", before) + "^", Code: true})
			}
		}
	}
	return list
}

// window gives the part of a line around a column, which counts characters from 1, and how
// many cells stand before that column in it.
func window(text string, column int) (shown string, before int) {
	characters := []rune(text)
	at := min(max(column-1, 0), len(characters))
	from := 0
	lead, tail := "", ""
	if len(characters) > maxSourceLine {
		if from = max(at-maxSourceLine/2, 0); from > 0 {
			lead = "…"
		}
		if end := from + maxSourceLine; end < len(characters) {
			characters, tail = characters[:end], "…"
		}
	}
	head := lead + oneLine(string(characters[from:at]))
	return head + oneLine(string(characters[at:])) + tail, lipgloss.Width(head)
}

// readLines gives the lines first to last of a file below dir, which is not left; fewer where
// the file has fewer, and none where it has no last.
func readLines(dir, name string, first, last int) []string {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	f, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	r := bufio.NewReader(io.LimitReader(f, maxSource))
	var list []string
	for n := 1; n <= last; n++ {
		text, err := r.ReadString('\n')
		if err != nil && (text == "" && n != last || err != io.EOF) {
			return nil
		}
		if n >= first {
			list = append(list, strings.TrimRight(text, "\r\n"))
		}
		if n == 1 {
			list = trimMark(list)
		}
	}
	return list
}

// trimMark takes a byte order mark from the first line.
func trimMark(list []string) []string {
	if len(list) > 0 {
		list[0] = strings.TrimPrefix(list[0], "\ufeff")
	}
	return list
}
