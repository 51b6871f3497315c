// Package devui shows an author what happens to plugins while they are written: what is
// loaded, what is wrong with its place in the source, every call with its arguments, log
// lines and result. It is one screen on a terminal ([Run]), or plain lines ([Print]); both
// show what a [Feed] collects.
//
//	feed := devui.NewFeed()
//	h.Observe(feed)
//	l := loader.New(h, rts, &loader.Options{Dirs: dirs, Observe: feed.Load})
//	err := devui.Run(ctx, feed, os.Stdin, os.Stdout, &devui.Options{Tools: h.Tools, Call: call})
//
// It loads, calls and serves nothing itself.
package devui

import (
	"context"
	"errors"
	"fmt"
	"io"

	tea "charm.land/bubbletea/v2"

	"github.com/toolhost/toolhost/host"
)

// Options say what a screen shows and does. The functions are called one at a time, Call
// and Test on goroutines of their own.
type Options struct {
	// Title says what is developed, and Address where it is served; "" for nowhere.
	Title, Address string
	// Tools gives the tools that can be called, in their order; nil for none.
	Tools func() []host.Registered
	// Arguments gives what stands in the argument line when a tool is chosen, and Remember
	// takes what it was called with; both may be nil.
	Arguments func(tool string) string
	Remember  func(tool, line string)
	// Call calls a tool with what stands in the argument line. What comes of it is shown when
	// it comes through the feed; the error says why there was no call. nil can call nothing.
	Call func(ctx context.Context, tool, line string) error
	// Test runs the plugins' own tests, and says in the feed what comes of it; nil for none.
	Test func(ctx context.Context) error
	// TestOnReload is told whether the tests are to run after each load, which is what
	// Testing says at first; nil where that cannot be.
	TestOnReload func(on bool)
	Testing      bool
}

// Run shows a screen until its user quits or ctx ends. in and out are a terminal, which is
// left as it was. The error says why there is no screen.
func Run(ctx context.Context, feed *Feed, in io.Reader, out io.Writer, options *Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := tea.NewProgram(newModel(ctx, feed, options), tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler())
	_, err := p.Run()
	if err == nil || ctx.Err() != nil && !errors.Is(err, tea.ErrProgramPanic) {
		return nil
	}
	return fmt.Errorf("drawing the screen: %w", err)
}

// Print writes what a feed collects as plain lines, until ctx ends and all of it is written.
// The error is that of the writer.
func Print(ctx context.Context, feed *Feed, w io.Writer) error {
	for {
		updates, err := feed.Next(ctx)
		for _, u := range updates {
			for _, lines := range [][]Line{u.Lines, u.Problems} {
				for _, l := range lines {
					if _, err := fmt.Fprintln(w, l.Text); err != nil {
						return err
					}
				}
			}
		}
		if err != nil {
			return nil
		}
	}
}
