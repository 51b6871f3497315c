package state

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// writerVariable has the test binary write to the store in a folder until it is killed.
const writerVariable = "STATE_TEST_WRITER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerVariable); dir != "" {
		writeForEver(dir)
	}
	goleak.VerifyTestMain(m)
}

// writeForEver writes pairs of equal values, each pair in one transaction, and says so.
func writeForEver(dir string) {
	db := New(dir, nil)
	for i := 0; ; i++ {
		value := json.RawMessage(fmt.Sprintf(`"%d %s"`, i, strings.Repeat("x", 20_000)))
		err := db.write(context.Background(), func(tx *sql.Tx) error {
			for _, key := range []string{"a", "b"} {
				if _, err := tx.Exec("INSERT INTO store (plugin, key, value) VALUES ('p', ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", []byte(key), []byte(value)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Stdout.WriteString(".")
	}
}

func open(t testing.TB, dir string, options *Options) *DB {
	t.Helper()
	db := New(dir, options)
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	found := []string{}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		found = append(found, e.Name())
	}
	return found
}

// TestLazy: what only reads makes nothing, and what writes makes files for the user alone.
func TestLazy(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b ?#%41")
	db := open(t, dir, nil)
	s := db.Store("p")
	if v, err := s.Get(t.Context(), "k"); v != nil || err != nil {
		t.Error(v, err)
	}
	if had, err := s.Delete(t.Context(), "k"); had || err != nil {
		t.Error(had, err)
	}
	if keys, err := s.List(t.Context(), ""); keys == nil || len(keys) != 0 || err != nil {
		t.Error(keys, err)
	}
	if all, err := db.Settings("p", []Declaration{{Key: "p.k", Type: "string"}}).All(t.Context()); len(all) != 0 || err != nil {
		t.Error(all, err)
	}
	if got := files(t, dir); len(got) != 0 {
		t.Fatalf("reading made %q", got)
	}
	if err := s.Set(t.Context(), "k", json.RawMessage(`1`)); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Error(info.Mode(), err)
	}
	for _, name := range files(t, dir) {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Error(name, info.Mode(), err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, File)); err != nil {
		t.Error("the folder's name was taken for a URL:", err)
	}
}

// TestUnusable: what cannot be used gives an error that says so, and stays as it is.
func TestUnusable(t *testing.T) {
	foreign := func(t *testing.T, dir, statements string) {
		db, err := sql.Open("sqlite", filepath.Join(dir, File))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec(statements); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	write := func(t *testing.T, dir string, content []byte) {
		if err := os.WriteFile(filepath.Join(dir, File), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct {
		make func(t *testing.T, dir string)
		want string
	}{
		"no database": {func(t *testing.T, dir string) { write(t, dir, bytes.Repeat([]byte("not a database. "), 500)) }, "is damaged, or no database"},
		"half": {func(t *testing.T, dir string) {
			db := New(dir, nil)
			if err := db.Store("p").Set(t.Context(), "k", json.RawMessage(`"`+strings.Repeat("v", 50_000)+`"`)); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(dir, File))
			if err != nil {
				t.Fatal(err)
			}
			write(t, dir, append(text[:4096:4096], bytes.Repeat([]byte{0xa5}, len(text)-4096)...))
		}, "is damaged, or no database"},
		"newer": {func(t *testing.T, dir string) {
			foreign(t, dir, fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = 99", applicationID))
		}, "is of version 99; this program knows those up to " + strconv.Itoa(len(migrations))},
		"of another program":             {func(t *testing.T, dir string) { foreign(t, dir, "CREATE TABLE mine (a)") }, "belongs to another program"},
		"of another program, same count": {func(t *testing.T, dir string) { foreign(t, dir, "CREATE TABLE mine (a); PRAGMA user_version = 1") }, "belongs to another program"},
		"a folder":                       {func(t *testing.T, dir string) { _ = os.Mkdir(filepath.Join(dir, File), 0o700) }, "is no regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			test.make(t, dir)
			before, _ := os.ReadFile(filepath.Join(dir, File))
			var log bytes.Buffer
			db := open(t, dir, &Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
			for range 2 {
				_, err := db.Store("p").Get(t.Context(), "k")
				if err == nil {
					err = db.Store("p").Set(t.Context(), "k", json.RawMessage(`1`))
				}
				var bad *Error
				if !errors.As(err, &bad) || !strings.Contains(err.Error(), test.want) || bad.Hint == "" {
					t.Fatalf("got %v, want %s", err, test.want)
				}
			}
			if n := strings.Count(log.String(), "the state cannot be used"); n > 1 {
				t.Errorf("logged %d times:\n%s", n, log.String())
			}
			after, _ := os.ReadFile(filepath.Join(dir, File))
			if !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
	t.Run("no folder", func(t *testing.T) {
		if _, err := open(t, "", nil).Store("p").Get(t.Context(), "k"); err == nil || err.Error() != "there is no state folder" {
			t.Error(err)
		}
	})
	t.Run("a file in the way", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, nil)
		err := open(t, filepath.Join(dir, File, "below"), nil).Store("p").Set(t.Context(), "k", json.RawMessage(`1`))
		var bad *Error
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), "cannot be made") {
			t.Error(err)
		}
	})
	t.Run("closed", func(t *testing.T) {
		db := New(t.TempDir(), nil)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if err := db.Store("p").Set(t.Context(), "k", json.RawMessage(`1`)); !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
}

// TestFull: a database that cannot grow says so, keeps what it has, and serves on.
func TestFull(t *testing.T) {
	db := open(t, t.TempDir(), nil)
	s := db.Store("p")
	if err := s.Set(t.Context(), "k", json.RawMessage(`"kept"`)); err != nil {
		t.Fatal(err)
	}
	db.open.sql.SetMaxOpenConns(1) // the limit is one of the connection
	if _, err := db.open.sql.Exec("PRAGMA max_page_count = 20"); err != nil {
		t.Fatal(err)
	}
	err := s.Set(t.Context(), "k", json.RawMessage(`"`+strings.Repeat("v", 500_000)+`"`))
	var bad *Error
	if !errors.As(err, &bad) || !strings.Contains(err.Error(), "cannot grow") {
		t.Error(err)
	}
	if v, err := s.Get(t.Context(), "k"); string(v) != `"kept"` || err != nil {
		t.Error(string(v), err)
	}
	if err := s.Set(t.Context(), "k", json.RawMessage(`2`)); err != nil {
		t.Error(err)
	}
}

// TestLocked: who has the database for long is waited for as long as the caller wants.
func TestLocked(t *testing.T) {
	dir := t.TempDir()
	one, two := open(t, dir, nil), open(t, dir, nil)
	for _, db := range []*DB{one, two} {
		if err := db.Store("p").Set(t.Context(), "k", json.RawMessage(`1`)); err != nil {
			t.Fatal(err)
		}
	}
	err := one.write(t.Context(), func(*sql.Tx) error {
		if v, err := two.Store("p").Get(t.Context(), "k"); string(v) != "1" || err != nil { // one that waited would find it busy in the end
			t.Error("a reader waits for a writer:", string(v), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if err := two.Store("p").Set(ctx, "k", json.RawMessage(`2`)); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := two.Store("p").Set(t.Context(), "k", json.RawMessage(`2`)); err != nil {
		t.Error(err)
	}
}

// TestReplaced: a folder that is taken away and made anew is seen.
func TestReplaced(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	one := open(t, dir, nil)
	if err := one.Store("p").Set(t.Context(), "k", json.RawMessage(`1`)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if v, err := one.Store("p").Get(t.Context(), "k"); v != nil || err != nil {
		t.Error(string(v), err)
	}
	if err := open(t, dir, nil).Store("p").Set(t.Context(), "k", json.RawMessage(`2`)); err != nil {
		t.Fatal(err)
	}
	if v, err := one.Store("p").Get(t.Context(), "k"); string(v) != "2" || err != nil {
		t.Error(string(v), err)
	}
}

// TestTogether has several databases of one folder opened and written at once.
func TestTogether(t *testing.T) {
	dir := t.TempDir()
	const dbs, writers, times = 4, 3, 20
	var all sync.WaitGroup
	for d := range dbs {
		db := open(t, dir, nil)
		for w := range writers {
			all.Go(func() {
				s := db.Store("p")
				for i := range times {
					if err := s.Set(t.Context(), fmt.Sprintf("%d/%d/%d", d, w, i), json.RawMessage(`"v"`)); err != nil {
						t.Error(err)
						return
					}
					if _, err := s.List(t.Context(), fmt.Sprintf("%d/", d)); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	all.Wait()
	db := open(t, dir, nil)
	if keys, err := db.Store("p").List(t.Context(), ""); len(keys) != dbs*writers*times || err != nil {
		t.Error(len(keys), err)
	}
	var keys int
	err := db.read(t.Context(), func(db *sql.DB) error {
		return db.QueryRow("SELECT keys FROM store_use").Scan(&keys)
	})
	if keys != dbs*writers*times || err != nil {
		t.Errorf("%d keys are counted, %v", keys, err)
	}
}

// TestKilled kills a process while it writes. What is there afterwards is whole.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	for round := range 5 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), writerVariable+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 1+round)); err != nil {
			t.Error(err)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
		db := New(dir, nil)
		a, err := db.Store("p").Get(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		if b, err := db.Store("p").Get(t.Context(), "b"); err != nil || len(a) == 0 || !bytes.Equal(a, b) {
			t.Errorf("half a transaction is there: %.20q, %.20q, %v", a, b, err)
		}
		var verdict string
		err = db.read(t.Context(), func(db *sql.DB) error { return db.QueryRow("PRAGMA integrity_check").Scan(&verdict) })
		if verdict != "ok" || err != nil {
			t.Error(verdict, err)
		}
		if err := db.Store("other").Set(t.Context(), "k", json.RawMessage(`1`)); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
