package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// converse is a program for scripts: `exec converse FILE COMMAND…` runs a command with the lines
// of a file as its input, as a client sends them that waits for each answer before it sends more.
// A host whose input ends at once may end before its plugins are loaded, or list what there is
// until then.
func converse() {
	session, err := os.ReadFile(os.Args[1])
	if err != nil {
		fail(err)
	}
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		fail(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		fail(err)
	}
	if err := cmd.Start(); err != nil {
		fail(err)
	}
	lines := bufio.NewReader(out)
	for line := range strings.Lines(string(session)) {
		if _, err := io.WriteString(in, line); err != nil {
			break // it has ended, and how is what the script looks at
		}
		if id := answered([]byte(line), true); id != nil && !awaitAnswer(lines, id) {
			break
		}
	}
	_ = in.Close() // it may have ended
	_, err = io.Copy(os.Stdout, lines)
	var exit *exec.ExitError
	switch err = errors.Join(err, cmd.Wait()); {
	case errors.As(err, &exit):
		os.Exit(exit.ExitCode())
	case err != nil:
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "converse:", err)
	os.Exit(1)
}

// awaitAnswer hands on lines until one is the answer to a request. It is false where there is none.
func awaitAnswer(lines *bufio.Reader, id []byte) bool {
	for {
		line, err := lines.ReadBytes('\n')
		_, _ = os.Stdout.Write(line)
		if err != nil || bytes.Equal(answered(line, false), id) {
			return err == nil
		}
	}
}

// answered gives the id of a request, or of an answer; nil where a line is none.
func answered(line []byte, request bool) []byte {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if json.Unmarshal(line, &m) != nil || (m.Method != "") != request {
		return nil
	}
	return m.ID
}
