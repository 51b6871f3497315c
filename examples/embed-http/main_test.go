package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestApp(t *testing.T) {
	app, end, err := newApp("the token of a test")
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(app)
	defer web.Close()
	defer func() {
		if err := end(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	ask := func(method, path, body, token string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, web.URL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"Authorization": "Bearer " + token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "visitors_count",
		} {
			r.Header.Set(name, value)
		}
		res, err := web.Client().Do(r)
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
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"visitors_count","arguments":{"day":"2026-11-30"},"_meta":{
		"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	if status, text := ask("GET", "/", "", ""); status != 200 || !strings.Contains(text, "own page") {
		t.Errorf("the page: %d %s", status, text)
	}
	if status, text := ask("POST", "/agents/mcp", call, "the token of a test"); status != 200 || !strings.Contains(text, "1210 visitors") {
		t.Errorf("the call: %d %s", status, text)
	}
	if status, _ := ask("POST", "/agents/mcp", call, "another token"); status != 401 {
		t.Errorf("another token: %d", status)
	}
}
