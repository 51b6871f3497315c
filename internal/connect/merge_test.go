package connect

import (
	"strings"
	"testing"
)

func clientNamed(t *testing.T, name string) *Client {
	t.Helper()
	for _, c := range Clients() {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("there is no client %q", name)
	return nil
}

// What the user has added to the entry stays, in the form of each client; what is about the
// other way to reach the server goes.
func TestEntriesKeepWhatTheUserAdded(t *testing.T) {
	s := Server{Name: "toolhost", Command: []string{"/t", "serve"}}
	h := Server{Name: "toolhost", URL: "http://127.0.0.1:1/mcp", Token: "new"}
	for _, c := range []struct{ client, in, local, remote string }{
		{"claude-code", `{"mcpServers":{"toolhost":{"type":"stdio","command":"/o","args":[],"env":{"A":"1"},"timeout":5}}}`,
			`{"mcpServers":{"toolhost":{"type":"stdio","command":"/t","args":["serve"],"env":{"A":"1"},"timeout":5}}}`,
			`{"mcpServers":{"toolhost":{"type":"http", "timeout":5, "url": "http://127.0.0.1:1/mcp", "headers": {"Authorization":"Bearer new"}}}}`},
		{"claude-code", `{"mcpServers":{"toolhost":{"type":"http","url":"http://o","headers":{"X-A":"1","authorization":"Bearer old"},"headersHelper":"/h","alwaysLoad":true}}}`,
			`{"mcpServers":{"toolhost":{"type":"stdio", "alwaysLoad":true, "command": "/t", "args": ["serve"]}}}`,
			`{"mcpServers":{"toolhost":{"type":"http","url":"http://127.0.0.1:1/mcp","headers":{"X-A":"1", "Authorization": "Bearer new"},"headersHelper":"/h","alwaysLoad":true}}}`},
		{"claude-desktop", `{"mcpServers":{"toolhost":{"env":{},"command":"/o","args":["x"]}}}`, `{"mcpServers":{"toolhost":{"env":{},"command":"/t","args":["serve"]}}}`, ""},
		{"cursor", "{\n  \"mcpServers\": {\n    \"toolhost\": {\n      // mine\n      \"type\": \"stdio\", // as it was\n      \"command\": \"/o\",\n      \"args\": [\"serve\"],\n      \"env\": { \"A\": \"1\" /* one */ },\n      // and this\n      \"envFile\": \".env\",\n      \"autoApprove\": [\"a\"]\n    }\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    \"toolhost\": {\n      // mine\n      \"type\": \"stdio\", // as it was\n      \"command\": \"/t\",\n      \"args\": [\"serve\"],\n      \"env\": { \"A\": \"1\" /* one */ },\n      // and this\n      \"envFile\": \".env\",\n      \"autoApprove\": [\"a\"]\n    }\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    \"toolhost\": {\n      // mine\n      // as it was\n      // and this\n      \"autoApprove\": [\"a\"],\n      \"url\": \"http://127.0.0.1:1/mcp\",\n      \"headers\": {\n        \"Authorization\": \"Bearer new\"\n      }\n    }\n  }\n}\n"},
		{"gemini", `{"mcpServers":{"toolhost":{"url":"http://o/sse","trust":true,"headers":{"Authorization":"Bearer new"},"includeTools":["a"],"oauth":{}}}}`,
			`{"mcpServers":{"toolhost":{"trust":true, "includeTools":["a"], "command": "/t", "args": ["serve"]}}}`,
			`{"mcpServers":{"toolhost":{"trust":true,"headers":{"Authorization":"Bearer new"},"includeTools":["a"],"oauth":{}, "httpUrl": "http://127.0.0.1:1/mcp"}}}`},
		{"opencode", `{"mcp":{"toolhost":{"type":"local","command":["/o"],"enabled":false,"environment":{"A":"1"},"timeout":9}}}`,
			`{"mcp":{"toolhost":{"type":"local","command":["/t","serve"],"enabled":true,"environment":{"A":"1"},"timeout":9}}}`,
			`{"mcp":{"toolhost":{"type":"remote", "enabled":true, "timeout":9, "url": "http://127.0.0.1:1/mcp", "headers": {"Authorization":"Bearer new"}}}}`},
		{"qwen", `{"mcpServers":{"toolhost":{"command":"/o","cwd":"/c","trust":true}}}`,
			`{"mcpServers":{"toolhost":{"command":"/t","cwd":"/c","trust":true, "args": ["serve"]}}}`,
			`{"mcpServers":{"toolhost":{"trust":true, "httpUrl": "http://127.0.0.1:1/mcp", "headers": {"Authorization":"Bearer new"}}}}`},
		{"vscode", `{"servers":{"toolhost":{"type":"sse","url":"http://o","headers":{},"dev":{"watch":"x"},},}}`,
			`{"servers":{"toolhost":{"type":"stdio", "dev":{"watch":"x"}, "command": "/t", "args": ["serve"],},}}`,
			`{"servers":{"toolhost":{"type":"http","url":"http://127.0.0.1:1/mcp","headers":{"Authorization":"Bearer new"},"dev":{"watch":"x"},},}}`},
		{"zed", "{\n\t\"context_servers\": {\n\t\t\"toolhost\": {\n\t\t\t\"source\": \"custom\",\n\t\t\t\"command\": { \"path\": \"/o\" },\n\t\t\t\"enabled\": false\n\t\t}\n\t}\n}\n",
			"{\n\t\"context_servers\": {\n\t\t\"toolhost\": {\n\t\t\t\"source\": \"custom\",\n\t\t\t\"command\": \"/t\",\n\t\t\t\"enabled\": false,\n\t\t\t\"args\": [\n\t\t\t\t\"serve\"\n\t\t\t]\n\t\t}\n\t}\n}\n",
			"{\n\t\"context_servers\": {\n\t\t\"toolhost\": {\n\t\t\t\"source\": \"custom\",\n\t\t\t\"enabled\": false,\n\t\t\t\"url\": \"http://127.0.0.1:1/mcp\",\n\t\t\t\"headers\": {\n\t\t\t\t\"Authorization\": \"Bearer new\"\n\t\t\t}\n\t\t}\n\t}\n}\n"},
		{"codex", "[mcp_servers.toolhost]\n# start\ncommand = '/o' # here\nargs = [\n  'x', # y\n]\nstartup_timeout_sec = 20\nenv = { A = '1' }\n\n[mcp_servers.toolhost.tools.a]\napproval_mode = 'auto'\n\n# other\n[x]\n",
			"[mcp_servers.toolhost]\n# start\ncommand = \"/t\" # here\nargs = [\"serve\"]\nstartup_timeout_sec = 20\nenv = { A = '1' }\n\n[mcp_servers.toolhost.tools.a]\napproval_mode = 'auto'\n\n# other\n[x]\n",
			"[mcp_servers.toolhost]\nurl = \"http://127.0.0.1:1/mcp\"\nhttp_headers = { \"Authorization\" = \"Bearer new\" }\n# start\nstartup_timeout_sec = 20\n\n[mcp_servers.toolhost.tools.a]\napproval_mode = 'auto'\n\n# other\n[x]\n"},
		{"codex", "[mcp_servers.toolhost]\nenabled = false\n\n[mcp_servers.toolhost.env]\nA = '1'\n\n# other\n[x]\n",
			"[mcp_servers.toolhost]\ncommand = \"/t\"\nargs = [\"serve\"]\nenabled = false\n\n[mcp_servers.toolhost.env]\nA = '1'\n\n# other\n[x]\n",
			"[mcp_servers.toolhost]\nurl = \"http://127.0.0.1:1/mcp\"\nhttp_headers = { \"Authorization\" = \"Bearer new\" }\nenabled = false\n\n# other\n[x]\n"},
		{"codex", "[mcp_servers.toolhost]\ntype = 'stdio'\n", "[mcp_servers.toolhost]\ncommand = \"/t\"\nargs = [\"serve\"]\ntype = 'stdio'\n",
			"[mcp_servers.toolhost]\nurl = \"http://127.0.0.1:1/mcp\"\nhttp_headers = { \"Authorization\" = \"Bearer new\" }\n"},
		{"codex", "[mcp_servers.toolhost.env]\nA = '1'",
			"[mcp_servers.toolhost]\ncommand = \"/t\"\nargs = [\"serve\"]\n\n[mcp_servers.toolhost.env]\nA = '1'",
			"[mcp_servers.toolhost]\nurl = \"http://127.0.0.1:1/mcp\"\nhttp_headers = { \"Authorization\" = \"Bearer new\" }\n"},
		{"codex", "[mcp_servers.toolhost]\nurl = 'http://o'\nhttp_headers = { X-A = 'a,}', authorization = \"Bearer old\" } # h\nenabled = true",
			"[mcp_servers.toolhost]\ncommand = \"/t\"\nargs = [\"serve\"]\nenabled = true",
			"[mcp_servers.toolhost]\nurl = \"http://127.0.0.1:1/mcp\"\nhttp_headers = { X-A = 'a,}', \"Authorization\" = \"Bearer new\" } # h\nenabled = true"},
		{"codex", "[mcp_servers.toolhost]\nurl = 'http://o'\n[mcp_servers.toolhost.http_headers]\nX-A = 'a'\nauthorization = 'b'\n\n[mcp_servers.toolhost.env_http_headers]\nX-B = 'B'\n",
			"[mcp_servers.toolhost]\ncommand = \"/t\"\nargs = [\"serve\"]\n",
			"[mcp_servers.toolhost]\nurl = \"http://127.0.0.1:1/mcp\"\n[mcp_servers.toolhost.http_headers]\n\"Authorization\" = \"Bearer new\"\nX-A = 'a'\n\n[mcp_servers.toolhost.env_http_headers]\nX-B = 'B'\n"},
		{"codex", "[mcp_servers.toolhost]\nurl = 'http://o'\nhttp_headers.X-A = 'a'\nhttp_headers.Authorization = 'b'\n",
			"[mcp_servers.toolhost]\ncommand = \"/t\"\nargs = [\"serve\"]\n",
			"[mcp_servers.toolhost]\nurl = \"http://127.0.0.1:1/mcp\"\nhttp_headers.X-A = 'a'\nhttp_headers.Authorization = \"Bearer new\"\n"},
	} {
		for _, k := range []struct {
			server Server
			want   string
		}{{s, c.local}, {h, c.remote}} {
			got, err := clientNamed(t, c.client).Set(c.in, k.server)
			if k.want == "" && err != nil {
				continue
			}
			if err != nil || got != k.want {
				t.Errorf("%s: %s\nbecame\n%s\nwant\n%s\n%v", c.client, c.in, got, k.want, err)
			}
		}
	}
	for client, texts := range map[string][]string{
		"cursor": {`{"mcpServers":{"toolhost":{"command":"a","command":"b","trust":true}}}`, `{"mcpServers":{"toolhost":{"url":"a","url":"b","trust":true}}}`, `{"mcpServers":{"toolhost":{"url":"u","trust":true,"headers":{"Authorization":"a","Authorization":"b"}}}}`},
		"codex":  {"[mcp_servers.toolhost]\nhttp_headers = 'x'\n", "[[mcp_servers.toolhost]]\na = 1\n", "[mcp_servers.toolhost]\nhttp_headers = { a = '''x''' }\n"},
	} {
		for _, text := range texts {
			got, err := clientNamed(t, client).Set(text, h)
			if err == nil || strings.Contains(got, "127.0.0.1") {
				t.Errorf("%s takes %q and makes it %q", client, text, got)
			}
		}
	}
}

// Only the lines that change are shown as changed.
func TestDiff(t *testing.T) {
	before := "1\n2\n3\n4\nold\nenv\nurl\n5\n6\n7\n8\n"
	after := "1\n2\n3\n4\nnew\nenv\n5\n6\n7\n8\n"
	if got, want := Diff(before, after), "  2\n  3\n  4\n- old\n+ new\n  env\n- url\n  5\n  6\n  7\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	long := strings.Repeat("a\n", 5000)
	if got := Diff("x\n"+long+"y\n", "z\n"+long+"w\n"); strings.Count(got, "\n") != 2*5002 {
		t.Errorf("a long one has %d lines", strings.Count(got, "\n"))
	}
}
