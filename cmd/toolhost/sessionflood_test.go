package main

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestFloodOfSessions: clients that open sessions and never end them take one another's
// places, those idle for the longest first. One that is in use is not ended, and the server lives.
func TestFloodOfSessions(t *testing.T) {
	const limit, flood, clients = 1000, 1200, 8
	s := startHTTP(t, "--state", t.TempDir(), "--no-token")
	send := func(ctx context.Context, method, session, body string) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, method, s.url+"/mcp", strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("Content-Type", "application/json")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
			r.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		}
		return http.DefaultClient.Do(r)
	}
	ask := func(session, body string) (*http.Response, string) {
		res, err := send(t.Context(), http.MethodPost, session, body)
		if err != nil {
			t.Error(err)
			return &http.Response{Header: http.Header{}}, ""
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			t.Error(err)
		}
		return res, string(text)
	}
	open := func() string {
		res, text := ask("", hello)
		if res.StatusCode != http.StatusOK || res.Header.Get("Mcp-Session-Id") == "" {
			t.Errorf("a session is not opened: %s %s", res.Status, text)
		}
		return res.Header.Get("Mcp-Session-Id")
	}
	const ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`

	used, idle := open(), open()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := send(ctx, http.MethodGet, used, "") // it waits for news: its session is in use
	if err != nil || stream.StatusCode != http.StatusOK {
		t.Fatalf("no stream: %v, %v", stream, err)
	}
	defer stream.Body.Close()
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for range flood / clients {
				open()
			}
		})
	}
	wg.Wait()
	last := open()
	for name, c := range map[string]struct {
		session string
		status  int
	}{"in use": {used, http.StatusOK}, "idle": {idle, http.StatusNotFound}, "the last": {last, http.StatusOK}} {
		if res, text := ask(c.session, ping); res.StatusCode != c.status {
			t.Errorf("the session that was %s: %s %s, want %d", name, res.Status, text, c.status)
		}
	}
	for deadline := time.Now().Add(30 * time.Second); ; { // one that has lost its place ends a moment later
		n := sessionsOf(t, s)
		if n <= limit {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d sessions are open, more than %d", n, limit)
		}
	}
	// The stateless revision needs none, and is served all the same.
	if res, text := ask("", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`); res.StatusCode >= http.StatusInternalServerError {
		t.Errorf("%s %s", res.Status, text)
	}
}

// sessionsOf gives how many sessions a server says are open.
func sessionsOf(t *testing.T, s *served) int {
	t.Helper()
	status, text := ask(t, "GET", s.url+"/metrics", "", "")
	_, number, _ := strings.Cut(text, "\ntoolhost_sessions ")
	number, _, _ = strings.Cut(number, "\n")
	n, err := strconv.Atoi(number)
	if status != http.StatusOK || err != nil {
		t.Fatalf("the metrics are %d %s", status, text)
	}
	return n
}
