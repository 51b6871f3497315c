package host

import (
	"encoding/json"
	"errors"
)

// UnmarshalJSON reads a block as MCP has it on the wire, and as [Content.MarshalJSON]
// writes it. Lone surrogates become U+FFFD. The error says what is wrong with it.
func (c *Content) UnmarshalJSON(raw []byte) error {
	if !json.Valid(raw) {
		return errors.New("the block is no valid JSON")
	}
	block, _, wrong := parseBlock(repairSurrogates(raw))
	if wrong != "" {
		return errors.New(wrong)
	}
	*c = block
	return nil
}
