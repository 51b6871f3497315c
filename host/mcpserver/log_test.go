package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestLogMessagesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, newHost(t), nil)
		c.send(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"probe","version":"1"}}}`)
		c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
		c.send(`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"debug"}}`)
		c.take()
		for i := range 1000 {
			c.server.LogMessage("info", "test", i)
		}
		if n := len(c.take()); n == 0 || n > maxLogRate {
			t.Errorf("%d messages of 1000 in one moment; at most %d expected", n, maxLogRate)
		}
		time.Sleep(time.Second)
		c.server.LogMessage("info", "test", strings.Repeat("x", 1<<20))
		c.server.LogMessage("info", "test", func() {})
		lines := c.take()
		if len(lines) != 2 || len(lines[0]) > maxLogData || !strings.Contains(lines[1], "no JSON value") {
			t.Errorf("came: %.300q", lines)
		}
		c.server.Close()
		c.server.LogMessage("info", "test", "after the end")
		if lines := c.take(); len(lines) != 0 {
			t.Errorf("came after Close: %q", lines)
		}
		c.in.Close()
		if err := c.ended(); err != nil {
			t.Error(err)
		}
	})
}

// A client that does not read holds up its own messages only, and not for long.
func TestLogMessageWaitsForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMessages()
		defer m.close()
		var sent []string
		for i := range 3 {
			//lint:ignore SA1019 see Server
			m.put(logParams("info", "", fmt.Sprint(i)), func(ctx context.Context, p *mcp.LoggingMessageParams) {
				ctx, cancel := context.WithTimeout(ctx, logWait)
				defer cancel()
				<-ctx.Done()
				sent = append(sent, fmt.Sprintf("%s", p.Data))
			})
		}
		time.Sleep(3*logWait + time.Millisecond)
		synctest.Wait()
		if got := strings.Join(sent, " "); got != `"0" "1" "2"` {
			t.Errorf("sent %s", got)
		}
	})
}
