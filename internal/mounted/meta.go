package mounted

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// reservedMeta begins the names in _meta that have a meaning for the protocol itself.
const reservedMeta = "io.modelcontextprotocol/"

// meta gives what of a client's _meta goes on to the server, digit by digit. What it says of the
// connection between the client and this host is left out: the one to the server is another. A trace
// context goes on, as this host puts none of its own there.
func meta(said json.RawMessage, limit int) (mcp.Meta, error) {
	if len(said) > limit {
		return nil, fmt.Errorf("the _meta of the call is %d bytes; the limit is %d bytes", len(said), limit)
	}
	var members map[string]json.RawMessage
	if len(said) > 0 && json.Unmarshal(said, &members) != nil {
		return nil, errors.New("the _meta of the call is no JSON object")
	}
	out := mcp.Meta{}
	for name, value := range members {
		if name != "progressToken" && !strings.HasPrefix(name, reservedMeta) {
			out[name] = value
		}
	}
	return out, nil
}
