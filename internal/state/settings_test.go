package state

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

var declared = []Declaration{
	{Key: "p.text", Type: "string", Default: json.RawMessage(`"dflt"`)},
	{Key: "p.pick", Type: "string", Enum: []json.RawMessage{json.RawMessage(`"a"`), json.RawMessage(`"b"`)}},
	{Key: "p.size", Type: "number", Enum: []json.RawMessage{json.RawMessage(`1`), json.RawMessage(`2.50`)}},
	{Key: "p.count", Type: "number", Required: true},
	{Key: "p.on", Type: "boolean"},
	{Key: "p.token", Type: "string", Secret: true, Required: true},
	{Key: "p.about", Type: "info"},
}

func change(t *testing.T, key, value string) Change {
	t.Helper()
	return Change{Plugin: "p", Declaration: *find(declared, "p", key), Value: json.RawMessage(value)}
}

func set(t *testing.T, db *DB, key, value string) {
	t.Helper()
	if err := db.SetSettings(t.Context(), []Change{change(t, key, value)}); err != nil {
		t.Fatal(err)
	}
}

// shown gives all settings as one text.
func shown(t *testing.T, s *Settings) string {
	t.Helper()
	all, err := s.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		parts = append(parts, strings.TrimPrefix(key, "p.")+"="+string(all[key]))
		if one, err := s.Get(t.Context(), key); string(one) != string(all[key]) || err != nil {
			t.Errorf("%s alone is %s, %v", key, one, err)
		}
	}
	return strings.Join(parts, " ")
}

func TestSettings(t *testing.T) {
	dir := t.TempDir()
	db, other := open(t, dir, nil), open(t, dir, nil)
	s := db.Settings("p", declared)
	if got := shown(t, s); got != `text="dflt"` {
		t.Error(got)
	}
	for key, value := range map[string]string{"text": `"ü\u2028<"`, "pick": `"b"`, "size": `2.5`, "count": `1e3`, "on": `false`, "token": `"s3cr3t-value"`} {
		set(t, other, key, value) // seen at once, though set elsewhere
	}
	if got := shown(t, s); got != `count=1e3 on=false pick="b" size=2.5 text="ü\u2028<" token="s3cr3t-value"` {
		t.Error(got)
	}
	for key, want := range map[string]string{"pick": `"b"`, "p.pick": `"b"`, "p.p.pick": "", "q.pick": "", "about": "", "": "", "p.": ""} {
		if got, err := s.Get(t.Context(), key); string(got) != want || err != nil {
			t.Errorf("%q: got %s, %v", key, got, err)
		}
	}
	if got, err := db.Settings("q", declared).Get(t.Context(), "p.pick"); got != nil || err != nil {
		t.Errorf("another plugin reads %s, %v", got, err)
	}
	if had, err := other.UnsetSetting(t.Context(), "p", "p.text"); !had || err != nil {
		t.Error(had, err)
	}
	if got, err := s.Get(t.Context(), "text"); string(got) != `"dflt"` || err != nil {
		t.Error(string(got), err)
	}
	if secrets, err := db.Secrets(t.Context()); len(secrets) != 1 || secrets[0] != "s3cr3t-value" || err != nil {
		t.Error(secrets, err)
	}
	for _, name := range files(t, dir) {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || bytes.Contains(text, []byte("s3cr3t")) {
			t.Errorf("%s holds the secret, or %v", name, err)
		}
	}
}

func TestSettingsRefused(t *testing.T) {
	db := open(t, t.TempDir(), nil)
	for _, test := range []struct{ key, value, want string }{
		{"text", `5`, `the setting "p.text" takes a string, not 5`},
		{"text", `null`, `takes a string, not null`},
		{"text", `{"a":1}`, `takes a string`},
		{"on", `"true"`, `takes a boolean, not "true"`},
		{"count", `1e999`, `takes a number that a float64 holds`},
		{"count", `"1"`, `takes a number`},
		{"pick", `"c"`, `takes one of "a", "b", not "c"`},
		{"size", `3`, `takes one of 1, 2.50, not 3`},
		{"about", `"x"`, `is of type info and has no value`},
		{"text", `"` + strings.Repeat("x", MaxSetting) + `"`, `it may have 65536`},
		{"token", `12345678`, `takes a string, not what was given`},
	} {
		err := db.SetSettings(t.Context(), []Change{change(t, "on", "true"), change(t, test.key, test.value)})
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "12345678") {
			t.Errorf("%s: got %v, want %s", test.key, err, test.want)
		}
	}
	if got := shown(t, db.Settings("p", declared)); got != `text="dflt"` {
		t.Errorf("half of the changes were made: %s", got)
	}
}

// TestSettingsChanged: a value that a newer manifest does not allow counts as not set, with one warning.
func TestSettingsChanged(t *testing.T) {
	var log bytes.Buffer
	db := open(t, t.TempDir(), &Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	set(t, db, "text", `"old"`)
	set(t, db, "pick", `"b"`)
	set(t, db, "token", `"s3cr3t-value"`)
	s := db.Settings("p", []Declaration{
		{Key: "p.text", Type: "number", Default: json.RawMessage(`7`)},
		{Key: "p.pick", Type: "string", Enum: []json.RawMessage{json.RawMessage(`"a"`)}, Required: true},
		{Key: "p.token", Type: "string"},
	})
	for range 2 {
		if got := shown(t, s); got != `text=7 token="s3cr3t-value"` {
			t.Error(got)
		}
	}
	if n := strings.Count(log.String(), "counts as not set"); n != 2 || strings.Contains(log.String(), "s3cr3t") {
		t.Error(log.String())
	}
	if n := strings.Count(log.String(), `msg="a required setting is not set" plugin=p setting=p.pick hint="toolhost settings set p.pick"`); n != 1 {
		t.Error(log.String())
	}
	list, err := s.List(t.Context())
	if err != nil || len(list) != 3 {
		t.Fatal(list, err)
	}
	for i, want := range []string{"p.text false false 7", "p.pick false false ", "p.token true true "} {
		if got := fmt.Sprintf("%s %v %v %s", list[i].Key, list[i].Secret, list[i].Set, list[i].Value); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestSecretLost: a key that is gone takes its secret along, and nothing else.
func TestSecretLost(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(t *testing.T, dir string)
		want  string
	}{
		"gone":    {func(t *testing.T, dir string) { _ = os.Remove(filepath.Join(dir, KeyFile)) }, "is gone"},
		"garbage": {func(t *testing.T, dir string) { _ = os.WriteFile(filepath.Join(dir, KeyFile), []byte("!"), 0o600) }, "is damaged"},
		"short":   {func(t *testing.T, dir string) { _ = os.WriteFile(filepath.Join(dir, KeyFile), []byte("AAAA"), 0o600) }, "is damaged: it has 3 bytes"},
		"another": {func(t *testing.T, dir string) {
			_ = os.WriteFile(filepath.Join(dir, KeyFile), []byte(strings.Repeat("A", 43)+"="), 0o600)
		}, "holds another key"},
		"open to others": {func(t *testing.T, dir string) { _ = os.Chmod(filepath.Join(dir, KeyFile), 0o644) }, "may be read by others"},
		"a link": {func(t *testing.T, dir string) {
			_ = os.Rename(filepath.Join(dir, KeyFile), filepath.Join(dir, "k"))
			_ = os.Symlink("k", filepath.Join(dir, KeyFile))
		}, "is no regular file"},
		"moved to another setting": {func(t *testing.T, dir string) {
			db := New(dir, nil)
			defer db.Close()
			if err := db.SetSettings(t.Context(), []Change{{Plugin: "q", Declaration: Declaration{Key: "q.token", Type: "string", Secret: true}, Value: json.RawMessage(`"other"`)}}); err != nil {
				t.Fatal(err)
			}
			if _, err := db.open.sql.Exec("UPDATE settings SET value = (SELECT value FROM settings WHERE plugin = 'q') WHERE key = 'p.token'"); err != nil {
				t.Fatal(err)
			}
		}, "was changed outside of toolhost"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			db := New(dir, nil)
			set(t, db, "token", `"s3cr3t-value"`)
			set(t, db, "on", `true`)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			test.spoil(t, dir)
			db = open(t, dir, nil)
			s := db.Settings("p", declared)
			_, err := s.Get(t.Context(), "token")
			var lost *SecretError
			if !errors.As(err, &lost) || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "toolhost settings set p.token") {
				t.Errorf("got %v", err)
			}
			if all, err := s.All(t.Context()); err != nil || string(all["p.on"]) != "true" || all["p.token"] != nil {
				t.Error(all, err)
			}
			if _, err := db.Secrets(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("made anew", func(t *testing.T) {
		dir := t.TempDir()
		db := open(t, dir, nil)
		set(t, db, "token", `"one"`)
		if err := os.Remove(filepath.Join(dir, KeyFile)); err != nil {
			t.Fatal(err)
		}
		set(t, db, "token", `"two"`)
		if got, err := open(t, dir, nil).Settings("p", declared).Get(t.Context(), "token"); string(got) != `"two"` || err != nil {
			t.Error(string(got), err)
		}
	})
}

// fakeKeyring keeps keys in memory. It is safe for concurrent use.
type fakeKeyring struct {
	mu   sync.Mutex
	held map[string]string
	hang chan struct{} // where it is not nil, answers wait for it
	fail error
}

func (k *fakeKeyring) Get(name string) (string, error) {
	if k.hang != nil {
		<-k.hang
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	secret, ok := k.held[name]
	if !ok && k.fail == nil {
		return "", ErrNoKey
	}
	return secret, k.fail
}

func (k *fakeKeyring) Set(name, secret string) error {
	if k.hang != nil {
		<-k.hang
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fail == nil {
		k.held[name] = secret
	}
	return k.fail
}

func TestKeyring(t *testing.T) {
	dir := t.TempDir()
	ring := &fakeKeyring{held: map[string]string{}}
	options := &Options{Keyring: ring}
	db := New(dir, options)
	set(t, db, "token", `"one"`)
	set(t, db, "token", `"two"`)
	if len(ring.held) != 1 || slices.Contains(files(t, dir), KeyFile) {
		t.Errorf("the keyring has %d keys, the folder %q", len(ring.held), files(t, dir))
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := open(t, dir, options).Settings("p", declared).Get(t.Context(), "token"); string(got) != `"two"` || err != nil {
		t.Error(string(got), err)
	}
	without := open(t, dir, nil)
	if _, err := without.Settings("p", declared).Get(t.Context(), "token"); err == nil || !strings.Contains(err.Error(), "keyring of the operating system, which cannot be reached") {
		t.Error(err)
	}
	set(t, without, "token", `"three"`) // with the file's key; who has the keyring reads it too
	if got, err := open(t, dir, options).Settings("p", declared).Get(t.Context(), "token"); string(got) != `"three"` || err != nil {
		t.Error(string(got), err)
	}
	clear(ring.held)
	set(t, open(t, dir, options), "token", `"four"`)
	if got, err := open(t, dir, options).Settings("p", declared).Get(t.Context(), "token"); string(got) != `"four"` || len(ring.held) != 1 || err != nil {
		t.Error(string(got), len(ring.held), err)
	}
	// One that fails: the file is there.
	set(t, open(t, t.TempDir(), &Options{Keyring: &fakeKeyring{fail: errors.New("locked")}}), "token", `"five"`)
}

// TestKeyringHangs: a keyring that does not answer costs two seconds, and is asked once.
func TestKeyringHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ring := &fakeKeyring{held: map[string]string{}, hang: make(chan struct{})}
		k := newKeys(t.TempDir(), ring)
		for range 2 {
			made, err := k.current(context.Background(), "")
			if err != nil || made.place != placeFile {
				t.Error(made, err)
			}
		}
		if _, err := k.find(context.Background(), "x", placeKeyring); err == nil || !strings.Contains(err.Error(), "the keyring does not answer") {
			t.Error(err)
		}
		close(ring.hang)
	})
}

// TestSettingsTogether has two handles set secrets of one folder at once: whichever key
// each was sealed with, all can be read.
func TestSettingsTogether(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 6 {
		db := open(t, dir, nil)
		d := Declaration{Key: fmt.Sprintf("p.k%d", i), Type: "number", Secret: true}
		all.Go(func() {
			if err := db.SetSettings(t.Context(), []Change{{Plugin: "p", Declaration: d, Value: json.RawMessage(fmt.Sprint(i))}}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if secrets, err := open(t, dir, nil).Secrets(t.Context()); strings.Join(secrets, "") != "012345" || err != nil {
		t.Error(secrets, err)
	}
}
