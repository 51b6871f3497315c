package state

import (
	"testing"

	sqlite3 "modernc.org/sqlite/lib"
)

// A database that is opened on a full disk fails at its -shm file first.
func TestClass(t *testing.T) {
	for code, want := range map[int]int{
		sqlite3.SQLITE_FULL: sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE: sqlite3.SQLITE_FULL,
		sqlite3.SQLITE_IOERR_READ: sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN_ISDIR: sqlite3.SQLITE_CANTOPEN,
		sqlite3.SQLITE_READONLY_DIRECTORY: sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CORRUPT_VTAB: sqlite3.SQLITE_CORRUPT,
	} {
		if got := class(code); got != want {
			t.Errorf("class(%d) = %d, want %d", code, got, want)
		}
	}
}
