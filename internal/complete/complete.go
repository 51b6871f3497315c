// Package complete has a model complete prompts: by a program of the user, or over HTTP.
//
//	c, err := complete.New(&complete.Config{Command: []string{"llm", "-m", "small"}}, nil)
//	text, err := c.Complete(ctx, &host.Prompt{Text: "Say hello."})
//
// [New] makes a [Completer] from a [Config]. A program gets the prompt on its standard input
// and writes the text to its standard output. Over HTTP it is the chat interface that
// OpenAI has, and many others too, local ones included.
package complete

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolhost/toolhost/host"
)

const (
	// maxPrompt and maxText are how many bytes a prompt and a completion may have.
	maxPrompt = 1 << 20
	maxText   = 1 << 20
	// maxAtOnce is how many completions run at once; further ones wait.
	maxAtOnce = 4
	// defaultTimeout is how long a completion may take where the configuration does not say it.
	defaultTimeout = 2 * time.Minute
)

// Config says which model completes prompts: Command, or URL with Model.
type Config struct {
	// Command is a program and its arguments. It runs with the environment and the rights
	// of the user, whose program it is.
	Command []string `json:"command"`
	// URL is where chat completions are, such as "https://api.openai.com/v1" or
	// "http://localhost:11434/v1".
	URL string `json:"url"`
	// Model is the model's name there.
	Model string `json:"model"`
	// KeyEnv is the name of the environment variable that holds the key, which is sent as
	// "Authorization: Bearer …"; "" sends none.
	KeyEnv string `json:"key-env"`
	// HeadersEnv are further headers, each with the name of the environment variable that
	// holds its value.
	HeadersEnv map[string]string `json:"headers-env"`
	// Timeout of a completion, such as "30s"; 2 min where it is empty.
	Timeout string `json:"timeout"`
}

// Completer completes prompts. It is safe for concurrent use.
type Completer struct {
	config  Config
	program string // the command's, absolute
	client  *http.Client
	timeout time.Duration
	turns   chan struct{}
	log     *slog.Logger
}

// New checks a configuration. log takes what a program says on standard error; it may be
// nil.
func New(config *Config, log *slog.Logger) (*Completer, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	c := &Completer{config: *config, timeout: defaultTimeout, turns: make(chan struct{}, maxAtOnce), log: log}
	if config.Timeout != "" {
		d, err := time.ParseDuration(config.Timeout)
		if err != nil || d <= 0 {
			return nil, fmt.Errorf("the timeout %q is no time such as \"30s\"", config.Timeout)
		}
		c.timeout = d
	}
	switch {
	case len(config.Command) > 0 && config.URL != "":
		return nil, errors.New(`there are a "command" and a "url"; one of them must go`)
	case len(config.Command) > 0:
		found, err := exec.LookPath(config.Command[0])
		if err != nil {
			return nil, fmt.Errorf("looking for the program %q: %w", config.Command[0], errors.Unwrap(err))
		}
		if c.program, err = filepath.Abs(found); err != nil {
			return nil, err
		}
	case config.URL != "":
		if err := c.prepareHTTP(); err != nil {
			return nil, err
		}
	default:
		return nil, errors.New(`there is neither a "command" nor a "url"`)
	}
	return c, nil
}

// Complete completes a prompt. The error has no secret in it: plugins see it.
func (c *Completer) Complete(ctx context.Context, prompt *host.Prompt) (string, error) {
	if err := c.check(prompt); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, fmt.Errorf("the model did not answer within %s", c.timeout))
	defer cancel()
	select {
	case c.turns <- struct{}{}:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	defer func() { <-c.turns }()
	var text string
	var err error
	if c.program != "" {
		text, err = c.run(ctx, prompt.Text)
	} else {
		text, err = c.post(ctx, prompt)
	}
	if err != nil && ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err == nil && !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\ufffd")
	}
	return text, err
}

// check says why a prompt cannot be completed.
func (c *Completer) check(prompt *host.Prompt) error {
	switch {
	case len(prompt.Text) > maxPrompt:
		return fmt.Errorf("the prompt has %d bytes; the limit is %d bytes", len(prompt.Text), maxPrompt)
	case len(prompt.Images) > 0 && c.program != "":
		return errors.New(`the model's program reads a text and sees no images; the host's configuration can name a service with a "url" instead, under "ai"`)
	}
	return nil
}

// Close ends the connections that wait for another use.
func (c *Completer) Close() {
	if c.client != nil {
		c.client.CloseIdleConnections()
	}
}

// secret gives the value of a variable.
func secret(name string) (string, error) {
	value := os.Getenv(name)
	if value == "" {
		return "", fmt.Errorf("the environment variable %q, which the host's configuration names for the model, is not set", name)
	}
	return value, nil
}
