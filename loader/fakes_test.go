package loader

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/runtimes"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeRuntime opens plugins whose handlers answer with the text of their file.
type fakeRuntime struct {
	mu   sync.Mutex
	open []*fakeInstance
	fail func(runtimes.Spec) error // asked before each open
	hold chan struct{}             // where not nil, Close waits for it
}

func (r *fakeRuntime) Open(ctx context.Context, spec runtimes.Spec) (runtimes.Instance, error) {
	if r.fail != nil {
		if err := r.fail(spec); err != nil {
			return nil, err
		}
	}
	i := &fakeInstance{rt: r, spec: spec, texts: map[string]string{}, closed: make(chan struct{})}
	for _, t := range spec.Tools {
		if _, twice := i.texts[t.ID]; twice {
			return nil, fmt.Errorf("tool %q was given twice", t.ID)
		}
		text, err := os.ReadFile(filepath.Join(spec.Dir, filepath.FromSlash(t.Handler)))
		if err != nil {
			return nil, err
		}
		i.texts[t.ID] = string(text)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = append(r.open, i)
	return i, nil
}

// alive gives the plugins whose instances are open.
func (r *fakeRuntime) alive() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := []string{}
	for _, i := range r.open {
		names = append(names, i.spec.Plugin)
	}
	slices.Sort(names)
	return names
}

type fakeInstance struct {
	rt     *fakeRuntime
	spec   runtimes.Spec
	texts  map[string]string
	once   sync.Once
	closed chan struct{}
}

func (i *fakeInstance) Handler(id string) host.Handler {
	return host.HandlerFunc(func(context.Context, *host.Call) (*host.Result, error) {
		select {
		case <-i.closed:
			return nil, host.ErrHandlerClosed
		default:
			return host.TextResult(i.texts[id]), nil
		}
	})
}

func (i *fakeInstance) Inputs() map[string][sha256.Size]byte {
	inputs := map[string][sha256.Size]byte{}
	for _, t := range i.spec.Tools {
		inputs[t.Handler] = sha256.Sum256([]byte(i.texts[t.ID]))
	}
	return inputs
}

func (i *fakeInstance) Close(ctx context.Context) error {
	var err error
	if i.rt.hold != nil {
		select {
		case <-i.rt.hold:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	i.once.Do(func() {
		i.rt.mu.Lock()
		defer i.rt.mu.Unlock()
		i.rt.open = slices.DeleteFunc(i.rt.open, func(o *fakeInstance) bool { return o == i })
		close(i.closed)
	})
	return err
}

// world is a folder of plugins, a host and a loader with its log.
type world struct {
	t      *testing.T
	dir    string
	host   *host.Host
	rt     *fakeRuntime
	loader *Loader
	log    *logBuffer
}

type logBuffer struct {
	mu      sync.Mutex
	b       bytes.Buffer
	written chan struct{} // closed at the next line; nil where nobody waits
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.written != nil {
		close(l.written)
		l.written = nil
	}
	return l.b.Write(p)
}

// await waits until the log is as done wants it.
func (l *logBuffer) await(t *testing.T, done func(log string) bool) {
	t.Helper()
	late := time.After(20 * time.Second)
	for {
		l.mu.Lock()
		if l.written == nil {
			l.written = make(chan struct{})
		}
		log, written := l.b.String(), l.written
		l.mu.Unlock()
		if done(log) {
			return
		}
		select {
		case <-written:
		case <-late:
			t.Fatalf("the log never said what was awaited:\n%s", log)
		}
	}
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func (l *logBuffer) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
}

func newWorld(t *testing.T, change func(w *world, o *Options)) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), host: host.New(nil), rt: &fakeRuntime{}, log: &logBuffer{}}
	o := &Options{Dirs: []string{w.dir}, Log: w.log.logger()}
	if change != nil {
		change(w, o)
	}
	w.loader = New(w.host, map[string]runtimes.Runtime{"node": w.rt}, o)
	t.Cleanup(func() {
		if err := w.loader.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if alive := w.rt.alive(); len(alive) > 0 {
			t.Errorf("instances are left open: %v", alive)
		}
		if left := w.host.Tools(); len(left) > 0 {
			t.Errorf("tools are left registered: %v", left)
		}
		if err := w.host.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return w
}

// write writes files below the world's folder.
func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// plugin writes a plugin with the given tools, each answering "TOOL of FOLDER".
func (w *world) plugin(folder, name string, tools ...string) {
	w.t.Helper()
	var list []string
	for i, id := range tools {
		list = append(list, fmt.Sprintf(`{"id":%q,"title":"T","description":"A tool that only the tests call.","schema":"./s.json","handler":"./h%d.js"}`, id, i))
		w.write(fmt.Sprintf("%s/h%d.js", folder, i), id+" of "+folder)
	}
	w.write(folder+"/s.json", `{"type":"object","additionalProperties":false}`)
	// A watcher may look at any time: it must not see half a manifest.
	w.write(folder+"/.manifest", fmt.Sprintf("{\n\"name\":%q,\n\"tools\":[%s]}", name, strings.Join(list, ",\n")))
	if err := os.Rename(filepath.Join(w.dir, folder, ".manifest"), filepath.Join(w.dir, folder, ManifestFile)); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) loadAll() {
	w.t.Helper()
	if err := w.loader.LoadAll(context.Background()); err != nil {
		w.t.Fatal(err)
	}
}

// load loads one folder and gives its mistakes.
func (w *world) load(folder string) []*ManifestError {
	w.t.Helper()
	err := w.loader.Load(context.Background(), filepath.Join(w.dir, folder))
	var bad *LoadError
	if err != nil && !errors.As(err, &bad) {
		w.t.Fatal(err)
	}
	if err == nil {
		return nil
	}
	return bad.Errors
}

func (w *world) tools() []string {
	names := []string{}
	for _, t := range w.host.Tools() {
		names = append(names, t.Name)
	}
	return names
}

func (w *world) call(tool string) string {
	w.t.Helper()
	r, err := w.host.Call(context.Background(), &host.Call{Tool: tool})
	if err != nil {
		return err.Error()
	}
	return r.Content[0].Text()
}

func (w *world) wantTools(want ...string) {
	w.t.Helper()
	if got := w.tools(); !slices.Equal(got, want) {
		w.t.Errorf("tools = %q, want %q", got, want)
	}
}

func (w *world) wantLog(lines ...string) {
	w.t.Helper()
	log := w.log.String()
	for _, l := range lines {
		if !strings.Contains(log, l) {
			w.t.Errorf("the log lacks %s:\n%s", l, log)
		}
	}
}

func rulesOf(list []*ManifestError) []string {
	ids := []string{}
	for _, e := range list {
		ids = append(ids, e.Rule)
	}
	return ids
}
