package process

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/permissions/sandbox"
)

// renamer gives places of a call's stage the names that the agent knows, in what the
// process says: it knows no others than those of the stage, and says those. They are told
// from other text by the name of the stage, which is made up for each call. nil renames nothing.
type renamer struct {
	mark    string // is in every path of the stage, and in JSON as it is
	longest int    // of the names that are put in
	inText  *strings.Replacer
	inJSON  *strings.Replacer
}

const (
	// A text may become this many times as long by its new names, and this many bytes. One
	// that would be longer stays as it is: a program may repeat the short name for ever.
	maxRenamed     = 4
	maxRenamedMore = 64 << 10
)

// renamer gives the renamer of a call; nil where nothing is staged.
func (in *instance) renamer(stage *sandbox.Stage, folder string) *renamer {
	stands := stage.StandIns()
	if len(stands) == 0 {
		return nil
	}
	type pair struct{ from, to string }
	var pairs []pair
	fileURL := func(path string) string {
		return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
	}
	for _, s := range stands {
		whole := s.Name
		if !filepath.IsAbs(whole) {
			whole = filepath.Join(folder, whole)
		}
		name := whole
		if in.runtime.options.Context {
			name = s.Name // the program goes to the agent's folder itself
		}
		pairs = append(pairs, pair{s.Path, name}, pair{fileURL(s.Path), fileURL(whole)})
		if filepath.Dir(s.Path) == stage.Dir() {
			continue // the folder of what is written freely
		}
		// Beside it is what the program has made there: a temporary file, say.
		beside, around := filepath.Dir(s.Path), filepath.Dir(name)
		pairs = append(pairs, pair{join(beside, ""), join(around, "")}, pair{beside, around}, pair{fileURL(beside), fileURL(filepath.Dir(whole))})
	}
	// The longest counts where two begin alike.
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(len(b.from), len(a.from)) })
	n := &renamer{mark: filepath.Base(stage.Dir())}
	var inText, inJSON []string
	for _, p := range pairs {
		from, to := quoted(p.from), quoted(p.to)
		inText = append(inText, p.from, p.to)
		inJSON = append(inJSON, from, to)
		n.longest = max(n.longest, len(to))
	}
	n.inText, n.inJSON = strings.NewReplacer(inText...), strings.NewReplacer(inJSON...)
	return n
}

// join gives the beginning of the paths in a folder.
func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return strings.TrimSuffix(dir, string(filepath.Separator)) + string(filepath.Separator) + name
}

// quoted gives a text as it stands in JSON, without the quotes around it.
func quoted(text string) string {
	q := jsondoc.Quote(text)
	return q[1 : len(q)-1]
}

// text renames in a text.
func (n *renamer) text(text string) string {
	if n == nil || !n.worth(text) {
		return text
	}
	return n.inText.Replace(text)
}

// json renames in the texts of valid JSON, names of members included. A path begins with
// what is in JSON nowhere but in a text, and is put in as it stands in one.
func (n *renamer) json(raw json.RawMessage) json.RawMessage {
	if n == nil || len(raw) == 0 {
		return raw
	}
	text := string(plain(raw))
	if !n.worth(text) {
		return raw
	}
	return json.RawMessage(n.inJSON.Replace(text))
}

// worth reports whether a text may hold what is to be renamed, and does not grow too much.
func (n *renamer) worth(text string) bool {
	count := strings.Count(text, n.mark)
	return count > 0 && len(text)+count*n.longest <= maxRenamed*len(text)+maxRenamedMore
}

// result renames in all of a result.
func (n *renamer) result(r *host.Result) *host.Result {
	if n == nil || r == nil {
		return r
	}
	renamed := *r
	renamed.Structured, renamed.Meta, renamed.Value = n.json(r.Structured), n.json(r.Meta), n.json(r.Value)
	renamed.Content = slices.Clone(r.Content)
	for i, block := range renamed.Content {
		raw, err := block.MarshalJSON()
		if err != nil {
			continue
		}
		var other host.Content
		if now := n.json(raw); !bytes.Equal(now, raw) && other.UnmarshalJSON(now) == nil {
			renamed.Content[i] = other
		}
	}
	return &renamed
}

// failure renames in what is said of a process, which may have its last words.
func (n *renamer) failure(err error) error {
	var f *Failure
	if n == nil || !errors.As(err, &f) {
		return err
	}
	renamed := *f
	renamed.What, renamed.Line, renamed.Tail = n.text(f.What), n.text(f.Line), n.text(f.Tail)
	return &renamed
}

// logger gives a log that renames in what is logged.
func (n *renamer) logger(log *slog.Logger) *slog.Logger {
	if n == nil {
		return log
	}
	return slog.New(&renamingLog{log.Handler(), n})
}

// told gives a call as a link gets it: what the process says of it is renamed.
func (n *renamer) told(ctx context.Context, call *host.Call, log *slog.Logger) (context.Context, *host.Call) {
	if n == nil {
		return ctx, call
	}
	told := *call
	told.Log = n.logger(log)
	if call.Progress != nil {
		told.Progress = func(message string) { call.Progress(n.text(message)) }
	}
	return context.WithValue(ctx, renamerKey{}, n), &told
}

// renamerKey is where the context of a call has its renamer, for the requests that the
// process makes during it.
type renamerKey struct{}

// renamerOf gives the renamer of the call that a context is of.
func renamerOf(ctx context.Context) *renamer {
	n, _ := ctx.Value(renamerKey{}).(*renamer)
	return n
}

// renamingLog renames in messages and in texts beside them.
type renamingLog struct {
	slog.Handler
	names *renamer
}

var _ slog.Handler = (*renamingLog)(nil)

func (l *renamingLog) Handle(ctx context.Context, r slog.Record) error {
	renamed := slog.NewRecord(r.Time, r.Level, l.names.text(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		renamed.AddAttrs(l.attr(a))
		return true
	})
	return l.Handler.Handle(ctx, renamed)
}

func (l *renamingLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &renamingLog{l.Handler.WithAttrs(attrs), l.names}
}

func (l *renamingLog) WithGroup(name string) slog.Handler {
	return &renamingLog{l.Handler.WithGroup(name), l.names}
}

func (l *renamingLog) attr(a slog.Attr) slog.Attr {
	switch v := a.Value.Resolve(); v.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(l.names.text(v.String()))
	case slog.KindGroup:
		members := slices.Clone(v.Group())
		for i, m := range members {
			members[i] = l.attr(m)
		}
		a.Value = slog.GroupValue(members...)
	}
	return a
}
