package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/toolhost/toolhost/internal/consent"
	"github.com/toolhost/toolhost/internal/state"
	"github.com/toolhost/toolhost/loader"
)

// maxPolicy is how large a policy may be, in bytes.
const maxPolicy = 1 << 20

// readPolicy reads the policy that --policy names; it takes the place of asking.
func (p *program) readPolicy() error {
	path := p.flags.policyFile
	if path == "" {
		return nil
	}
	if p.flags.trust {
		return usagef("leave one of the two out", "--trust takes every change, and --policy refuses what it does not list")
	}
	raw, err := readAtMost(path, maxPolicy)
	if err != nil {
		return usagef("", "reading the policy: %w", err)
	}
	const hint = "docs/policy.schema.json says what it may hold"
	if raw, err = checkDocument(raw, path, consent.PolicySchema); err != nil {
		return usagef(hint, "the policy is wrong:\n%w", err)
	}
	if p.flags.policy, err = consent.NewPolicy(raw, path); err != nil {
		return usagef(hint, "the policy %s is wrong: %w", path, err)
	}
	return nil
}

// book gives what the user has agreed to, as the flags ask for it.
func (p *program) book(db *state.DB) *consent.Book {
	return consent.New(db, &consent.Options{Trust: p.flags.trust, Policy: p.flags.policy, Log: p.logger(0)})
}

// heldListing is a plugin that waits for the user's consent, as commands list it.
type heldListing struct {
	Plugin string   `json:"plugin"`
	Dir    string   `json:"dir"`
	Serves []string `json:"serves"` // the tools of the version that was agreed to last
	Waits  []string `json:"waits"`
	Hint   string   `json:"hint"` // how the user can agree
}

// held lists the plugins that wait, and those of whose updates one waits.
func (p *program) held(ctx context.Context, s *session) []heldListing {
	list := []heldListing{}
	for _, st := range s.loader.Status() {
		if st.State == loader.Held {
			list = append(list, heldListing{st.Name, st.Dir, append([]string{}, st.Tools...), append([]string{}, st.Waits...), st.Allow})
		}
	}
	return append(list, p.updates(ctx, s)...)
}

// updates lists the loaded plugins of which an update was to be installed, and waits.
func (p *program) updates(ctx context.Context, s *session) []heldListing {
	if p.flags.policy != nil { // what waits in the database does not count
		return nil
	}
	records, err := s.state.ConsentsPending(ctx)
	if err != nil {
		s.log.Debug("reading which updates wait", "err", err)
		return nil
	}
	var list []heldListing
	for _, st := range s.loader.Status() {
		i := slices.IndexFunc(records, func(c *state.Consent) bool {
			return c.Pending != nil && c.Pending.Copy != "" && !c.Revoked && sameFolder(c.Folder, st.Dir)
		})
		if i >= 0 && st.State == loader.Loaded {
			list = append(list, heldListing{st.Name, st.Dir, append([]string{}, st.Tools...), append([]string{}, records[i].Pending.Differs...), "toolhost consent show " + st.Name})
		}
	}
	return list
}

// announceUpdates says in the log which updates wait, each once.
func (p *program) announceUpdates(ctx context.Context, s *session) {
	waiting := map[string]bool{}
	for _, u := range p.updates(ctx, s) {
		waits := strings.Join(u.Waits, "; ")
		key := u.Dir + "\x00" + waits
		if waiting[key] = true; !s.updates[key] {
			s.log.Warn("plugin update held", "plugin", u.Plugin, "err", waits, "hint", u.Hint)
		}
	}
	s.updates = waiting
}

// following is a book of which a host that runs asks what was decided meanwhile.
type following struct {
	*consent.Book
	changed func(context.Context) // called where something was
}

var _ loader.Consent = (*following)(nil)

func (f *following) Changed(ctx context.Context, since int64) ([]string, int64, error) {
	dirs, now, err := f.Book.Changed(ctx, since)
	if since >= 0 && len(dirs) > 0 {
		f.changed(ctx)
	}
	return dirs, now, err
}

// sameFolder reports whether two names are those of one folder that is there.
func sameFolder(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// refreshConsent has the book look at every plugin that the flags name, without running
// anything of it, so that what waits stands there.
func (p *program) refreshConsent(ctx context.Context, book *consent.Book) error {
	limits, err := p.flags.limits.host()
	if err != nil {
		return failed(err)
	}
	for _, dir := range slices.Concat(p.flags.plugins, p.flags.installed) {
		folders, err := loader.Folders(dir)
		if err != nil {
			p.warnf("%v", err)
		}
		for _, folder := range folders {
			e := loader.Examine(ctx, folder, &loader.Options{Installed: p.flags.installed, MaxTimeout: limits.MaxTimeout})
			if e.Question != nil {
				book.Ask(ctx, e.Question)
			}
		}
	}
	return nil
}

// terminal gives the terminal on which a question can be asked; nil where there is none.
func (p *program) terminal() *os.File {
	f, ok := p.in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || !onTerminal(p.rawErr()) {
		return nil
	}
	return f
}

// rawErr is stderr without the status line.
func (p *program) rawErr() io.Writer {
	if s, ok := p.err.(*statusLine); ok {
		return s.terminal
	}
	return p.err
}

// errDeclined says that the user has not agreed.
var errDeclined = errors.New("you have not agreed; nothing was changed")

// confirm asks a question on the terminal; only y and yes are a yes.
func (p *program) confirm(ctx context.Context, question string) error {
	_, _ = io.WriteString(p.err, question+" [y/N] ") // nowhere left to say it
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(io.LimitReader(p.in, 1024)).ReadString('\n') // what ends otherwise is a no
		line <- text
	}()
	select {
	case text := <-line:
		if answer := strings.ToLower(strings.TrimSpace(text)); answer == "y" || answer == "yes" {
			return nil
		}
		if !strings.HasSuffix(text, "\n") { // the terminal has not ended the line
			_, _ = io.WriteString(p.err, "\n")
		}
		return failed(errDeclined)
	case <-ctx.Done():
		_, _ = io.WriteString(p.err, "\n")
		return failed(errDeclined)
	}
}

// installRoot is the folder of installed plugins.
func installRoot() (string, error) {
	dir := ownDir("XDG_DATA_HOME", ".local/share")
	if dir == "" {
		return "", failed(errors.New("there is no folder for installed plugins: neither XDG_DATA_HOME nor HOME is set"))
	}
	return filepath.Join(dir, "plugins"), nil
}
