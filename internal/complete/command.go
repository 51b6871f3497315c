package complete

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/child"
	"github.com/toolhost/toolhost/permissions/sandbox"
)

// stopGrace is how long a program may take to end that is not needed any more.
const stopGrace = 250 * time.Millisecond

// run has the user's program complete a prompt.
func (c *Completer) run(ctx context.Context, prompt string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	p, err := child.Start(ctx, &child.Options{
		Argv: append([]string{c.program}, c.config.Command[1:]...), Env: os.Environ(), Dir: dir,
		Mode: sandbox.Off, Log: c.log, Supervise: true, // it is the user's, and in no namespace
	})
	if err != nil {
		return "", fmt.Errorf("the model's program: %w", err)
	}
	defer p.Stop(stopGrace)
	defer context.AfterFunc(ctx, func() { p.Stop(0) })()
	wrote := make(chan struct{})
	go func() {
		defer close(wrote)
		_, _ = io.WriteString(p.Stdin(), prompt) // a program may answer without reading it all
		_ = p.Stdin().Close()
	}()
	text, err := io.ReadAll(io.LimitReader(p.Stdout(), maxText+1))
	if len(text) > maxText {
		p.Stop(0)
		<-wrote
		return "", fmt.Errorf("the model's program wrote more than %d bytes", maxText)
	}
	if err == nil {
		select {
		case <-p.Done():
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	_ = p.Stdin().Close()
	<-wrote
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", fmt.Errorf("reading what the model's program writes: %w", err)
	case p.Err() != nil:
		return "", fmt.Errorf("the model's program ended with %w", withTail(p))
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// withTail gives how a program ended, with the last lines that it said.
func withTail(p *child.Process) error {
	const lines, limit = 5, 500
	if tail := child.LastLines(p.Tail(), lines, limit); tail != "" {
		return fmt.Errorf("%w: %s", p.Err(), tail)
	}
	return p.Err()
}
