package mounted

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
)

// TestHiddenValues: what goes wrong with a server is told without what the configuration holds.
func TestHiddenValues(t *testing.T) {
	const secret = "hunter2/se cret"
	t.Setenv("MOUNTED_SECRET", secret)
	for name, c := range map[string]Config{
		"variable in the address": {URL: "http://127.0.0.1:1/mcp?token=${MOUNTED_SECRET}"},
		"parameter":               {URL: "http://127.0.0.1:1/mcp?token=hunter2%2Fse+cret"},
		"user":                    {URL: "http://u:hunter2%2Fse%20cret@127.0.0.1:1/mcp"},
		"scheme":                  {URL: "ftp://u:${MOUNTED_SECRET}@127.0.0.1:1/mcp"},
		"program":                 {Command: "no-such-${MOUNTED_SECRET}"},
		"last words":              {Command: "sh", Args: []string{"-c", "echo it is $KEY >&2"}, Env: map[string]string{"KEY": secret}},
	} {
		t.Run(name, func(t *testing.T) {
			_, s := mount(t, map[string]Config{"srv": c})
			st := s.Status()[0]
			if st.State != "failed" || st.Err == "" || strings.Contains(st.Err, "hunter2") {
				t.Errorf("status %+v", st)
			}
			if err := c.Check(); err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Error(err)
			}
		})
	}
	c := Config{Headers: map[string]string{"Authorization": "Bearer " + secret}}
	err := c.hide(errors.Join(fs.ErrClosed, errors.New("the token "+secret+" is wrong")))
	if want := "the token ${Authorization} is wrong"; !errors.Is(err, fs.ErrClosed) || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}
