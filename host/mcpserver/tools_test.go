package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/schema"
)

// What stands for the list in the SDK's tool set is no tool, and there is no second page.
func TestListMark(t *testing.T) {
	eras(t, func(t *testing.T, stateless bool) {
		s := New(newHost(t, kit()...), nil)
		defer s.Close()
		session := connectSDK(t, s, stateless)
		list, err := session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range list.Tools {
			if tool.Name == changeMark {
				t.Errorf("%q is listed", tool.Name)
			}
		}
		var refused *jsonrpc.Error
		if _, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: changeMark}); !errors.As(err, &refused) || refused.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("calling it gives %v", err)
		}
		if _, err := session.ListTools(t.Context(), &mcp.ListToolsParams{Cursor: "no page"}); !errors.As(err, &refused) || refused.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("a page that there is not gives %v", err)
		}
	})
}

// The SDK checks headers that stand for arguments as long as the tool's schema names them.
func TestHeadersOfArguments(t *testing.T) {
	named := func(text string) *host.Tool {
		input, err := schema.Compile(json.RawMessage(text))
		if err != nil {
			t.Fatal(err)
		}
		tool := toolNamed("place", func(context.Context, *host.Call) (*host.Result, error) { return nil, nil })
		tool.Input, tool.InputSchema = input, input.Public()
		return tool
	}
	with := named(`{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`)
	without := named(`{"type":"object","properties":{"region":{"type":"string"}}}`)
	h := newHost(t, with)
	w := serveHTTP(t, h, nil, nil)
	for i, tool := range []*host.Tool{with, without, with} {
		register(t, h, "kit", tool)
		w.server.publish()
		status, body, _ := w.ask(t, w.call(t.Context(), true, "", "1", "place", `{"region":"north"}`))
		if refused := status == 400 && strings.Contains(body, "Region"); refused != (tool == with) {
			t.Errorf("%d: a call without the header gives %d %s", i, status, body)
		}
	}
	register(t, h, "kit")
	w.server.publish()
	if status, body, _ := w.ask(t, w.call(t.Context(), true, "", "1", "place", `{"region":"north"}`)); strings.Contains(body, "Region") {
		t.Errorf("of a tool that is gone the header counts: %d %s", status, body)
	}
}
