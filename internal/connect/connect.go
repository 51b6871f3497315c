// Package connect writes an MCP server into the configurations of the programs that
// speak to MCP servers, and takes it out again. It changes how that server is reached
// and nothing else: comments, order and what it does not know stay as they are written, also in
// the entry of the server.
//
//	client := connect.Clients()[i]
//	file, err := connect.Open(client.File(place))
//	text, err := client.Set(file.Text, connect.Server{Name: "toolhost", Command: argv})
//	err = file.Write(text)
package connect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

// Server is what is written.
type Server struct {
	Name    string
	Command []string // the program, as an absolute path, and its arguments
	// URL is where the server is reached by HTTP instead; Token is its bearer token.
	URL, Token string
}

// Place says where to look for configurations.
type Place struct {
	Home string
	OS   string // as runtime.GOOS has it
	// Env gives a variable of the environment.
	Env func(string) string
}

// Client is a program that speaks to MCP servers.
type Client struct {
	Name string
	// File gives its configuration.
	File func(Place) string
	// Note is what to do after a change; it may be empty.
	Note string

	key   string // of the object that holds the servers
	toml  bool
	entry func(Server) (fields, error)
}

// field and fields are an object whose members have an order.
type field struct {
	name  string
	value any
}
type fields []field

// MarshalJSON writes the members in their order.
func (f fields) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range f {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(jsondoc.Quote(m.name))
		b.WriteByte(':')
		b.Write(jsondoc.Marshal(m.value))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

var _ json.Marshaler = fields(nil)

// has reports whether there is a member of that name.
func (f fields) has(name string) bool {
	return slices.ContainsFunc(f, func(m field) bool { return m.name == name })
}

// spelledOtherwise reports whether a name is that of a member but for case. The only
// objects in entries hold headers, of which the case does not count.
func (f fields) spelledOtherwise(name, _ string) bool {
	return slices.ContainsFunc(f, func(m field) bool { return m.name != name && strings.EqualFold(m.name, name) })
}

// errNoHTTP says that a client has no servers over HTTP in its configuration.
var errNoHTTP = errors.New("its configuration file takes no servers over HTTP; leave --url out, and it starts toolhost itself")

func headers(s Server) fields { return fields{{"Authorization", "Bearer " + s.Token}} }

// withHeaders adds the token where there is one.
func withHeaders(f fields, name string, s Server) fields {
	if s.Token == "" {
		return f
	}
	return append(f, field{name, headers(s)})
}

// command gives the program and its arguments as most clients want them.
func command(s Server) fields {
	return fields{{"command", s.Command[0]}, {"args", s.Command[1:]}}
}

// entry makes the entry function of clients that differ only in names: before stands
// before a command, urlName names the address, and kind is the type of one, if it has any.
func entry(before fields, urlName, kind string) func(Server) (fields, error) {
	return func(s Server) (fields, error) {
		if s.URL == "" {
			return append(slices.Clone(before), command(s)...), nil
		}
		var f fields
		if kind != "" {
			f = fields{{"type", kind}}
		}
		return withHeaders(append(f, field{urlName, s.URL}), "headers", s), nil
	}
}

// Clients gives the clients that are known, by name.
func Clients() []*Client {
	below := func(parts ...string) func(Place) string {
		return func(p Place) string { return filepath.Join(append([]string{p.Home}, parts...)...) }
	}
	return []*Client{
		{
			Name: "claude-code", key: "mcpServers", entry: entry(fields{{"type", "stdio"}}, "url", "http"),
			File: func(p Place) string {
				if dir := p.Env("CLAUDE_CONFIG_DIR"); filepath.IsAbs(dir) {
					return filepath.Join(dir, ".claude.json")
				}
				return filepath.Join(p.Home, ".claude.json")
			},
			Note: "restart Claude Code, or type /mcp in it",
		},
		{
			Name: "claude-desktop", key: "mcpServers", File: func(p Place) string { return p.appFile("Claude", "claude_desktop_config.json") },
			entry: func(s Server) (fields, error) {
				if s.URL != "" {
					return nil, errNoHTTP
				}
				return command(s), nil
			},
			Note: "restart Claude Desktop",
		},
		{
			Name: "codex", key: "mcp_servers", toml: true,
			File: func(p Place) string {
				if dir := p.Env("CODEX_HOME"); filepath.IsAbs(dir) {
					return filepath.Join(dir, "config.toml")
				}
				return filepath.Join(p.Home, ".codex", "config.toml")
			},
			entry: func(s Server) (fields, error) {
				if s.URL != "" {
					return withHeaders(fields{{"url", s.URL}}, "http_headers", s), nil
				}
				return command(s), nil
			},
			Note: "restart Codex",
		},
		{Name: "cursor", key: "mcpServers", File: below(".cursor", "mcp.json"), entry: entry(nil, "url", "")},
		{Name: "gemini", key: "mcpServers", File: below(".gemini", "settings.json"), entry: entry(nil, "httpUrl", ""), Note: "restart Gemini CLI, or type /mcp refresh in it"},
		{
			Name: "opencode", key: "mcp", File: func(p Place) string { return filepath.Join(p.configDir(), "opencode", "opencode.json") },
			entry: func(s Server) (fields, error) {
				if s.URL != "" {
					return withHeaders(fields{{"type", "remote"}, {"url", s.URL}, {"enabled", true}}, "headers", s), nil
				}
				return fields{{"type", "local"}, {"command", s.Command}, {"enabled", true}}, nil
			},
		},
		{Name: "qwen", key: "mcpServers", File: below(".qwen", "settings.json"), entry: entry(nil, "httpUrl", ""), Note: "restart Qwen Code"},
		{
			Name: "vscode", key: "servers", entry: entry(fields{{"type", "stdio"}}, "url", "http"),
			File: func(p Place) string { return p.appFile("Code", "User", "mcp.json") },
		},
		{Name: "zed", key: "context_servers", File: func(p Place) string { return filepath.Join(p.configDir(), "zed", "settings.json") }, entry: entry(nil, "url", "")},
	}
}

// configDir is where programs keep their configurations, also on macOS for those that
// come from Linux.
func (p Place) configDir() string {
	if dir := p.Env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(p.Home, ".config")
}

// appFile is a file of a program with windows.
func (p Place) appFile(parts ...string) string {
	base := p.configDir()
	switch p.OS {
	case "darwin":
		base = filepath.Join(p.Home, "Library", "Application Support")
	case "windows":
		if base = p.Env("APPDATA"); !filepath.IsAbs(base) {
			base = filepath.Join(p.Home, "AppData", "Roaming")
		}
	}
	return filepath.Join(append([]string{base}, parts...)...)
}

// ofOtherWay reports whether a member of an entry, whose value is written as JSON, is about another way to reach
// the server than the one that is written: clients refuse an entry with both, or take the
// wrong one. What the user says of the server itself (how long to wait, what to trust)
// holds either way.
func (s Server) ofOtherWay(name, value string) bool {
	switch name {
	case "url", "httpUrl", "tcp":
		return true // an address, and not the one that is written
	case "command", "args", "env", "environment", "env_vars", "envFile", "cwd":
		return s.URL != ""
	case "headers", "http_headers", "env_http_headers", "headersHelper", "bearer_token", "bearer_token_env_var",
		"oauth", "oauth_resource", "auth", "authProviderType", "targetAudience", "targetServiceAccount":
		return s.URL == ""
	case "type":
		if s.URL == "" {
			return value != `"stdio"` && value != `"local"`
		}
		return value != `"http"` && value != `"streamable-http"` && value != `"remote"`
	}
	return false
}

// Set gives the text of a configuration with the server in it. Of an entry that is there, members
// that are not about how the server is reached stay as they are written.
func (c *Client) Set(text string, s Server) (string, error) {
	value, err := c.entry(s)
	if err != nil {
		return "", err
	}
	return c.change(text, s.Name, value, s.ofOtherWay)
}

// Remove gives the text of a configuration without the server of that name.
func (c *Client) Remove(text, name string) (string, error) { return c.change(text, name, nil, nil) }

// mark is the byte order mark with which some editors begin a file.
const mark = "\ufeff"

func (c *Client) change(text, name string, value fields, other func(name, value string) bool) (string, error) {
	set := setJSON
	if c.toml {
		set = setTOML
	}
	text, hasMark := strings.CutPrefix(text, mark)
	windows := strings.Contains(text, "\n") && strings.Count(text, "\r\n") == strings.Count(text, "\n")
	if windows {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	out, err := set(text, c.key, name, value, other)
	if err != nil {
		return "", err
	}
	// What was written must be what a program reads.
	if again, err := set(out, c.key, name, value, other); err != nil || again != out {
		return "", fmt.Errorf("the change would not hold; write it by hand: %w", errors.Join(err))
	}
	if windows {
		out = strings.ReplaceAll(out, "\n", "\r\n")
	}
	if hasMark {
		out = mark + out
	}
	return out, nil
}
