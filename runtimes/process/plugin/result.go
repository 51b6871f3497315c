package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	pb "github.com/toolhost/toolhost/runtimes/process/plugin/pluginpb"
)

// Result is a result in blocks, for images and for more than one text.
type Result struct {
	// Content has 1 to 16 blocks.
	Content []Content `json:"content"`
	// IsError says that the call failed; an error from the handler is the shorter way.
	IsError bool `json:"isError,omitempty"`
	// Structured is an object for programs that read the result; nil for none.
	Structured any `json:"structuredContent,omitempty"`
}

// Content is one block of a [Result], as MCP defines it.
type Content struct {
	Type     string `json:"type"`               // "text", "image", "audio"
	Text     string `json:"text,omitempty"`     // of a text
	Data     []byte `json:"data,omitempty"`     // of an image or a sound
	MIMEType string `json:"mimeType,omitempty"` // of Data
}

// MarshalJSON writes a text block with its text, even where that is empty.
func (c Content) MarshalJSON() ([]byte, error) {
	if c.Type == "text" {
		return marshal(struct {
			Type string `json:"type"`
			Text string `json:"text"`
		}{c.Type, c.Text})
	}
	type plain Content
	return marshal(plain(c))
}

// Text makes a text block.
func Text(text string) Content { return Content{Type: "text", Text: text} }

// Image makes an image block. mimeType is a type such as "image/png".
func Image(data []byte, mimeType string) Content {
	return Content{Type: "image", Data: data, MIMEType: mimeType}
}

// outcome turns what a handler returned into its message.
func outcome(value any, err error) *pb.Result {
	if err != nil {
		return &pb.Result{Outcome: &pb.Result_Error{Error: valid(err.Error())}}
	}
	switch v := value.(type) {
	case nil:
		return &pb.Result{}
	case string:
		return &pb.Result{Outcome: &pb.Result_Text{Text: valid(v)}}
	}
	raw, err := marshal(value)
	if err != nil {
		return &pb.Result{Outcome: &pb.Result_Error{Error: valid(fmt.Sprintf("the result of the handler is no JSON: %v", err))}}
	}
	return &pb.Result{Outcome: &pb.Result_Value{Value: raw}}
}

// marshal writes a value as JSON, with < and > for themselves: models read it.
func marshal(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// valid makes a text UTF-8, as messages must be.
func valid(text string) string { return strings.ToValidUTF8(text, "\ufffd") }
