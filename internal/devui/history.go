package devui

const (
	// maxHistory and maxHistoryBytes are how much can be scrolled back to.
	maxHistory      = 10_000
	maxHistoryBytes = 8 << 20
)

// history is the lines that were shown, the newest ones of them.
type history struct {
	lines []Line
	bytes int
}

// add adds lines; where there are too many the oldest quarter goes.
func (h *history) add(list []Line) {
	for _, l := range list {
		h.lines = append(h.lines, l)
		h.bytes += len(l.Text)
		if len(h.lines) > maxHistory || h.bytes > maxHistoryBytes {
			gone := len(h.lines)/4 + 1
			for _, old := range h.lines[:gone] {
				h.bytes -= len(old.Text)
			}
			h.lines = append([]Line(nil), h.lines[gone:]...)
		}
	}
}
