package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSecretInRequest has the example plugin ask a server that the user has set, with a
// secret that the user has set, and looks for the secret in all that is written.
func TestSecretInRequest(t *testing.T) {
	const secret = "tok-5f0e77c1"
	t.Setenv(keyringVariable, "off")
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		if got := r.Header.Get("Authorization"); got != "token "+secret {
			t.Errorf("the server was sent %q", got)
		}
		if strings.Contains(r.URL.Path, "away") {
			http.Redirect(w, r, "http://localhost:9/?"+secret, http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, `[{"number": 8, "title": "Sow peas"}]`)
	}))
	defer server.Close()
	plugins := t.TempDir()
	if err := os.CopyFS(filepath.Join(plugins, "fetch"), os.DirFS(filepath.Join("..", "..", "examples", "fetch"))); err != nil {
		t.Fatal(err)
	}
	flags := []string{"--plugins", plugins, "--state", t.TempDir(), "--folder", t.TempDir(), "--no-bundled"}
	var all strings.Builder
	toolhost := func(input string, want int, args ...string) string {
		t.Helper()
		var out, said bytes.Buffer
		if code := run(t.Context(), append(args, flags...), strings.NewReader(input), &out, &said); code != want {
			t.Errorf("%q: code %d, want %d\n%s%s", args, code, want, out.String(), said.String())
		}
		all.WriteString(out.String() + said.String())
		return out.String() + said.String()
	}
	toolhost("", 0, "settings", "set", "example-fetch.server", server.URL)
	if got := toolhost("", 1, "call", "open_issues", "repository=ann/garden"); !strings.Contains(got, "{{secret:example-fetch.token}} names no secret setting of this plugin that has a value") {
		t.Error(got)
	}
	if asked != 0 {
		t.Error("a request was sent without its secret")
	}
	toolhost(secret+"\n", 0, "settings", "set", "example-fetch.token")
	if got := toolhost("", 0, "call", "open_issues", "repository=ann/garden"); !strings.Contains(got, "#8 Sow peas") {
		t.Error(got)
	}
	if got := toolhost("", 1, "call", "open_issues", "repository=ann/away", "--log-level", "debug"); !strings.Contains(got, "is not allowed") {
		t.Error(got)
	}
	toolhost("", 0, "settings", "set", "example-fetch.server", fmt.Sprintf("http://127.0.0.1:%d", 2))
	if got := toolhost("", 1, "call", "open_issues", "repository=ann/garden", "--log-level", "debug"); !strings.Contains(got, "fetch failed") {
		t.Error(got)
	}
	if strings.Contains(all.String(), secret) {
		t.Errorf("the secret was written:\n%s", all.String())
	}
}

// TestFetchExample runs the cases of the example, in which hosts answer what the case says.
func TestFetchExample(t *testing.T) {
	dir := filepath.Join("..", "..", "examples", "fetch")
	for _, args := range [][]string{{"check", dir}, {"test", dir}} {
		var said, failed bytes.Buffer
		if code := run(t.Context(), args, strings.NewReader(""), &said, &failed); code != 0 || strings.Contains(said.String(), "warning") {
			t.Errorf("%q: code %d\n%s%s", args, code, &said, &failed)
		}
	}
}
