package loader

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/runtimes"
)

// RuntimePage is the runtime of cards that have a page. A host that shows pages gives one of
// that name; where there is none their tools are listed, and calls are told which page to open.
const RuntimePage = "page"

// noPage stands for the runtime of pages in a host that shows none.
type noPage struct{}

var _ runtimes.Runtime = noPage{}

// Open reads the page, so that a change of it is seen.
func (noPage) Open(_ context.Context, spec runtimes.Spec) (runtimes.Instance, error) {
	entry := spec.Card.Page
	root, err := os.OpenRoot(spec.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, err := root.Open(filepath.FromSlash(entry))
	if err != nil {
		return nil, fmt.Errorf("opening the page of the card: %w", err)
	}
	defer file.Close()
	sum, err := runtimes.Sum(file)
	if err != nil {
		return nil, fmt.Errorf("reading the page of the card: %w", err)
	}
	return &closedPage{card: spec.Card, entry: entry, sum: sum}, nil
}

// closedPage is a card whose page is not open.
type closedPage struct {
	card  *runtimes.Card
	entry string
	sum   [sha256.Size]byte
}

var _ runtimes.Instance = (*closedPage)(nil)

// Handler gives one whose calls fail.
func (p *closedPage) Handler(string) host.Handler {
	return host.HandlerFunc(func(context.Context, *host.Call) (*host.Result, error) {
		return host.ErrorResult(fmt.Sprintf("The tool did not run: it runs in the page of the card %q (%s), which is not open. Ask the user to open this card in an app that shows cards, and call the tool again.", p.card.Title, p.entry)), nil
	})
}

// Inputs gives the page.
func (p *closedPage) Inputs() map[string][sha256.Size]byte {
	return map[string][sha256.Size]byte{p.entry: p.sum}
}

// Close has nothing to do.
func (p *closedPage) Close(context.Context) error { return nil }
