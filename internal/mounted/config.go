package mounted

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/lazyregexp"
	"github.com/toolhost/toolhost/internal/suggest"
)

// Config says how a server is reached, in the form that MCP clients use.
type Config struct {
	Type     string            `json:"type"`
	Command  string            `json:"command"`
	Args     []string          `json:"args"`
	Env      map[string]string `json:"env"`
	Cwd      string            `json:"cwd"`
	URL      string            `json:"url"`
	Headers  map[string]string `json:"headers"`
	Disabled bool              `json:"disabled"`

	misspelt []string // keys that are near to one above, each with that one
}

// keys are those of a configuration, with how their values begin.
var keys = map[string]string{
	"type": `"`, "command": `"`, "args": "[", "env": "{", "cwd": `"`, "url": `"`, "headers": "{", "disabled": "tf",
}

// UnmarshalJSON reads an entry as MCP clients have it. Keys that it does not know are passed
// over, since other programs have more; those that look misspelt are told of.
func (c *Config) UnmarshalJSON(raw []byte) error {
	type plain Config // which has no methods
	if err := json.Unmarshal(raw, (*plain)(c)); err != nil {
		return err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	c.misspelt = nil
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if keys[strings.ToLower(name)] != "" {
			continue
		}
		var free []string
		for key, begin := range keys {
			if _, taken := fields[key]; !taken && strings.Contains(begin, string(fields[name][:1])) {
				free = append(free, key)
			}
		}
		slices.Sort(free)
		near := suggest.Nearest(name, free)
		if near == "type" && !slices.Contains(types, string(fields[name])) {
			continue // such as a title
		}
		if near != "" {
			c.misspelt = append(c.misspelt, fmt.Sprintf("its key %q is unknown; did you mean %q?", name, near))
		}
	}
	return nil
}

// types are the types of servers, as JSON.
var types = []string{`"stdio"`, `"http"`, `"streamable-http"`}

// check says what is wrong with a configuration, whatever the environment holds.
func (c Config) check() error {
	switch {
	case c.Command != "" && c.URL != "":
		return errors.New(`it has both "command" and "url"; keep one of them`)
	case c.Command == "" && c.URL == "":
		return errors.New(strings.Join(append([]string{`it has neither "command" nor "url"`}, c.misspelt...), "; "))
	case c.Command != "" && c.Type != "" && c.Type != "stdio":
		return fmt.Errorf(`its type is %q, but it has a "command"`, c.Type)
	case c.URL != "" && c.Type == "stdio":
		return errors.New(`its type is "stdio", but it has a "url"`)
	}
	return nil
}

// Check says what is wrong with a configuration on this machine, without starting anything.
func (c Config) Check() error {
	if err := c.check(); err != nil {
		return err
	}
	filled, err := c.expanded()
	err = c.hide(err)
	if err != nil || filled.Command == "" {
		return err
	}
	_, err = lookUp(filled.Command)
	return c.hide(err)
}

// lookUp gives the absolute path of a program.
func lookUp(command string) (string, error) {
	path, err := exec.LookPath(command)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return "", fmt.Errorf("looking for its command: %w", err)
	}
	return path, nil
}

// expanded gives the configuration with the variables of the environment filled in.
func (c Config) expanded() (Config, error) {
	var wrong error
	fill := func(text string) string {
		out, err := expand(text, os.LookupEnv)
		wrong = errors.Join(wrong, err)
		return out
	}
	c.Command, c.URL, c.Cwd = fill(c.Command), fill(c.URL), fill(c.Cwd)
	args := make([]string, len(c.Args))
	for i, arg := range c.Args {
		args[i] = fill(arg)
	}
	c.Args, c.Env, c.Headers = args, maps.Clone(c.Env), maps.Clone(c.Headers)
	for _, m := range []map[string]string{c.Env, c.Headers} {
		for name, value := range m {
			m[name] = fill(value)
		}
	}
	if wrong != nil {
		return c, wrong
	}
	if c.URL != "" {
		u, err := url.Parse(c.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return c, fmt.Errorf("its url %.200q is no http or https address", c.URL)
		}
	}
	return c, nil
}

var variable = lazyregexp.New(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-[^}]*)?\}`)

// expand fills in ${NAME} and ${NAME:-default}. What else has a dollar stays as it is.
func expand(text string, lookup func(string) (string, bool)) (string, error) {
	var missing error
	out := variable.ReplaceAllStringFunc(text, func(found string) string {
		parts := variable.FindStringSubmatch(found)
		if value, set := lookup(parts[1]); set && (value != "" || parts[2] == "") {
			return value
		}
		if parts[2] == "" {
			missing = errors.Join(missing, fmt.Errorf("the variable %s of the environment is not set", parts[1]))
			return found
		}
		return strings.TrimPrefix(parts[2], ":-")
	})
	return out, missing
}
