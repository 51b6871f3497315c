package host_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/host"
)

func TestWaiting(t *testing.T) {
	h := host.New(&host.Options{Waiting: func(tool string) (plugin, allow string) {
		if tool == "bite" {
			return "ant", "toolhost consent approve ant"
		}
		return "", ""
	}})
	told := ""
	defer h.Observe(observed(func(e host.Event) { told = e.Err.Error() }))()
	for tool, want := range map[string]string{"bite": "toolhost consent approve ant", "dig": `unknown tool "dig"`} {
		_, err := h.Call(t.Context(), &host.Call{Tool: tool})
		var unknown *host.UnknownToolError
		if !errors.As(err, &unknown) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", tool, err, want)
		}
		if told != err.Error() { // an error that changed later would be read while it is written
			t.Errorf("%s: observers are told %q, the caller %v", tool, told, err)
		}
	}
}

type observed func(host.Event)

func (f observed) Observe(e host.Event) { f(e) }
