package main

import (
	"fmt"
	"io"
	"sync"
)

// statusLine is a terminal whose last line may hold what goes on at the moment; what is
// written meanwhile comes above it. It is safe for concurrent use.
type statusLine struct {
	terminal io.Writer

	mu     sync.Mutex
	status string
}

// clearLine moves to the beginning of the line and empties it.
const clearLine = "\r\x1b[2K"

// Write writes above the status.
func (s *statusLine) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status == "" {
		return s.terminal.Write(b)
	}
	if _, err := io.WriteString(s.terminal, clearLine); err != nil {
		return 0, err
	}
	n, err := s.terminal.Write(b)
	s.draw()
	return n, err
}

// set shows a status, which has no line break; "" takes it away.
func (s *statusLine) set(status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status == "" && status == "" {
		return
	}
	s.status = status
	s.draw()
}

func (s *statusLine) draw() {
	_, _ = fmt.Fprint(s.terminal, clearLine, s.status) // nowhere left to say it
}
