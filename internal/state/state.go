// Package state keeps what toolhost must remember beyond one run: the settings of
// plugins and what they store. All of it is in one embedded database in the state folder,
// which several processes may use at once.
//
//	db := state.New(dir, nil)
//	defer db.Close()
//	store := db.Store("weather")
//	err := store.Set(ctx, "seen", json.RawMessage(`["Berlin"]`))
//
// A [DB] opens nothing before it is needed; reading where nothing was ever written makes no
// file. [Settings] and [Store] are what one plugin has. Secret settings are sealed with a
// key of the operating system's keyring, or of a file beside the database.
//
// What is there is never destroyed: a database that is damaged, of a newer version or not
// ours is an [Error], and stays as it is.
package state

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
)

// File is the name of the database in the state folder.
const File = "state.db"

// ErrClosed is what a [DB] gives after Close.
var ErrClosed = errors.New("the state database is closed")

// Options of a [DB]; the zero value is usable.
type Options struct {
	// Keyring keeps the keys of secret settings; nil: they are kept in a file.
	Keyring Keyring
	// Log takes warnings; nil drops them. Secrets are never logged.
	Log *slog.Logger
}

// DB is the database of one state folder. It is safe for concurrent use.
type DB struct {
	dir  string
	log  *slog.Logger
	keys keys

	writing chan struct{} // holds a token while a write runs: in one process they take turns

	mu     sync.RWMutex // held for reading while the file is used, for writing while it is opened or closed
	open   *file        // nil before the first use
	closed bool
	last   string // the last reason not to open, which was logged
}

// file is an open database file.
type file struct {
	sql  *sql.DB
	info fs.FileInfo // by which it is known again
}

// New gives the database in the folder dir, which is made with the first write. "" is
// no folder: then every use is an error. options may be nil.
func New(dir string, options *Options) *DB {
	o := Options{}
	if options != nil {
		o = *options
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if dir != "" {
		if abs, err := filepath.Abs(dir); err == nil {
			dir = abs
		}
	}
	return &DB{dir: dir, log: o.Log, keys: newKeys(dir, o.Keyring), writing: make(chan struct{}, 1)}
}

// Close closes the database after what is being done with it. Later uses are [ErrClosed].
func (d *DB) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if d.open == nil {
		return nil
	}
	f := d.open
	d.open = nil
	if err := f.sql.Close(); err != nil {
		return explain(d.path(), err)
	}
	return nil
}

func (d *DB) path() string { return filepath.Join(d.dir, File) }

// read runs f on the database. Where there is none yet, nothing was ever written: f is
// not run.
func (d *DB) read(ctx context.Context, f func(db *sql.DB) error) error {
	db, release, err := d.use(ctx, false)
	if err != nil || db == nil {
		return err
	}
	defer release()
	return explain(d.path(), f(db))
}

// write runs f in a transaction that begins with the right to write; it is undone where f
// or the commit fails.
func (d *DB) write(ctx context.Context, f func(tx *sql.Tx) error) error {
	select {
	case d.writing <- struct{}{}:
		defer func() { <-d.writing }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	db, release, err := d.use(ctx, true)
	if err != nil {
		return err
	}
	defer release()
	return explain(d.path(), transact(ctx, db, f))
}

func transact(ctx context.Context, db *sql.DB, f func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // does nothing after the commit
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit()
}

// each gives the rows of a query one after the other.
func each(ctx context.Context, db *sql.DB, row func(rows *sql.Rows) error, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// texts gives the one column of a query.
func texts(ctx context.Context, db *sql.DB, query string, args ...any) (list []string, err error) {
	err = each(ctx, db, func(rows *sql.Rows) error {
		var text string
		err := rows.Scan(&text)
		list = append(list, text)
		return err
	}, query, args...)
	return list, err
}

// use gives the open database until release is called. It is nil where there is no file
// and none is to be made. A file that was replaced or removed since the last use is let go:
// what is written to it would be lost.
func (d *DB) use(ctx context.Context, create bool) (db *sql.DB, release func(), err error) {
	if d.dir == "" {
		return nil, nil, &Error{Msg: "there is no state folder", Hint: "name one with --state"}
	}
	for {
		info, err := os.Stat(d.path())
		if errors.Is(err, fs.ErrNotExist) && !create {
			return nil, nil, nil
		}
		d.mu.RLock()
		if d.closed {
			d.mu.RUnlock()
			return nil, nil, ErrClosed
		}
		if err == nil && d.open != nil && os.SameFile(info, d.open.info) {
			return d.open.sql, d.mu.RUnlock, nil
		}
		d.mu.RUnlock()
		if err := d.reopen(ctx, create); err != nil {
			return nil, nil, err
		}
	}
}

// reopen opens the file that is there now, in the place of one that is open. A reason why
// that fails is logged when it is a new one.
func (d *DB) reopen(ctx context.Context, create bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return ErrClosed
	}
	if d.open != nil {
		if info, err := os.Stat(d.path()); err == nil && os.SameFile(info, d.open.info) {
			return nil // somebody else has opened it meanwhile
		}
		_ = d.open.sql.Close() // its file is gone; there is nothing left to lose
		d.open = nil
	}
	f, err := openFile(ctx, d.dir, create)
	if err == nil {
		d.open, d.last = f, ""
		return nil
	}
	if ctx.Err() == nil && err.Error() != d.last {
		d.last = err.Error()
		d.log.Warn("the state cannot be used", "err", err)
	}
	return err
}
