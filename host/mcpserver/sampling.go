package mcpserver

//lint:file-ignore SA1019 Clients of the older revisions offer sampling still.

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/host"
)

// maxSampled is how many tokens a client's model may give for one prompt.
const maxSampled = 4096

// completer lets a call ask the client's model, where the client offers it; nil elsewhere.
// The stateless revision has no requests to clients.
func completer(session *mcp.ServerSession) func(context.Context, *host.Prompt) (string, error) {
	if session == nil {
		return nil
	}
	params := session.InitializeParams()
	if params == nil || params.ProtocolVersion >= statelessRevision || params.Capabilities == nil || params.Capabilities.Sampling == nil {
		return nil
	}
	return func(ctx context.Context, prompt *host.Prompt) (string, error) {
		result, err := session.CreateMessage(ctx, &mcp.CreateMessageParams{
			Messages: sampled(prompt), MaxTokens: maxSampled,
		})
		if err != nil && ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if err != nil {
			return "", fmt.Errorf("asking the agent's model: %w", err)
		}
		text, ok := result.Content.(*mcp.TextContent)
		if !ok {
			return "", errors.New("the agent's model answered without a text")
		}
		return text.Text, nil
	}
}

// sampled gives a prompt as messages: one has one block in most revisions.
func sampled(prompt *host.Prompt) []*mcp.SamplingMessage {
	var messages []*mcp.SamplingMessage
	for _, image := range prompt.Images {
		messages = append(messages, &mcp.SamplingMessage{Role: "user", Content: &mcp.ImageContent{Data: image.Data, MIMEType: image.MIMEType}})
	}
	return append(messages, &mcp.SamplingMessage{Role: "user", Content: &mcp.TextContent{Text: prompt.Text}})
}
