package loader

import (
	"context"
	"os"
	"path/filepath"
	"slices"
)

// installOrder is a [Consent] that knows in which order plugins were installed.
type installOrder interface {
	// Order gives the folders of which something is known, the one first that was known first.
	Order(ctx context.Context) ([]string, error)
}

// ordered gives installed plugin folders in load order: by name, with the cards among
// themselves as they were installed. The suffix of a card's tool depends on who came first, and
// a later installation must not move it to another card's tool.
func (l *Loader) ordered(ctx context.Context, folders []string) []string {
	known, ok := l.consent.(installOrder)
	if !ok {
		return folders
	}
	var places []int
	var cards []string
	for i, f := range folders {
		if _, err := os.Lstat(filepath.Join(f, CardFile)); err == nil {
			places, cards = append(places, i), append(cards, f)
		}
	}
	if len(cards) < 2 {
		return folders
	}
	order, err := known.Order(ctx)
	if err != nil {
		l.log.Warn("the order in which cards were installed cannot be read", "err", err)
		return folders
	}
	rank := make(map[string]int, len(order))
	for i, f := range order {
		rank[f] = i
	}
	slices.SortStableFunc(cards, func(a, b string) int {
		return rankOf(rank, a) - rankOf(rank, b)
	})
	folders = slices.Clone(folders)
	for i, place := range places {
		folders[place] = cards[i]
	}
	return folders
}

// rankOf gives the place of a folder; one of which nothing is known comes last.
func rankOf(rank map[string]int, dir string) int {
	if i, ok := rank[resolve(dir)]; ok {
		return i
	}
	return len(rank)
}
