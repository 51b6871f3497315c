package node

import (
	"context"
	"log/slog"
	"testing"

	"github.com/toolhost/toolhost/permissions"
)

// TestGuardedJSONCallsTheEngine would end the process where a guard called itself.
func TestGuardedJSONCallsTheEngine(t *testing.T) {
	e := newEngine(context.Background(), "/plugin", &permissions.Grant{}, slog.New(slog.DiscardHandler))
	e.guard(guardsFor("JSON.parse, JSON.stringify", computed{}))
	v, err := e.vm.RunString(`JSON.stringify(JSON.parse('{"a":[1]}', (k, v) => v))`)
	if err != nil || v.String() != `{"a":[1]}` {
		t.Errorf("got %v, %v", v, err)
	}
}
