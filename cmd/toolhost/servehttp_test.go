package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// served is a program that serves over HTTP.
type served struct {
	url  string // without /mcp
	stop context.CancelFunc
	code int // set before done is closed
	done chan struct{}
	log  *logLines
}

// logLines collects a log and tells when a text has come.
type logLines struct {
	mu    sync.Mutex
	text  bytes.Buffer
	grown chan struct{}
}

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.Write(p)
	close(l.grown)
	l.grown = make(chan struct{})
	return len(p), nil
}

func (l *logLines) await(t *testing.T, expr string) []string {
	t.Helper()
	timeout := time.After(30 * time.Second)
	for {
		l.mu.Lock()
		text, grown := l.text.String(), l.grown
		l.mu.Unlock()
		if m := regexp.MustCompile(expr).FindStringSubmatch(text); m != nil {
			return m
		}
		select {
		case <-grown:
		case <-timeout:
			t.Fatalf("the log has no %s:\n%s", expr, text)
		}
	}
}

func startHTTP(t *testing.T, args ...string) *served {
	t.Helper()
	s := &served{done: make(chan struct{}), log: &logLines{grown: make(chan struct{})}}
	var ctx context.Context
	ctx, s.stop = context.WithCancel(t.Context())
	args = append([]string{"serve", "--http", "127.0.0.1:0", "--no-bundled", "--folder", t.TempDir(), "--plugins", t.TempDir()}, args...)
	go func() {
		defer close(s.done)
		s.code = run(ctx, args, strings.NewReader(""), io.Discard, s.log)
	}()
	t.Cleanup(func() {
		s.stop()
		select {
		case <-s.done:
		case <-time.After(20 * time.Second):
			t.Error("it does not end")
		}
	})
	s.url = strings.TrimSuffix(s.log.await(t, `url=(\S+)`)[1], "/mcp")
	return s
}

func ask(t *testing.T, method, url, token, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return send(t, r)
}

// send sends a request, and gives the status and the body of the answer.
func send(t *testing.T, r *http.Request) (int, string) {
	t.Helper()
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`

func TestServeHTTP(t *testing.T) {
	state := t.TempDir()
	s := startHTTP(t, "--state", state)
	file := filepath.Join(state, tokenName)
	token, err := readToken(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, path, token, body string
		status                    int
		says                      string
	}{
		{"GET", "/healthz", "", "", 200, "ok"},
		{"GET", "/", token, "", 404, ""},
		{"GET", "/metrics", "", "", 401, "token"},
		{"GET", "/metrics", token, "", 200, "toolhost_sessions 0"},
		{"POST", "/mcp", "", hello, 401, "token"},
		{"POST", "/mcp", token + "x", hello, 401, "token"},
		{"POST", "/mcp", token, hello, 200, "serverInfo"},
		{"GET", "/metrics", token, "", 200, "toolhost_sessions 1"},
	} {
		if status, text := ask(t, c.method, s.url+c.path, c.token, c.body); status != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s %s gives %d %s, want %d with %q", c.method, c.path, status, text, c.status, c.says)
		}
	}
	since := time.Now()
	s.stop()
	<-s.done
	if s.code != exitDone {
		t.Errorf("it ended with %d", s.code)
	}
	t.Logf("ended after %s", time.Since(since))

	// The token stays the same.
	again := startHTTP(t, "--state", state)
	if status, _ := ask(t, "POST", again.url+"/mcp", token, hello); status != 200 {
		t.Errorf("the token of the first run gives %d", status)
	}
}

func TestServeHTTPWithoutToken(t *testing.T) {
	state := t.TempDir()
	s := startHTTP(t, "--state", state, "--no-token")
	if status, text := ask(t, "POST", s.url+"/mcp", "", hello); status != 200 {
		t.Errorf("%d %s", status, text)
	}
	if _, err := os.Stat(filepath.Join(state, tokenName)); err == nil {
		t.Error("a token was made all the same")
	}
}

// Clients that open connections and do not send their requests are left.
func TestServeHTTPSlowHeader(t *testing.T) {
	s := startHTTP(t, "--state", t.TempDir(), "--no-token")
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: "); err != nil {
		t.Fatal(err)
	}
	since := time.Now()
	if _, err := io.ReadAll(conn); err != nil {
		t.Logf("the connection ended with %v", err)
	}
	if after := time.Since(since); after > 3*headerTime {
		t.Errorf("a client without an end to its header is kept for %s", after)
	}
	// One whose header has no end is left at once.
	big, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer big.Close()
	go func() {
		_, _ = fmt.Fprintf(big, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: %s\r\n\r\n", strings.Repeat("x", 2*headerBytes))
	}()
	answer := make([]byte, 12)
	if _, err := io.ReadFull(big, answer); err != nil || string(answer) != "HTTP/1.1 431" {
		t.Errorf("a large header gives %q, %v", answer, err)
	}
}

func TestMakeToken(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	path := filepath.Join(dir, tokenName)
	var tokens sync.Map
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := makeToken(path); err != nil {
				t.Error(err)
			}
			token, err := readToken(path)
			if err != nil {
				t.Error(err)
			}
			tokens.Store(token, true)
		})
	}
	wg.Wait()
	n := 0
	tokens.Range(func(any, any) bool { n++; return true })
	entries, err := os.ReadDir(dir)
	if n != 1 || err != nil || len(entries) != 1 {
		t.Errorf("%d tokens, files %v, %v", n, entries, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
}
