package main

import (
	"context"
	"testing"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/host/foldertools"
	"github.com/toolhost/toolhost/internal/state"
)

// listChanges takes a token for each change of the list.
type listChanges chan struct{}

func (c listChanges) Observe(e host.Event) {
	if e.Kind == host.ToolsChanged {
		c <- struct{}{}
	}
}

// TestSwitchesOfOthers has another program disable and enable a tool while a host runs.
func TestSwitchesOfOthers(t *testing.T) {
	dir := t.TempDir()
	mine, theirs := state.New(dir, nil), state.New(dir, nil)
	s := &session{host: host.New(nil), state: mine}
	if _, err := s.host.Replace("toolhost", host.BuiltIn, foldertools.Tools()); err != nil {
		t.Fatal(err)
	}
	changed := make(listChanges, 10)
	s.host.Observe(changed)
	s.off = switched{session: s}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); s.off.watch(ctx) }()
	for _, off := range []bool{true, false} {
		if _, err := theirs.SetToolOff(t.Context(), "folder_write", off); err != nil {
			t.Fatal(err)
		}
		<-changed
		if r, _ := s.host.Tool("folder_write"); r.Enabled == off {
			t.Errorf("disabled: %v, and the host has it enabled: %v", off, r.Enabled)
		}
	}
	stop()
	<-ended
	for _, db := range []*state.DB{mine, theirs} {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestParseSince(t *testing.T) {
	for text, ok := range map[string]bool{
		"90m": true, "12h": true, "7d": true, "0d": true, "2026-03-01": true, "2026-03-01T12:00": true, "2026-03-01T12:00:00Z": true, "2026-03-01 12:00:00": true,
		"": false, "-1h": false, "-1d": false, "d": false, "yesterday": false, "99999d": false, "5": false,
	} {
		if _, got := parseSince(text, time.Now()); got != ok {
			t.Errorf("%q is a time: %v, want %v", text, got, ok)
		}
	}
}
