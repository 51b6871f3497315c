package state

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// maxConns is how many connections one process has to the database: readers do not wait
// for each other, nor for a writer.
const maxConns = 4

// pragmas are set on each connection. A wait for another process is bounded; with
// synchronous NORMAL a power cut may take the last writes, never the database.
const pragmas = "mode=rw&_busy_timeout=5000&_txlock=immediate&_synchronous=NORMAL" +
	"&_pragma=trusted_schema(0)&_pragma=cell_size_check(1)&_pragma=cache_size(-1024)"

// openFile opens the database in a folder and brings it up to date; create makes both
// where they are missing.
func openFile(ctx context.Context, dir string, create bool) (*file, error) {
	path := filepath.Join(dir, File)
	if create {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, &Error{Path: path, Msg: "cannot be made", Hint: hintFolder, Err: err}
		}
		if err := createOnce(path, nil); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, &Error{Path: path, Msg: "cannot be made", Hint: hintFolder, Err: err}
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, &Error{Path: path, Msg: "cannot be opened", Hint: hintFolder, Err: err}
	}
	if !info.Mode().IsRegular() {
		return nil, &Error{Path: path, Msg: "is no regular file", Hint: "move it away, or name another folder with --state"}
	}
	if info.Mode().Perm()&0o077 != 0 {
		// Somebody else made it, or opened it to others. What plugins store is nobody's business.
		if err := os.Chmod(path, 0o600); err != nil {
			return nil, &Error{Path: path, Msg: "may be read by others, and that cannot be changed", Err: err}
		}
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+pragmas)
	if err != nil {
		return nil, explain(path, err)
	}
	db.SetMaxOpenConns(maxConns)
	db.SetMaxIdleConns(maxConns)
	if err := migrate(ctx, path, db); err != nil {
		_ = db.Close() // the first error says more
		return nil, explain(path, err)
	}
	return &file{sql: db, info: info}, nil
}

// createOnce makes a file with its content, that only the user may read, in one step: it
// is there whole or not at all. Where there is one already the error is fs.ErrExist.
//
// The file is not opened under its own name: closing any descriptor of a database takes the
// locks away that this process has on it.
func createOnce(path string, content []byte) error {
	if _, err := os.Lstat(path); err == nil {
		return fs.ErrExist
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // 0600, O_EXCL
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(content)
	if err == nil {
		err = temporary.Sync()
	}
	if e := temporary.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	err = os.Link(temporary.Name(), path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return err
	}
	// A file system without hard links: the name is claimed first and written afterwards.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// applicationID marks the database as ours in its header: "tool".
const applicationID = 0x746f6f6c

// migrations bring the database from the version that is their index to the next one.
// They are never changed once published; new ones are added at the end.
var migrations = []string{
	`CREATE TABLE keys (id TEXT PRIMARY KEY, place TEXT NOT NULL, made INTEGER NOT NULL) STRICT;
	CREATE TABLE settings (plugin TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, key_id TEXT,
		PRIMARY KEY (plugin, key)) STRICT, WITHOUT ROWID;
	CREATE TABLE store (plugin TEXT NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, PRIMARY KEY (plugin, key)) STRICT;
	CREATE TABLE store_use (plugin TEXT PRIMARY KEY, keys INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT, WITHOUT ROWID;`,
	`CREATE TABLE consent (folder TEXT PRIMARY KEY, plugin TEXT NOT NULL, origin TEXT NOT NULL, agreed BLOB, pending BLOB,
		revoked INTEGER NOT NULL, how TEXT NOT NULL, at INTEGER NOT NULL, decided INTEGER NOT NULL) STRICT;
	CREATE TABLE consent_version (n INTEGER NOT NULL) STRICT;
	INSERT INTO consent_version VALUES (0);
	CREATE TABLE consent_requests (id INTEGER PRIMARY KEY AUTOINCREMENT, plugin TEXT NOT NULL, permission TEXT NOT NULL,
		reason TEXT NOT NULL, agent TEXT NOT NULL, at INTEGER NOT NULL) STRICT;`,
	`CREATE TABLE calls (n INTEGER PRIMARY KEY, id TEXT NOT NULL, at INTEGER NOT NULL, tool TEXT NOT NULL, plugin TEXT NOT NULL,
		failure TEXT NOT NULL, duration INTEGER NOT NULL, size INTEGER NOT NULL, fields BLOB NOT NULL) STRICT;
	CREATE UNIQUE INDEX calls_id ON calls (id);
	CREATE INDEX calls_at ON calls (at);
	CREATE INDEX calls_tool ON calls (tool, at);
	CREATE INDEX calls_plugin ON calls (plugin, at);
	CREATE INDEX calls_failed ON calls (at) WHERE failure <> '';
	CREATE INDEX calls_tool_failed ON calls (tool, at) WHERE failure <> '';
	CREATE INDEX calls_plugin_failed ON calls (plugin, at) WHERE failure <> '';
	CREATE TABLE call_days (plugin TEXT NOT NULL, tool TEXT NOT NULL, day INTEGER NOT NULL, counts BLOB NOT NULL,
		PRIMARY KEY (plugin, tool, day)) STRICT, WITHOUT ROWID;
	CREATE TABLE call_permissions (plugin TEXT NOT NULL, tool TEXT NOT NULL, permission TEXT NOT NULL, last INTEGER NOT NULL,
		PRIMARY KEY (plugin, tool, permission)) STRICT, WITHOUT ROWID;
	CREATE TABLE call_total (bytes INTEGER NOT NULL) STRICT;
	INSERT INTO call_total VALUES (0);
	CREATE TABLE tools_off (tool TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;`,
}

// migrate brings a database up to date. Several processes may do it at once. A database
// that is not ours, or not ours to understand, is not touched.
func migrate(ctx context.Context, path string, db *sql.DB) error {
	version, err := examine(ctx, path, db)
	if err != nil {
		return err
	}
	if err := useWAL(ctx, db); err != nil {
		return err
	}
	if version == len(migrations) {
		return nil
	}
	return transact(ctx, db, func(tx *sql.Tx) error {
		version, err := examine(ctx, path, tx)
		if err != nil || version == len(migrations) {
			return err
		}
		todo := strings.Join(migrations[version:], "\n") + fmt.Sprintf("\nPRAGMA application_id = %d; PRAGMA user_version = %d", applicationID, len(migrations))
		_, err = tx.ExecContext(ctx, todo)
		return err
	})
}

// examine gives the version of a database; 0 is an empty one.
func examine(ctx context.Context, path string, db interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) (version int, err error) {
	var id, tables int
	query := "SELECT (SELECT user_version FROM pragma_user_version), (SELECT application_id FROM pragma_application_id), (SELECT count(*) FROM sqlite_schema)"
	if err := db.QueryRowContext(ctx, query).Scan(&version, &id, &tables); err != nil {
		return 0, err
	}
	switch {
	case id != applicationID && (id != 0 || version != 0 || tables > 0):
		return 0, &Error{Path: path, Msg: "belongs to another program", Hint: "name another folder with --state"}
	case version > len(migrations) || version < 0:
		return 0, &Error{
			Path: path, Msg: fmt.Sprintf("is of version %d; this program knows those up to %d", version, len(migrations)),
			Hint: "use the newer toolhost that wrote it, or name another folder with --state",
		}
	}
	return version, nil
}

// maxWait is how long another process is waited for, as with busy_timeout.
const maxWait = 5 * time.Second

// useWAL has writers append to a log, so that readers never wait for them. The mode stays
// in the file. A file system that cannot do it keeps its own mode, which works too.
//
// SQLite does not wait for others here, since two that want it would wait for each other.
func useWAL(ctx context.Context, db *sql.DB) error {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	for {
		var mode string
		err := db.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode)
		if err == nil && mode != "wal" {
			err = db.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode)
		}
		if !busy(err) {
			return err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}
