package connect

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	local  = Server{Name: "toolhost", Command: []string{"/bin/toolhost", "serve", "--folder", `/a "b"/<c>`}}
	remote = Server{Name: "toolhost", URL: "http://127.0.0.1:1/mcp", Token: "t0ken"}
)

// Every client, an empty configuration and back.
func TestClients(t *testing.T) {
	type want struct{ file, local, remote string }
	args := `"args":["serve","--folder","/a \"b\"/<c>"]`
	headers := `"headers":{"Authorization":"Bearer t0ken"}`
	wants := map[string]want{
		"claude-code":    {".claude.json", `{"mcpServers":{"toolhost":{"type":"stdio","command":"/bin/toolhost",` + args + `}}}`, `{"mcpServers":{"toolhost":{"type":"http","url":"http://127.0.0.1:1/mcp",` + headers + `}}}`},
		"claude-desktop": {".config/Claude/claude_desktop_config.json", `{"mcpServers":{"toolhost":{"command":"/bin/toolhost",` + args + `}}}`, ""},
		"codex": {".codex/config.toml", "[mcp_servers.toolhost]\ncommand = \"/bin/toolhost\"\nargs = [\"serve\",\"--folder\",\"/a \\\"b\\\"/<c>\"]\n",
			"[mcp_servers.toolhost]\nurl = \"http://127.0.0.1:1/mcp\"\nhttp_headers = { \"Authorization\" = \"Bearer t0ken\" }\n"},
		"cursor":   {".cursor/mcp.json", `{"mcpServers":{"toolhost":{"command":"/bin/toolhost",` + args + `}}}`, `{"mcpServers":{"toolhost":{"url":"http://127.0.0.1:1/mcp",` + headers + `}}}`},
		"gemini":   {".gemini/settings.json", `{"mcpServers":{"toolhost":{"command":"/bin/toolhost",` + args + `}}}`, `{"mcpServers":{"toolhost":{"httpUrl":"http://127.0.0.1:1/mcp",` + headers + `}}}`},
		"opencode": {".config/opencode/opencode.json", `{"mcp":{"toolhost":{"type":"local","command":["/bin/toolhost","serve","--folder","/a \"b\"/<c>"],"enabled":true}}}`, `{"mcp":{"toolhost":{"type":"remote","url":"http://127.0.0.1:1/mcp","enabled":true,` + headers + `}}}`},
		"qwen":     {".qwen/settings.json", `{"mcpServers":{"toolhost":{"command":"/bin/toolhost",` + args + `}}}`, `{"mcpServers":{"toolhost":{"httpUrl":"http://127.0.0.1:1/mcp",` + headers + `}}}`},
		"vscode":   {".config/Code/User/mcp.json", `{"servers":{"toolhost":{"type":"stdio","command":"/bin/toolhost",` + args + `}}}`, `{"servers":{"toolhost":{"type":"http","url":"http://127.0.0.1:1/mcp",` + headers + `}}}`},
		"zed":      {".config/zed/settings.json", `{"context_servers":{"toolhost":{"command":"/bin/toolhost",` + args + `}}}`, `{"context_servers":{"toolhost":{"url":"http://127.0.0.1:1/mcp",` + headers + `}}}`},
	}
	place := Place{Home: "/home/u", OS: "linux", Env: func(string) string { return "" }}
	for _, c := range Clients() {
		t.Run(c.Name, func(t *testing.T) {
			w, known := wants[c.Name]
			if !known {
				t.Fatal("nothing is expected of it")
			}
			if got := c.File(place); got != filepath.Join("/home/u", w.file) {
				t.Errorf("its file is %s", got)
			}
			for _, k := range []struct {
				server Server
				want   string
			}{{local, w.local}, {remote, w.remote}} {
				got, err := c.Set("", k.server)
				if k.want == "" {
					if err == nil {
						t.Errorf("it takes %v", k.server)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if plain := compact(got); plain != k.want {
					t.Errorf("got\n%s\nwant\n%s", plain, k.want)
				}
				again, err := c.Set(got, k.server)
				if err != nil || again != got {
					t.Errorf("a second time it becomes %q, %v", again, err)
				}
				gone, err := c.Remove(got, "toolhost")
				if err != nil || strings.Contains(gone, "toolhost") {
					t.Errorf("taken out it is %q, %v", gone, err)
				}
			}
		})
	}
	if len(wants) != len(Clients()) {
		t.Errorf("%d clients", len(Clients()))
	}
}

func compact(text string) string {
	var v json.RawMessage
	if json.Unmarshal([]byte(text), &v) != nil {
		return text
	}
	var b strings.Builder
	inText := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' && text[i-1] != '\\':
			inText = !inText
			b.WriteByte(c)
		case !inText && strings.ContainsRune(" \n\t", rune(c)):
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// What users have in their files stays.
func TestTextsStay(t *testing.T) {
	s := Server{Name: "toolhost", Command: []string{"/t"}}
	client := func(name string) *Client {
		for _, c := range Clients() {
			if c.Name == name {
				return c
			}
		}
		t.Fatal(name)
		return nil
	}
	for _, c := range []struct{ name, client, in, set, removed string }{
		{"comments", "zed",
			"// mine\n{\n\t\"theme\": \"One\", // nice\n\t/* servers */\n\t\"context_servers\": {\n\t\t\"other\": {\"command\": \"x\"}, // keep\n\t},\n}\n",
			"// mine\n{\n\t\"theme\": \"One\", // nice\n\t/* servers */\n\t\"context_servers\": {\n\t\t\"other\": {\"command\": \"x\"}, // keep\n\t\t\"toolhost\": {\n\t\t\t\"command\": \"/t\",\n\t\t\t\"args\": []\n\t\t}\n\t},\n}\n",
			"// mine\n{\n\t\"theme\": \"One\", // nice\n\t/* servers */\n\t\"context_servers\": {\n\t\t\"other\": {\"command\": \"x\"} // keep\n\t},\n}\n"},
		{"comments around it", "cursor",
			"{\n  \"mcpServers\": {\n    \"a\": {}, // of a\n    // of ours\n    \"toolhost\": {\"command\": \"/o\"} /* old */,\n    // of z\n    \"z\": {} // end\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    \"a\": {}, // of a\n    // of ours\n    \"toolhost\": {\n      \"command\": \"/t\",\n      \"args\": []\n    } /* old */,\n    // of z\n    \"z\": {} // end\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    \"a\": {}, // of a\n    // of ours\n    /* old */\n    // of z\n    \"z\": {} // end\n  }\n}\n"},
		{"last of several", "cursor",
			"{\n  \"mcpServers\": {\n    \"a\": {} // of a\n    // end\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    \"a\": {}, // of a\n    \"toolhost\": {\n      \"command\": \"/t\",\n      \"args\": []\n    }\n    // end\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    \"a\": {} // of a\n    // end\n  }\n}\n"},
		{"a comment that seems to end", "cursor", "{\"mcpServers\": {\"a\": {} /*/ , */}}",
			"{\"mcpServers\": {\"a\": {}, /*/ , */\n  \"toolhost\": {\n    \"command\": \"/t\",\n    \"args\": []\n  }\n}}",
			"{\"mcpServers\": {\"a\": {} /*/ , */\n}}"},
		{"comments only", "cursor", "// mine\n\n",
			"// mine\n{\n  \"mcpServers\": {\n    \"toolhost\": {\n      \"command\": \"/t\",\n      \"args\": []\n    }\n  }\n}\n",
			"// mine\n{\n  \"mcpServers\": {}\n}\n"},
		{"null", "cursor", "{\n  \"mcpServers\": null,\n  \"a\": 1\n}\n",
			"{\n  \"mcpServers\": {\n    \"toolhost\": {\n      \"command\": \"/t\",\n      \"args\": []\n    }\n  },\n  \"a\": 1\n}\n",
			"{\n  \"mcpServers\": {},\n  \"a\": 1\n}\n"},
		{"laid out otherwise", "cursor", `{"mcpServers": {"toolhost": {"command":"/t", "args" : [ ]}, "z": 1}}`,
			`{"mcpServers": {"toolhost": {"command":"/t", "args" : [ ]}, "z": 1}}`, `{"mcpServers": {"z": 1}}`},
		{"from Windows", "cursor", "\ufeff{\r\n  \"mcpServers\": {\r\n    \"a\": {}\r\n  }\r\n}\r\n",
			"\ufeff{\r\n  \"mcpServers\": {\r\n    \"a\": {},\r\n    \"toolhost\": {\r\n      \"command\": \"/t\",\r\n      \"args\": []\r\n    }\r\n  }\r\n}\r\n",
			"\ufeff{\r\n  \"mcpServers\": {\r\n    \"a\": {}\r\n  }\r\n}\r\n"},
		{"TOML from Windows", "codex", "\ufeff[a]\r\nb = 1\r\n",
			"\ufeff[a]\r\nb = 1\r\n\r\n[mcp_servers.toolhost]\r\ncommand = \"/t\"\r\nargs = []\r\n", "\ufeff[a]\r\nb = 1\r\n"},
		{"toml comments", "codex",
			"[mcp_servers.toolhost]\ncommand = 'old'\n# of ours\nargs = []\n\n# of other\n# and more\n[other]\nb = 1\n",
			"[mcp_servers.toolhost]\ncommand = \"/t\"\n# of ours\nargs = []\n\n# of other\n# and more\n[other]\nb = 1\n",
			"# of other\n# and more\n[other]\nb = 1\n"},
		{"no servers yet", "cursor",
			"{\n    \"a\": 1\n}\n",
			"{\n    \"a\": 1,\n    \"mcpServers\": {\n        \"toolhost\": {\n            \"command\": \"/t\",\n            \"args\": []\n        }\n    }\n}\n", ""},
		{"on one line", "cursor", `{"a":1,"mcpServers":{}}`,
			"{\"a\":1,\"mcpServers\":{\n  \"toolhost\": {\n    \"command\": \"/t\",\n    \"args\": []\n  }\n}}", ""},
		{"replaced", "cursor", "{\n  \"mcpServers\": {\n    \"toolhost\": {\"command\": \"old\", \"url\": \"u\"},\n    \"z\": 1\n  }\n}",
			"{\n  \"mcpServers\": {\n    \"toolhost\": {\n      \"command\": \"/t\",\n      \"args\": []\n    },\n    \"z\": 1\n  }\n}",
			"{\n  \"mcpServers\": {\n    \"z\": 1\n  }\n}"},
		{"toml", "codex",
			"# mine\nmodel = \"x\" # [not.a.table]\ntext = \"\"\"\n[mcp_servers.toolhost]\n\"\"\"\n\n[mcp_servers.other]\ncommand = 'a'\n",
			"# mine\nmodel = \"x\" # [not.a.table]\ntext = \"\"\"\n[mcp_servers.toolhost]\n\"\"\"\n\n[mcp_servers.other]\ncommand = 'a'\n\n[mcp_servers.toolhost]\ncommand = \"/t\"\nargs = []\n", ""},
		{"toml replaced", "codex",
			"[mcp_servers.\"toolhost\"]\ncommand = 'old'\nargs = [\n  '[x]',\n]\n[mcp_servers.toolhost.env]\nA = '1'\n[other]\nb = 1\n",
			"[mcp_servers.\"toolhost\"]\ncommand = \"/t\"\nargs = []\n[mcp_servers.toolhost.env]\nA = '1'\n[other]\nb = 1\n",
			"[other]\nb = 1\n"},
		{"names in quotes", "codex",
			"[projects.\"/a[b]#c\"]\nx = 1\n\n[mcp_servers.\"tool host\"]\na = 1\n\n[mcp_servers.\"toolhost.x\"]\na = 1\n\n[\"mcp_servers.toolhost\"]\na = 1\n\n[mcp_servers . 'toolhost' ] # ours\na = 1\n\n\n[mcp_servers.toolhost.\"a.b\"]\na = 1\n\n\n[z]",
			"[projects.\"/a[b]#c\"]\nx = 1\n\n[mcp_servers.\"tool host\"]\na = 1\n\n[mcp_servers.\"toolhost.x\"]\na = 1\n\n[\"mcp_servers.toolhost\"]\na = 1\n\n[mcp_servers . 'toolhost' ] # ours\ncommand = \"/t\"\nargs = []\na = 1\n\n\n[mcp_servers.toolhost.\"a.b\"]\na = 1\n\n\n[z]",
			"[projects.\"/a[b]#c\"]\nx = 1\n\n[mcp_servers.\"tool host\"]\na = 1\n\n[mcp_servers.\"toolhost.x\"]\na = 1\n\n[\"mcp_servers.toolhost\"]\na = 1\n\n[z]"},
		{"quotes at the end of a text", "codex", "a = \"\"\"\"b\"\"\"\"\"\nc = '''d''''\n",
			"a = \"\"\"\"b\"\"\"\"\"\nc = '''d''''\n\n[mcp_servers.toolhost]\ncommand = \"/t\"\nargs = []\n", "a = \"\"\"\"b\"\"\"\"\"\nc = '''d''''\n"},
		{"a brace in a comment", "cursor", "{\n  \"mcpServers\": { // see {\n    \"toolhost\": {}\n  }\n}\n",
			"{\n  \"mcpServers\": { // see {\n    \"toolhost\": {\n      \"command\": \"/t\",\n      \"args\": []\n    }\n  }\n}\n",
			"{\n  \"mcpServers\": { // see {\n  }\n}\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := client(c.client)
			got, err := k.Set(c.in, s)
			if err != nil || got != c.set {
				t.Errorf("got\n%s\nwant\n%s\n%v", got, c.set, err)
			}
			gone, err := k.Remove(got, "toolhost")
			if err != nil || c.removed == "" && strings.Contains(strings.ReplaceAll(gone, "\n[mcp_servers.toolhost]\n\"\"\"", ""), "toolhost") {
				t.Errorf("taken out: %q, %v", gone, err)
			}
			if c.removed != "" && gone != c.removed {
				t.Errorf("taken out it is\n%q\nwant\n%q", gone, c.removed)
			}
		})
	}
	for name, texts := range map[string][]string{
		"cursor": {`{`, `[]`, `{"a" 1}`, `{"a":1 "b":2}`, `{"mcpServers":[]}`, `{"mcpServers":{},"mcpServers":{}}`, `{"mcpServers":{"toolhost":1,"toolhost":2}}`, "{\"a\":\"x\n\"}", `{} x`, `{/* }`, "\xff", `{,}`, `{"a":tru}`, strings.Repeat(`{"a":`, 10_000), "// a\r{}\n"},
		"codex":  {"a = \"x", "[a", "nonsense", "a = [1", "mcp_servers = { toolhost = { command = 'x' } }", "[mcp_servers]\ntoolhost = { command = 'x' }", "mcp_servers.toolhost.command = 'x'", "a = ]", "\xff", "[[mcp_servers]]\na = 1", "\"mcp_servers\".'toolhost' = {}", "[mcp_servers]\n\"tool\\u0068ost\" . a = 1", "[a] b", "[a", "[a]]", "['a]", "[\"a]", "[]", "[a.]", "= 1", "a = \"\"\"x"},
	} {
		for _, text := range texts {
			if got, err := client(name).Set(text, s); err == nil {
				t.Errorf("%s takes %.80q and makes it %.200q", name, text, got)
			}
		}
	}
}

// What stands around the entry stays, byte by byte, whatever it is.
func TestOthersStay(t *testing.T) {
	s := Server{Name: "toolhost", Command: []string{"/t", `a\u003cb<`}}
	var codex, cursor *Client
	for _, c := range Clients() {
		switch c.Name {
		case "codex":
			codex = c
		case "cursor":
			cursor = c
		}
	}
	tables := []string{"", "# c\n", "a = '''\n[mcp_servers.toolhost]\n'''\n", "\n\n# [mcp_servers.toolhost]\n[x]\n\n\n", "[mcp_servers.\"toolhost.a\"]\nb = [\n\"]\",\n]\n\n", "[[y]]\nc = {d = \"#\"} # e\n"}
	ours := []string{"", "[mcp_servers.toolhost]\na = 1\n", "[\"mcp_servers\".toolhost]\n# c\na = [\n1]\n[mcp_servers.toolhost.b]\nc = \"\"\"\n[x]\"\"\"\n"}
	for i, before := range tables {
		for _, own := range ours {
			for k, after := range tables {
				if i > 2 && k <= 2 && strings.Contains(after, "=") {
					continue // it would be of the table above
				}
				if own != "" && strings.HasPrefix(after, "a") {
					continue
				}
				in := before + own + after
				set, err := codex.Set(in, s)
				if err != nil {
					t.Fatalf("%q: %v", in, err)
				}
				gone, err := codex.Remove(set, "toolhost")
				if err != nil {
					t.Fatalf("%q: %v", set, err)
				}
				for what, out := range map[string]string{"set": set, "removed": gone} {
					// Blank lines where the entry is or was may be others.
					if rest, ok := strings.CutPrefix(out, strings.TrimRight(before, "\n")); !ok || !strings.Contains(rest, strings.Trim(after, "\n")) {
						t.Errorf("%s: %q became %q", what, in, out)
					}
				}
				if own == "" {
					if again, err := codex.Remove(in, "toolhost"); err != nil || again != in {
						t.Errorf("%q became %q, %v, where there was nothing to remove", in, again, err)
					}
				}
			}
		}
	}
	members := []string{"", `"a": {"toolhost": 1}`, `"b": "}//{" /* c */`, "// d {\n\"e\": [1,\n2,], /* f\n */ \"g\": 1 // h }\n", `"i": 1,"j": 2`}
	for _, before := range members {
		for _, own := range []string{"", `"toolhost": {}`, "/* k */ \"tool\\u0068ost\" : {\"n\": \"}\"} // o\n"} {
			for _, after := range members {
				for _, layout := range []string{"{%s}", "{\n  %s\n}\n", "// {\n{ \"mcpServers\": {%s}, \"p\": null }", "{\"q\": {\"mcpServers\": {}}, // r\n\t\"mcpServers\": { // {\n\t\t%s\n\t}\n} // s"} {
					if own != "" && !strings.Contains(layout, "mcpServers") {
						continue
					}
					inner := before
					for _, m := range []string{own, after} {
						if inner != "" && m != "" {
							inner += ",\n"
						}
						inner += strings.ReplaceAll(m, "a\": {", "a2\": {")
					}
					in := strings.ReplaceAll(layout, "%s", inner)
					set, err := cursor.Set(in, s)
					if err != nil {
						t.Fatalf("%q: %v", in, err)
					}
					gone, err := cursor.Remove(set, "toolhost")
					if err != nil {
						t.Fatalf("%q: %v", set, err)
					}
					was, said := plain(t, in)
					entry := map[string]any{"command": "/t", "args": []any{`a\u003cb<`}}
					if old, ok := servers(was)["toolhost"].(map[string]any); ok && old["n"] != nil {
						entry["n"] = old["n"]
					}
					delete(servers(was), "toolhost")
					for _, k := range []struct {
						text string
						want any
					}{{set, entry}, {gone, nil}} {
						got, says := plain(t, k.text)
						if entry := servers(got)["toolhost"]; !reflect.DeepEqual(entry, k.want) {
							t.Errorf("%q became %q", in, k.text)
						}
						delete(servers(got), "toolhost")
						if len(servers(got)) == 0 && len(servers(was)) == 0 {
							delete(got, "mcpServers")
							delete(was, "mcpServers")
						}
						if !reflect.DeepEqual(got, was) || !slices.Equal(says, said) {
							t.Errorf("%q became %q", in, k.text)
						}
					}
				}
			}
		}
	}
}

func servers(document map[string]any) map[string]any {
	m, _ := document["mcpServers"].(map[string]any)
	return m
}

// plain reads a text with comments, and gives these too.
func plain(t *testing.T, text string) (document map[string]any, comments []string) {
	t.Helper()
	parts := regexp.MustCompile(`(?s)"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/|.`)
	var b strings.Builder
	for _, part := range parts.FindAllString(text, -1) {
		if strings.HasPrefix(part, "/") {
			comments = append(comments, strings.TrimSpace(part))
			continue
		}
		b.WriteString(part)
	}
	one := regexp.MustCompile(`"(?:\\.|[^"\\])*"|,\s*[\]}]`).ReplaceAllStringFunc(b.String(), func(part string) string { return strings.TrimPrefix(part, ",") })
	if err := json.Unmarshal([]byte(one), &document); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return document, comments
}

func FuzzSet(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"mcpServers":{"a":{},},}`, "// c\n{\"mcpServers\":/*x*/{}\n}", "a = 1\n[b]\n", "[mcp_servers.toolhost]\n",
		`{"mcpServers":{"toolhost":{"url":1,"a":{},"headers":{"authorization":1,},},}}`, "[mcp_servers.toolhost]\nhttp_headers = { a = 'b', } # c\nurl = ''\n# d\n[mcp_servers.toolhost.env]\nA = 1\n# e\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		for _, c := range Clients() {
			if there, err := c.Set(in, remote); err == nil {
				if over, err := c.Set(there, local); err == nil && strings.Contains(over, remote.Token) && !strings.Contains(in, remote.Token) {
					t.Fatalf("%s: the token stays in %q, which was %q", c.Name, over, in)
				}
			}
			got, err := c.Set(in, local)
			if err != nil {
				continue
			}
			gone, err := c.Remove(got, "toolhost")
			if err != nil {
				t.Fatalf("%s: %q became %q, from which it cannot be taken out: %v", c.Name, in, got, err)
			}
			if again, err := c.Remove(gone, "toolhost"); err != nil || again != gone {
				t.Fatalf("%s: %q, then %q, %v", c.Name, gone, again, err)
			}
			if strings.Count(got, "//") > strings.Count(in, "//")+4 {
				t.Fatalf("%s: comments grew", c.Name)
			}
		}
	})
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "real", "c.json")
	f, err := Open(path)
	if err != nil || f.Text != "" {
		t.Fatalf("%+v, %v", f, err)
	}
	if err := f.Write("one"); err != nil {
		t.Fatal(err)
	}
	mode := func(p string) os.FileMode {
		info, err := os.Lstat(p)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	if mode(path) != 0o600 {
		t.Errorf("mode %v", mode(path))
	}
	if err := f.Write("two"); err == nil {
		t.Error("it takes the place of a file that was not there")
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link.json")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	victim := filepath.Join(dir, "victim")
	if err := os.WriteFile(victim, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, path+BackupSuffix); err != nil {
		t.Fatal(err)
	}
	if f, err = Open(link); err != nil || f.Path != path || f.Text != "one" {
		t.Fatalf("%+v, %v", f, err)
	}
	if err := f.Write("two"); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]string{path: "two", path + BackupSuffix: "one", victim: "mine", link: "two"} {
		if got, err := os.ReadFile(p); err != nil || string(got) != want {
			t.Errorf("%s holds %q, %v", p, got, err)
		}
	}
	if mode(path) != 0o640 || mode(link)&os.ModeSymlink == 0 {
		t.Errorf("modes %v, %v", mode(path), mode(link))
	}
	if err := f.Write("three"); err == nil {
		t.Error("it writes over a change of another program")
	}
	if err := os.Chmod(path, 0o440); err != nil {
		t.Fatal(err)
	}
	if f, err = Open(path); err != nil {
		t.Fatal(err)
	}
	if err := f.Write("three"); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("a file that is read-only: %v", err)
	}
	if _, err := Open(dir); err == nil {
		t.Error("a folder is a configuration")
	}
	circle := filepath.Join(dir, "circle")
	_ = os.Symlink(circle, circle)
	if _, err := Open(circle); err == nil || !strings.Contains(err.Error(), circle) {
		t.Errorf("a link to itself: %v", err)
	}
	broken := filepath.Join(dir, "broken")
	_ = os.Symlink(filepath.Join(dir, "nowhere"), broken)
	if _, err := Open(broken); err == nil {
		t.Error("a link that leads nowhere is taken")
	}
}
