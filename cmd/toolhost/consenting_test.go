package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestConfirm(t *testing.T) {
	for answer, want := range map[string]struct {
		agreed bool
		shown  string
	}{
		"y\n":   {true, "Go on? [y/N] "},
		"Yes\n": {true, "Go on? [y/N] "},
		"n\n":   {false, "Go on? [y/N] "},
		"\n":    {false, "Go on? [y/N] "},
		"":      {false, "Go on? [y/N] \n"}, // the input has ended: what follows begins a line
	} {
		var shown strings.Builder
		p := &program{in: strings.NewReader(answer), err: &shown}
		err := p.confirm(t.Context(), "Go on?")
		if (err == nil) != want.agreed || shown.String() != want.shown {
			t.Errorf("%q: %v, shown %q; want %+v", answer, err, shown.String(), want)
		}
	}
}

func TestConfirmInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in, out := io.Pipe()
	defer out.Close()
	var shown strings.Builder
	p := &program{in: in, err: &shown}
	if err := p.confirm(ctx, "Go on?"); !errors.Is(err, errDeclined) || shown.String() != "Go on? [y/N] \n" {
		t.Errorf("%v, shown %q", err, shown.String())
	}
}
