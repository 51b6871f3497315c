package state

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Error says why the database cannot be used, or not be written. What it holds is left
// as it is.
type Error struct {
	Path string // of the database; "" where there is no folder for one
	Msg  string // "is damaged"
	Hint string // what to do about it; may be empty
	Err  error  // the cause; may be nil
}

func (e *Error) Error() string {
	text := e.Msg
	if e.Path != "" {
		text = fmt.Sprintf("the state database %q %s", e.Path, e.Msg)
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

const (
	hintFolder  = "see to it that the folder can be written, or name another one with --state"
	hintDamaged = "toolhost leaves it as it is; restore a copy, or move it away with its -wal and -shm files to begin anew"
)

// explain turns an error of SQLite into an [*Error]; others are given back.
func explain(path string, err error) error {
	var coded *sqlite.Error
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &coded) {
		return err
	}
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	e := &Error{Path: path, Err: err}
	switch class(coded.Code()) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		e.Msg, e.Hint = "is damaged, or no database", hintDamaged
	case sqlite3.SQLITE_FULL:
		e.Msg, e.Hint = "cannot grow", "the disk is full: make room, or name another folder with --state"
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		e.Msg, e.Hint = "is in use by another process for too long", "try again; if it stays, look for a process that hangs"
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		e.Msg, e.Hint = "cannot be opened for writing", hintFolder
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOLFS:
		e.Msg, e.Hint = "cannot be read or written", "the disk or the file system failed; --state names another folder"
	default:
		e.Msg = "failed"
	}
	return e
}

// class gives what an extended code of SQLite is one of.
func class(code int) int {
	if code == sqlite3.SQLITE_IOERR_SHMSIZE {
		return sqlite3.SQLITE_FULL // the -shm file could not grow: a full disk, when the database is opened
	}
	return code & 0xff
}

// busy reports whether somebody else has the database.
func busy(err error) bool {
	var coded *sqlite.Error
	return errors.As(err, &coded) && coded.Code()&0xff == sqlite3.SQLITE_BUSY
}
