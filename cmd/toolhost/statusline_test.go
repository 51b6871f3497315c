package main

import (
	"bytes"
	"testing"
)

func TestStatusLine(t *testing.T) {
	var screen bytes.Buffer
	s := &statusLine{terminal: &screen}
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() { s.set("") }, ""},
		{func() { _, _ = s.Write([]byte("log\n")) }, "log\n"},
		{func() { s.set("half way") }, clearLine + "half way"},
		{func() { _, _ = s.Write([]byte("log\n")) }, clearLine + "log\n" + clearLine + "half way"},
		{func() { s.set("") }, clearLine},
		{func() { _, _ = s.Write([]byte("end\n")) }, "end\n"},
	} {
		screen.Reset()
		step.do()
		if got := screen.String(); got != step.want {
			t.Errorf("the terminal got %q, want %q", got, step.want)
		}
	}
}
