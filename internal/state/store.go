package state

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
)

// Limits of what one plugin may store.
const (
	MaxStoreKey   = 512      // bytes of a key
	MaxStoreValue = 1 << 20  // bytes of a value, as JSON
	MaxStoreKeys  = 10_000   // keys
	MaxStoreBytes = 10 << 20 // bytes of all keys and values
)

// Store is what one plugin keeps beyond its calls. It is safe for concurrent use.
type Store struct {
	db     *DB
	plugin string
}

// Store gives the store of a plugin.
func (d *DB) Store(plugin string) *Store { return &Store{d, plugin} }

func checkStoreKey(key string) error {
	switch {
	case key == "":
		return errors.New("a key of the store must not be empty")
	case len(key) > MaxStoreKey:
		return fmt.Errorf("a key of the store may have %d bytes, not %d", MaxStoreKey, len(key))
	}
	return nil
}

// Get gives a value as it was set; nil where there is none.
func (s *Store) Get(ctx context.Context, key string) (json.RawMessage, error) {
	if err := checkStoreKey(key); err != nil {
		return nil, err
	}
	var value []byte
	err := s.db.read(ctx, func(db *sql.DB) error {
		err := db.QueryRowContext(ctx, "SELECT value FROM store WHERE plugin = ? AND key = ?", s.plugin, []byte(key)).Scan(&value)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return value, err
}

// Set keeps a value, which must be JSON. An error changes nothing.
func (s *Store) Set(ctx context.Context, key string, value json.RawMessage) error {
	if err := checkStoreKey(key); err != nil {
		return err
	}
	switch {
	case len(value) > MaxStoreValue:
		return fmt.Errorf("a value of the store may have %d bytes as JSON; that of %q has %d", MaxStoreValue, key, len(value))
	case !json.Valid(value):
		return fmt.Errorf("the value of %q is no JSON", key)
	}
	return s.db.write(ctx, func(tx *sql.Tx) error {
		u, old, err := s.use(ctx, tx, key)
		if err != nil {
			return err
		}
		if old < 0 {
			u.keys++
			u.bytes += int64(len(key))
			old = 0
		}
		u.bytes += int64(len(value)) - old
		switch {
		case u.keys > MaxStoreKeys:
			return fmt.Errorf("the store of plugin %q may have %d keys; delete some first", s.plugin, MaxStoreKeys)
		case u.bytes > MaxStoreBytes && int64(len(value)) > old:
			return fmt.Errorf("the store of plugin %q may have %d bytes, and would have %d; delete some first", s.plugin, MaxStoreBytes, u.bytes)
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO store (plugin, key, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
			s.plugin, []byte(key), []byte(value)); err != nil {
			return err
		}
		return s.setUse(ctx, tx, u)
	})
}

// Delete takes a value away and reports whether there was one.
func (s *Store) Delete(ctx context.Context, key string) (bool, error) {
	if old, err := s.Get(ctx, key); err != nil || old == nil {
		return false, err // there is nothing to write
	}
	had := false
	err := s.db.write(ctx, func(tx *sql.Tx) error {
		u, old, err := s.use(ctx, tx, key)
		if err != nil || old < 0 {
			return err // somebody else was faster
		}
		had = true
		if _, err := tx.ExecContext(ctx, "DELETE FROM store WHERE plugin = ? AND key = ?", s.plugin, []byte(key)); err != nil {
			return err
		}
		u.keys--
		u.bytes -= int64(len(key)) + old
		return s.setUse(ctx, tx, u)
	})
	return had && err == nil, err
}

// List gives the keys that begin with prefix, in byte order.
func (s *Store) List(ctx context.Context, prefix string) ([]string, error) {
	query, args := "SELECT key FROM store WHERE plugin = ? AND key >= ?", []any{s.plugin, []byte(prefix)}
	if next := after(prefix); next != nil {
		query, args = query+" AND key < ?", append(args, next)
	}
	keys := []string{}
	err := s.db.read(ctx, func(db *sql.DB) error {
		found, err := texts(ctx, db, query+" ORDER BY key", args...)
		keys = append(keys, found...)
		return err
	})
	if err != nil {
		return nil, err
	}
	return keys, nil
}

// after gives the least text behind all that begin with prefix; nil where there is none.
func after(prefix string) []byte {
	next := []byte(prefix)
	for len(next) > 0 && next[len(next)-1] == 0xff { // bytes.TrimRight would take any invalid byte for it
		next = next[:len(next)-1]
	}
	if len(next) == 0 {
		return nil
	}
	next[len(next)-1]++
	return next
}

// use is how much a plugin stores.
type use struct{ keys, bytes int64 }

// use gives how much the plugin stores, and how long the value of a key is: -1 where there
// is none.
func (s *Store) use(ctx context.Context, tx *sql.Tx, key string) (u use, old int64, err error) {
	err = tx.QueryRowContext(ctx, "SELECT keys, bytes FROM store_use WHERE plugin = ?", s.plugin).Scan(&u.keys, &u.bytes)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return u, 0, err
	}
	err = tx.QueryRowContext(ctx, "SELECT length(value) FROM store WHERE plugin = ? AND key = ?", s.plugin, []byte(key)).Scan(&old)
	if errors.Is(err, sql.ErrNoRows) {
		return u, -1, nil
	}
	return u, old, err
}

func (s *Store) setUse(ctx context.Context, tx *sql.Tx, u use) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO store_use (plugin, keys, bytes) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET keys = excluded.keys, bytes = excluded.bytes",
		s.plugin, u.keys, u.bytes)
	return err
}
