package foldertools

import (
	"errors"
	"fmt"
	"strings"
)

// maxCompared bounds the work of finding out why a text is not in a file, in pairs of
// lines: both come from outside.
const maxCompared = 5_000_000

// notFound says where the text that was meant by old may be.
func notFound(text, old string) error {
	if text == "" {
		return errors.New("the file is empty; use folder_write to fill it")
	}
	wanted, lines := splitLines(old), splitLines(text)
	if at, n := longestRun(lines, wanted); n > 0 {
		i := at + n
		switch {
		case i >= len(lines):
			return fmt.Errorf("oldText was not found: its first %s at line %d, but the file ends there", matchLines(n), at+1)
		case strings.Join(strings.Fields(lines[i]), " ") == strings.Join(strings.Fields(wanted[n]), " "):
			return fmt.Errorf("oldText was not found: its first %s at line %d, but line %d of the file has other white space: %q, not %q; copy it verbatim", matchLines(n), at+1, i+1, excerpt(lines[i]), excerpt(wanted[n]))
		}
		return fmt.Errorf("oldText was not found: its first %s at line %d, but line %d of the file is %q, not %q", matchLines(n), at+1, i+1, excerpt(lines[i]), excerpt(wanted[n]))
	}
	line := wanted[0]
	for _, l := range wanted {
		if strings.TrimSpace(l) != "" {
			line = l
			break
		}
	}
	i, score := nearestLine(lines, line)
	switch {
	case score == 1:
		return fmt.Errorf("oldText was not found; line %d differs in white space only: %q, not %q; copy it verbatim", i+1, excerpt(lines[i]), excerpt(line))
	case score >= 0.4:
		return fmt.Errorf("oldText was not found; the nearest line is line %d: %q", i+1, excerpt(lines[i]))
	}
	return errors.New("oldText was not found, nor a line like it; read the file again and copy the text verbatim")
}

func matchLines(n int) string {
	if n == 1 {
		return "line matches"
	}
	return fmt.Sprintf("%d lines match", n)
}

// splitLines gives the lines without their ends.
func splitLines(text string) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSuffix(l, "\r")
	}
	return lines
}

// longestRun gives the place where most of the first wanted lines stand one after the
// other. The very first may begin inside its line.
func longestRun(lines, wanted []string) (at, n int) {
	if strings.TrimSpace(wanted[0]) == "" || len(wanted) == 1 {
		return 0, 0
	}
	work := 0
	for i := range lines {
		if !strings.HasSuffix(lines[i], wanted[0]) {
			continue
		}
		k := 1
		for k < len(wanted)-1 && i+k < len(lines) && lines[i+k] == wanted[k] {
			k++
		}
		if k > n {
			at, n = i, k
		}
		if work += k; work > maxCompared {
			break
		}
	}
	return at, n
}

// nearestLine gives the line that is most like the wanted one, and how much: 1 is the
// same but for white space.
func nearestLine(lines []string, wanted string) (at int, score float64) {
	want := pairs(wanted)
	work := 0
	for i, l := range lines {
		if strings.Join(strings.Fields(l), " ") == strings.Join(strings.Fields(wanted), " ") {
			return i, 1
		}
		if s := likeness(pairs(l), want); s > score {
			at, score = i, s
		}
		if work += len(want) + len(l); work > maxCompared {
			break
		}
	}
	return at, min(score, 0.99)
}

// pairs counts the pairs of neighbouring bytes of a line without its white space, up to 200.
func pairs(line string) map[[2]byte]int {
	line = strings.Join(strings.Fields(cutText(line, 400)), "")
	line = line[:min(len(line), 201)]
	counts := make(map[[2]byte]int, len(line))
	for i := range max(len(line)-1, 0) {
		counts[[2]byte{line[i], line[i+1]}]++
	}
	return counts
}

// likeness is the Dice coefficient of two multisets.
func likeness(a, b map[[2]byte]int) float64 {
	total, common := 0, 0
	for p, n := range a {
		total += n
		common += min(n, b[p])
	}
	for _, n := range b {
		total += n
	}
	if total == 0 {
		return 0
	}
	return 2 * float64(common) / float64(total)
}
