// Package consent keeps what the user has agreed to of each plugin, and says what differs
// when a plugin changes. A [Book] answers the loader:
//
//	book := consent.New(db, nil)
//	l := loader.New(h, rts, &loader.Options{Dirs: dirs, Consent: book})
//
// A plugin in a folder that the user named is agreed to as it is first seen; an installed one
// at its installation. What changes later and asks for no more is taken at once; what is
// wider, or is worded otherwise for a model, waits until the user approves it. [Policy] is
// the same without anybody to ask. [Differences] and [Lint] say what somebody should read
// before agreeing.
//
// Nothing of a plugin can agree to anything: what it may touch comes of its manifest, and
// whether it does comes of the database and the command line alone.
package consent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/pack"
	"github.com/toolhost/toolhost/internal/state"
	"github.com/toolhost/toolhost/loader"
)

// Options of a [Book]; the zero value is usable.
type Options struct {
	// Trust agrees to every change, and notes it as agreed to.
	Trust bool
	// Trusted does so for the plugins in these folders, or that are these folders.
	Trusted []string
	// Policy decides in the place of the user; what is in the book does not count then.
	Policy *Policy
	// Log takes warnings; nil drops them.
	Log *slog.Logger
}

// Book is what the user has agreed to. It is safe for concurrent use.
type Book struct {
	db      *state.DB
	options Options
	log     *slog.Logger

	mu   sync.Mutex
	last map[string]*state.Consent // what was read last of each folder, for when it cannot be read any more
	said string                    // the last reason why the database could not be used
	// ahead is what was read of all folders at once for a first load, and counts until then:
	// that takes a fraction of what a question a folder does. It is of version, or later.
	ahead   map[string]func() *state.Consent
	until   time.Time
	version int64
	awaited bool          // no load has begun with it yet
	counts  time.Duration // aheadFor

	reading sync.Mutex // held while it is read
}

// aheadFor is how long what was read ahead counts. What is decided after it was read is told
// by [Book.Changed].
const aheadFor = time.Second

var _ loader.Consent = (*Book)(nil)

// New gives the book that is in a database. options may be nil.
func New(db *state.DB, options *Options) *Book {
	b := &Book{db: db, last: map[string]*state.Consent{}, counts: aheadFor}
	if options != nil {
		b.options = *options
	}
	if b.log = b.options.Log; b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	return b
}

// How something was agreed to.
const (
	FirstSeen = "first seen"
	Narrower  = "asks for no more"
	Trusted   = "trusted"
	Approved  = "approved"
	AtInstall = "at install"
	Revoked   = "revoked"
)

// Ask answers the loader. What ships with the host is agreed to with it.
func (b *Book) Ask(ctx context.Context, q *loader.ConsentQuestion) loader.ConsentAnswer {
	if q.Origin == loader.Bundled {
		return loader.ConsentAnswer{Agreed: true}
	}
	if b.options.Policy != nil {
		return b.options.Policy.answer(q)
	}
	record, err := b.read(ctx, q)
	if err != nil {
		return b.unread(ctx, q, err)
	}
	v, err := seen(q, record)
	if err != nil {
		return unlookable(q, record, err)
	}
	answer, next := b.decide(q, record, v)
	if next == nil {
		return answer
	}
	if v.Files, err = q.Files(); err != nil || total(v.Files) > maxFiles {
		v.Files = nil // this version will not be there after a restart once another one waits
	}
	err = b.db.UpdateConsent(ctx, q.Dir, false, func(now *state.Consent) (*state.Consent, error) {
		if now == nil && record != nil && record.Folder != q.Dir {
			now = record // it was moved
		}
		answer, next = b.decide(q, now, v) // another host may have been faster
		if next == nil {
			return now, nil
		}
		return next, nil
	})
	if err != nil {
		b.warn(ctx, err)
	} else if next != nil {
		b.keep(next)
		if next.How == FirstSeen {
			b.warnOfNamesake(ctx, q)
		}
		if record != nil && record.Folder != q.Dir {
			err = b.db.UpdateConsent(ctx, record.Folder, false, func(*state.Consent) (*state.Consent, error) { return nil, nil })
			if err != nil {
				b.warn(ctx, err)
			}
		}
	}
	return answer
}

// warnOfNamesake says that a plugin in a folder that was named just now has the name of an
// installed one: tools, settings and what is stored are known by that name.
func (b *Book) warnOfNamesake(ctx context.Context, q *loader.ConsentQuestion) {
	list, err := b.db.Consents(ctx, q.Asks.Plugin)
	if err != nil {
		b.warn(ctx, err)
		return
	}
	for _, c := range list {
		if _, err := os.Lstat(c.Folder); err == nil && c.Folder != q.Dir && c.Origin == string(loader.Installed) {
			b.log.Warn("a plugin has the name of an installed one: it takes its tools, its settings and what it has stored",
				"plugin", q.Asks.Plugin, "folder", q.Dir, "installed", c.Folder, "hint", "give it another name, unless it is that plugin")
			return
		}
	}
}

// maxFiles is how many bytes of manifest, schemas and prompts are kept of one version.
const maxFiles = 4 << 20

func total(files map[string][]byte) (n int) {
	for _, data := range files {
		n += len(data)
	}
	return n
}

// Changed tells the loader what was decided elsewhere. Where since is negative a load begins
// that asks about many folders.
func (b *Book) Changed(ctx context.Context, since int64) ([]string, int64, error) {
	if since >= 0 || b.options.Policy != nil {
		return b.db.ConsentsDecided(ctx, since)
	}
	b.reading.Lock()
	defer b.reading.Unlock()
	b.mu.Lock()
	now, read := b.version, b.awaited && time.Now().Before(b.until)
	b.awaited = false
	b.mu.Unlock()
	if read {
		return nil, now, nil
	}
	now, err := b.readAhead(ctx, false)
	return nil, now, err
}

// ReadAhead reads what is known of all folders for the load that begins next, where that does so
// soon: it need not wait for it then. It may run at the same time as the load.
func (b *Book) ReadAhead(ctx context.Context) {
	if b.options.Policy != nil {
		return
	}
	b.reading.Lock()
	defer b.reading.Unlock()
	_, _ = b.readAhead(ctx, true) // the load reads it again, and says why it cannot
}

// readAhead reads what is known of all folders, and gives the version of decisions that is in it
// at least. b.reading is held.
func (b *Book) readAhead(ctx context.Context, awaited bool) (int64, error) {
	until := time.Now().Add(b.counts)
	_, now, err := b.db.ConsentsDecided(ctx, -1)
	if err != nil {
		return now, err
	}
	ahead, err := b.db.ConsentsByFolder(ctx)
	if err != nil {
		return now, nil // who asks is told
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ahead, b.until, b.version, b.awaited = ahead, until, now, awaited
	return now, nil
}

// known gives what is known of a folder; nil where nothing is. What was read ahead is taken once.
func (b *Book) known(ctx context.Context, folder string) (*state.Consent, error) {
	b.mu.Lock()
	if time.Now().After(b.until) {
		b.ahead = nil
	}
	read := b.ahead[folder]
	delete(b.ahead, folder)
	b.mu.Unlock()
	if read != nil {
		return read(), nil
	}
	return b.db.Consent(ctx, folder)
}

// Order gives the folders of which something is known, the one first that was known first. An
// update keeps its place.
func (b *Book) Order(ctx context.Context) ([]string, error) { return b.db.ConsentOrder(ctx) }

// read gives what is known of a plugin's folder; nil where nothing is.
func (b *Book) read(ctx context.Context, q *loader.ConsentQuestion) (*state.Consent, error) {
	record, err := b.known(ctx, q.Dir)
	if err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		if last := b.last[q.Dir]; last != nil {
			return last, nil
		}
		return nil, err
	}
	if record == nil && q.Origin == loader.Named {
		if record, err = b.moved(ctx, q); err != nil {
			return nil, err
		}
	}
	if record != nil {
		b.keep(record)
	}
	return record, nil
}

func (b *Book) keep(record *state.Consent) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.last[record.Folder] = record
}

// moved gives what is known of the plugin under a name that its folder had before, beside
// where it is now: a new name for the folder is no new plugin.
func (b *Book) moved(ctx context.Context, q *loader.ConsentQuestion) (*state.Consent, error) {
	list, err := b.db.Consents(ctx, q.Asks.Plugin)
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		if c.Origin != string(loader.Named) || filepath.Dir(c.Folder) != filepath.Dir(q.Dir) {
			continue
		}
		if _, err := os.Lstat(c.Folder); errors.Is(err, os.ErrNotExist) {
			return c, nil
		}
	}
	return nil, nil
}

// unread answers where nobody can tell what was agreed to: a folder that was named just now
// loads, and what came from elsewhere does not.
func (b *Book) unread(ctx context.Context, q *loader.ConsentQuestion, err error) loader.ConsentAnswer {
	b.warn(ctx, err)
	if q.Origin == loader.Named || b.trusts(q.Dir) {
		return loader.ConsentAnswer{Agreed: true}
	}
	return loader.ConsentAnswer{Waits: []string{fmt.Sprintf("what you have agreed to cannot be read: %v", err)}}
}

// warn logs once why the database cannot be used.
func (b *Book) warn(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return // nobody waits for the answer any more, and nothing is wrong with the database
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err.Error() == b.said {
		return
	}
	b.said = err.Error()
	b.log.Warn("what you agree to cannot be remembered; plugins in folders that you name load as they are, installed ones do not", "err", err)
}

func (b *Book) trusts(dir string) bool {
	return b.options.Trust || loader.Foreign(dir, b.options.Trusted)
}

// seen gives the version that a plugin's folder holds, without its files.
func seen(q *loader.ConsentQuestion, record *state.Consent) (*state.ConsentVersion, error) {
	summary, err := json.Marshal(q.Asks)
	if err != nil {
		return nil, err
	}
	v := &state.ConsentVersion{Fingerprint: q.Asks.Fingerprint(), Digest: q.Digest, Summary: summary}
	if isInstalled(q, record) {
		v.Tree, err = pack.Hash(q.Dir)
	}
	return v, err
}

// unlookable answers where the files of an installed plugin cannot be hashed, as where a link
// is among them: nothing can be approved then, and the copy of what was agreed to serves.
func unlookable(q *loader.ConsentQuestion, record *state.Consent, err error) loader.ConsentAnswer {
	answer := loader.ConsentAnswer{
		Waits:     []string{fmt.Sprintf("its files cannot be looked at: %v", err)},
		Allow:     fmt.Sprintf("put the folder of %q in order (toolhost list says what is wrong with it), or install it anew", q.Asks.Plugin),
		Withdrawn: true,
	}
	if record == nil || record.Revoked || Recorded(record.Agreed) == nil {
		return answer
	}
	if answer.Dir = intact(record.Agreed); answer.Dir != "" {
		answer.Fingerprint, answer.Withdrawn = record.Agreed.Fingerprint, false
	}
	return answer
}

// isInstalled reports whether the code of a plugin counts, too.
func isInstalled(q *loader.ConsentQuestion, record *state.Consent) bool {
	return q.Origin == loader.Installed || record != nil && record.Origin == string(loader.Installed)
}

// decide says whether a version may run, and what is to be known of the folder from now on; nil
// where nothing changes.
func (b *Book) decide(q *loader.ConsentQuestion, record *state.Consent, v *state.ConsentVersion) (loader.ConsentAnswer, *state.Consent) {
	installed := isInstalled(q, record)
	origin := string(loader.Named)
	if installed {
		origin = string(loader.Installed)
	}
	agree := func(by string) (loader.ConsentAnswer, *state.Consent) {
		next := &state.Consent{Folder: q.Dir, Plugin: q.Asks.Plugin, Origin: origin, Agreed: v, How: by, At: time.Now()}
		return loader.ConsentAnswer{Agreed: true}, next
	}
	wait := func(answer loader.ConsentAnswer) (loader.ConsentAnswer, *state.Consent) {
		pending := *v
		pending.Differs = answer.Waits
		next := &state.Consent{Folder: q.Dir, Plugin: q.Asks.Plugin, Origin: origin, Pending: &pending, At: time.Now()}
		if record != nil {
			next.Agreed, next.Revoked, next.How, next.At, next.Plugin = record.Agreed, record.Revoked, record.How, record.At, record.Plugin
			if staged(record) {
				return answer, nil // an update waits already, and goes on waiting
			}
			if next.Folder == record.Folder && record.Pending != nil && same(record.Pending, v) && slices.Equal(record.Pending.Differs, answer.Waits) {
				return answer, nil
			}
		}
		return answer, next
	}
	switch {
	case record != nil && record.Revoked:
		return wait(loader.ConsentAnswer{Waits: []string{"you took your consent back on " + record.At.Format(time.DateOnly)}, Withdrawn: true})
	case b.trusts(q.Dir):
		if record != nil && record.Agreed != nil && (record.Pending == nil || staged(record)) && same(record.Agreed, v) && record.Folder == q.Dir {
			return loader.ConsentAnswer{Agreed: true}, nil
		}
		return agree(Trusted)
	case (record == nil || record.Agreed == nil) && installed:
		return wait(loader.ConsentAnswer{Waits: []string{"it was put where installed plugins are, and you have not agreed to it"}})
	case record == nil || record.Agreed == nil:
		return agree(FirstSeen)
	}
	old := q.Asks
	if record.Agreed.Fingerprint != v.Fingerprint || !bytes.Equal(record.Agreed.Summary, v.Summary) {
		old = Recorded(record.Agreed)
	}
	if old == nil {
		return wait(loader.ConsentAnswer{Waits: []string{"the record of what you agreed to was changed by something else than toolhost"}})
	}
	answer := loader.ConsentAnswer{Fingerprint: record.Agreed.Fingerprint, Files: record.Agreed.Files}
	if old != q.Asks {
		for _, d := range Differences(old, q.Asks) {
			if d.Wider {
				answer.Waits = append(answer.Waits, d.Text)
			}
		}
	}
	if installed && record.Agreed.Tree != v.Tree {
		answer.Waits = append(answer.Waits, "its files are others than those that you agreed to")
	}
	if len(answer.Waits) > 0 {
		if installed {
			// The code that is there now is not what was agreed to: only a copy may serve.
			answer.Files, answer.Dir = nil, intact(record.Agreed)
			answer.Withdrawn = answer.Dir == ""
			if answer.Withdrawn {
				answer.Fingerprint = ""
			}
		}
		return wait(answer)
	}
	if (record.Pending == nil || staged(record)) && same(record.Agreed, v) && record.Folder == q.Dir {
		return loader.ConsentAnswer{Agreed: true}, nil
	}
	v.Copy = record.Agreed.Copy
	_, next := agree(Narrower)
	if record.Agreed.Fingerprint == v.Fingerprint {
		next.How, next.At = record.How, record.At
	}
	return loader.ConsentAnswer{Agreed: true}, next
}

// staged reports whether the version that waits stands in a folder of its own: an update that
// was to be installed.
func staged(c *state.Consent) bool { return c.Pending != nil && c.Pending.Copy != "" }

// same reports whether two versions are one.
func same(a, b *state.ConsentVersion) bool {
	return a.Fingerprint == b.Fingerprint && a.Digest == b.Digest && a.Tree == b.Tree
}

// Recorded gives what a version asks for; nil where somebody has changed the record.
func Recorded(v *state.ConsentVersion) *loader.Summary {
	s := &loader.Summary{}
	if v == nil || json.Unmarshal(v.Summary, s) != nil || s.Fingerprint() != v.Fingerprint {
		return nil
	}
	return s
}

// intact gives the folder of the copy of a version, if it is that still.
func intact(v *state.ConsentVersion) string {
	if v.Copy == "" || v.Tree == "" {
		return ""
	}
	if tree, err := pack.Hash(v.Copy); err != nil || tree != v.Tree {
		return ""
	}
	return v.Copy
}

// ErrChanged says that what waits is not any more what was to be approved.
var ErrChanged = errors.New("what waits was changed meanwhile; look at it again")

// Approve agrees to the version that waits, as it was read. Where nothing waits, and consent
// was revoked, it gives that back.
func (b *Book) Approve(ctx context.Context, shown *state.Consent, how string) error {
	return b.db.UpdateConsent(ctx, shown.Folder, true, func(now *state.Consent) (*state.Consent, error) {
		if now == nil || (now.Pending == nil) != (shown.Pending == nil) || now.Pending != nil && (!same(now.Pending, shown.Pending) || Recorded(now.Pending) == nil) {
			return nil, ErrChanged
		}
		next := *now
		if now.Pending != nil {
			agreed := *now.Pending
			agreed.Differs, agreed.Copy = nil, shown.Pending.Copy
			next.Agreed, next.Plugin = &agreed, Recorded(&agreed).Plugin
		}
		next.Pending, next.Revoked, next.How, next.At = nil, false, how, time.Now()
		return &next, nil
	})
}

// Revoke takes the consent to a folder back: nothing of it runs until it is approved again.
func (b *Book) Revoke(ctx context.Context, folder string) error {
	return b.db.UpdateConsent(ctx, folder, true, func(now *state.Consent) (*state.Consent, error) {
		if now == nil {
			return nil, ErrChanged
		}
		next := *now
		next.Revoked, next.How, next.At = true, Revoked, time.Now()
		return &next, nil
	})
}

// Hold notes that an update of an installed plugin waits in the folder copied.
func (b *Book) Hold(ctx context.Context, folder string, q *loader.ConsentQuestion, tree, copied string, differs []string) error {
	v, err := installable(q, tree, copied)
	if err != nil {
		return err
	}
	v.Differs = differs
	// Hosts that run are to say that it waits.
	return b.db.UpdateConsent(ctx, folder, true, func(now *state.Consent) (*state.Consent, error) {
		if now == nil {
			return nil, ErrChanged
		}
		next := *now
		next.Pending = v
		return &next, nil
	})
}

// installable gives a version that all of a plugin's files belong to.
func installable(q *loader.ConsentQuestion, tree, copied string) (*state.ConsentVersion, error) {
	summary, err := json.Marshal(q.Asks)
	if err != nil {
		return nil, err
	}
	files, err := q.Files()
	if err != nil {
		return nil, err
	}
	return &state.ConsentVersion{Fingerprint: q.Asks.Fingerprint(), Digest: q.Digest, Tree: tree, Summary: summary, Files: files, Copy: copied}, nil
}

// Install notes that the user has agreed to a plugin that is about to stand in folder. Of a
// folder that had another version, that one goes.
func (b *Book) Install(ctx context.Context, folder string, q *loader.ConsentQuestion, tree, kept string) error {
	v, err := installable(q, tree, kept)
	if err != nil {
		return err
	}
	return b.db.UpdateConsent(ctx, folder, true, func(*state.Consent) (*state.Consent, error) {
		return &state.Consent{Folder: folder, Plugin: q.Asks.Plugin, Origin: string(loader.Installed), Agreed: v, How: AtInstall, At: time.Now()}, nil
	})
}
