package permissions

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	good := &Policy{
		FS: FSPolicy{
			Read:  Access{Paths: []string{"docs/**", "plugin:assets/**", "./x", "~/y", "a..b", "{a,b}/*.[ch]", "docs/"}, Deny: []string{"**/.env", "plugin:x"}},
			Write: Access{Paths: []string{"out"}, Deny: []string{"**"}},
			List:  &Access{Paths: []string{"**"}},
		},
		Fetch: HostPolicy{Static: []string{"api.example.com", "*.example.org:8443", "localhost", "127.0.0.1:8080", "[::1]:80", "[2001:db8::1]", "API.Example.com", "a_b.example.com"}, Settings: []string{"my-plugin.url"}},
		Net:   HostPolicy{Static: []string{"mail.example.com:993"}, Settings: []string{"email.smtpHost"}},
		Env:   []string{"LANG", "_x1"},
	}
	for _, p := range good.Check() {
		t.Errorf("%+v", p)
	}
	for _, p := range []*Policy{nil, {}} {
		if got := p.Check(); len(got) > 0 {
			t.Errorf("%+v", got)
		}
	}
	access := func(kind string, a Access) *Policy {
		switch kind {
		case "read":
			return &Policy{FS: FSPolicy{Read: a}}
		case "write":
			return &Policy{FS: FSPolicy{Write: a}}
		}
		return &Policy{FS: FSPolicy{List: &a}}
	}
	for _, tt := range []struct {
		policy               *Policy
		pointer, text, hints string
	}{
		{access("read", Access{Paths: []string{"ok", "/etc/**"}}), "/fs/read/paths/1", `must not begin with "/"`, `"etc/**"`},
		{access("read", Access{Paths: []string{"/"}}), "/fs/read/paths/0", `must not begin with "/"`, "docs/**"},
		{access("read", Access{Deny: []string{"a/../b"}}), "/fs/read/deny/0", `".."`, "nothing outside"},
		{access("read", Access{Paths: []string{"plugin:../x"}}), "/fs/read/paths/0", `".."`, ""},
		{access("read", Access{Paths: []string{"plugin:/x"}}), "/fs/read/paths/0", `"/"`, `"plugin:x"`},
		{access("list", Access{Paths: []string{"["}}), "/fs/list/paths/0", "not closed", "backslash"},
		{access("list", Access{Paths: []string{""}}), "/fs/list/paths/0", "empty", "docs/**"},
		{access("write", Access{Paths: []string{"plugin:data"}}), "/fs/write/paths/0", "never allowed", "ctx.store"},
		{access("write", Access{Deny: []string{strings.Repeat("{a,b}", 20)}}), "/fs/write/deny/0", "alternatives", "split"},
		{access("write", Access{Paths: []string{"a\x00"}}), "/fs/write/paths/0", "NUL", ""},
		{&Policy{Fetch: HostPolicy{Static: []string{"https://api.example.com/v1"}}}, "/fetch/static/0", "without a scheme", `"api.example.com"`},
		{&Policy{Fetch: HostPolicy{Static: []string{"api.example.com/v1"}}}, "/fetch/static/0", "without a path", `"api.example.com"`},
		{&Policy{Fetch: HostPolicy{Static: []string{"*"}}}, "/fetch/static/0", "two labels", ""},
		{&Policy{Fetch: HostPolicy{Static: []string{"*.com"}}}, "/fetch/static/0", "two labels", ""},
		{&Policy{Fetch: HostPolicy{Static: []string{"a.*.com"}}}, "/fetch/static/0", "no host name", ""},
		{&Policy{Fetch: HostPolicy{Static: []string{"bücher.example"}}}, "/fetch/static/0", "no host name", "xn--"},
		{&Policy{Fetch: HostPolicy{Static: []string{""}}}, "/fetch/static/0", "empty", ""},
		{&Policy{Fetch: HostPolicy{Static: []string{"a b"}}}, "/fetch/static/0", "no host name", ""},
		{&Policy{Fetch: HostPolicy{Static: []string{"me@example.com"}}}, "/fetch/static/0", "user", ""},
		{&Policy{Fetch: HostPolicy{Static: []string{"example.com:0"}}}, "/fetch/static/0", "no port", ""},
		{&Policy{Fetch: HostPolicy{Static: []string{"example.com:70000"}}}, "/fetch/static/0", "no port", ""},
		{&Policy{Fetch: HostPolicy{Static: []string{"example.com:"}}}, "/fetch/static/0", "no port", ""},
		{&Policy{Fetch: HostPolicy{Static: []string{"::1"}}}, "/fetch/static/0", "brackets", `"[::1]"`},
		{&Policy{Fetch: HostPolicy{Static: []string{"[::1"}}}, "/fetch/static/0", "no IPv6", ""},
		{&Policy{Fetch: HostPolicy{Static: []string{"[fe80::1%eth0]"}}}, "/fetch/static/0", "no IPv6", ""},
		{&Policy{Fetch: HostPolicy{Static: []string{"0x7f.1"}}}, "/fetch/static/0", "four decimal numbers", ""},
		{&Policy{Fetch: HostPolicy{Static: []string{"2130706433:80"}}}, "/fetch/static/0", "four decimal numbers", ""},
		{&Policy{Fetch: HostPolicy{Static: []string{"*.10.0.0.1"}}}, "/fetch/static/0", "nothing below", ""},
		{&Policy{Net: HostPolicy{Static: []string{"-a.example"}}}, "/net/static/0", "no host name", ""},
		{&Policy{Net: HostPolicy{Settings: []string{"ok", ""}}}, "/net/settings/1", "no key", ""},
		{&Policy{Fetch: HostPolicy{Settings: []string{"http://x"}}}, "/fetch/settings/0", "no key", ""},
		{&Policy{Env: []string{"A", "B=1"}}, "/env/1", "no name", ""},
		{&Policy{Env: []string{"1A"}}, "/env/0", "no name", ""},
		{&Policy{Env: []string{""}}, "/env/0", "no name", ""},
	} {
		got := tt.policy.Check()
		if len(got) != 1 || got[0].Pointer != tt.pointer || !strings.Contains(got[0].Message, tt.text) || !strings.Contains(got[0].Hint, tt.hints) || got[0].Hint == "" && !strings.Contains(tt.text, "NUL") {
			t.Errorf("%s %s: %+v", tt.pointer, tt.text, got)
		}
	}
	if got := access("read", Access{Paths: []string{"/a", "["}, Deny: []string{".."}}).Check(); len(got) != 3 {
		t.Errorf("not all at once: %+v", got)
	}
}
