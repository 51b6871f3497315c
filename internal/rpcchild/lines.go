package rpcchild

import (
	"bytes"
	"strings"
	"sync"
)

// lineWriter passes on what is written to it line by line; of long lines the start.
type lineWriter struct {
	said func(string)
	mu   sync.Mutex
	line []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(p)
	for len(p) > 0 {
		part, rest, ended := bytes.Cut(p, []byte("\n"))
		w.line = append(w.line, part[:min(len(part), maxSaid-len(w.line))]...)
		if ended {
			w.pass()
		}
		p = rest
	}
	return n, nil
}

// flush passes on a last line without an end.
func (w *lineWriter) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.line) > 0 {
		w.pass()
	}
}

func (w *lineWriter) pass() {
	if text := strings.TrimRight(string(w.line), "\r"); text != "" {
		w.said(strings.ToValidUTF8(text, "\ufffd"))
	}
	w.line = w.line[:0]
}
