package child

import (
	"bufio"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	// maxLine is how much of one line is logged and kept, in bytes.
	maxLine = 8 << 10
	// maxTail is how much of the last lines is kept, in bytes.
	maxTail = 16 << 10
	// stderrRest is how long the rest of a dead child's stderr may take to read.
	stderrRest = 250 * time.Millisecond
)

// stderr drains a child's standard error: whatever it says, it never waits for us.
type stderr struct {
	from  *os.File
	log   *slog.Logger
	to    func(line string) // instead of log; may be nil
	ended chan struct{}

	mu    sync.Mutex
	lines []string // the last ones
	size  int

	logged Limiter
}

// drain reads until the end.
func (s *stderr) drain() {
	defer close(s.ended)
	r := bufio.NewReaderSize(s.from, 64<<10)
	for {
		line, more, err := ReadLine(r, maxLine)
		if len(line) > 0 || err == nil {
			text := strings.ToValidUTF8(strings.TrimRight(string(line), "\r\n"), "\ufffd")
			if more {
				text += "…"
			}
			s.add(text)
		}
		if err != nil {
			s.leftOut(s.logged.Rest())
			return
		}
	}
}

// finish waits for the end of the stream, but not for a stranger that holds it open.
func (s *stderr) finish() {
	_ = s.from.SetReadDeadline(time.Now().Add(stderrRest))
	<-s.ended
	_ = s.from.Close()
}

func (s *stderr) add(line string) {
	s.mu.Lock()
	s.lines = append(s.lines, line)
	s.size += len(line) + 1
	for s.size > maxTail && len(s.lines) > 1 {
		s.size -= len(s.lines[0]) + 1
		s.lines = s.lines[1:]
	}
	s.mu.Unlock()

	if s.to != nil {
		s.to(line)
		return
	}
	ok, dropped := s.logged.Take()
	if !ok {
		return
	}
	s.leftOut(dropped)
	if line != "" {
		s.log.Info("stderr", "line", line)
	}
}

// leftOut says how many lines were left out of the log.
func (s *stderr) leftOut(dropped int) {
	if dropped > 0 {
		s.log.Warn("stderr: lines were left out of the log, there were too many", "lines", dropped)
	}
}

func (s *stderr) tail() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n")
}
