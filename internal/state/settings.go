package state

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Settings are those of one plugin. It is safe for concurrent use. Every read looks into
// the database: what another process sets counts at once.
type Settings struct {
	db       *DB
	plugin   string
	declared []Declaration
	warned   sync.Map // what was warned about, by the text of the warning and the setting
}

// Settings gives the settings of a plugin, as its manifest declares them.
func (d *DB) Settings(plugin string, declared []Declaration) *Settings {
	return &Settings{db: d, plugin: plugin, declared: slices.Clone(declared)}
}

// Setting says how a setting stands.
type Setting struct {
	Declaration
	Plugin string
	Set    bool            // by the user
	Value  json.RawMessage // what the user set, or the default; nil where there is neither, and always for secrets
}

// SecretError says that a secret setting cannot be read. Other settings can be.
type SecretError struct {
	Key string
	Err error
}

func (e *SecretError) Error() string {
	return fmt.Sprintf("the secret setting %q cannot be read: %v", e.Key, e.Err)
}

func (e *SecretError) Unwrap() error { return e.Err }

// Get gives the value of a setting, by its full key or by its part after the plugin's name,
// or its default; nil where it has neither, or is not declared. A value that does not fit
// what is declared counts as not set.
func (s *Settings) Get(ctx context.Context, key string) (json.RawMessage, error) {
	d := find(s.declared, s.plugin, key)
	if d == nil || !d.HasValue() {
		return nil, nil
	}
	rows, err := s.db.settings(ctx, s.plugin, d.Key)
	if err != nil {
		return nil, err
	}
	return s.value(ctx, d, rows[d.Key])
}

// All gives the values of all settings that have one, by their full keys. A secret that
// cannot be read is left out with a warning.
func (s *Settings) All(ctx context.Context) (map[string]json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	if len(s.declared) == 0 {
		return all, nil
	}
	rows, err := s.db.settings(ctx, s.plugin, "")
	if err != nil {
		return nil, err
	}
	for i := range s.declared {
		d := &s.declared[i]
		if !d.HasValue() {
			continue
		}
		value, err := s.value(ctx, d, rows[d.Key])
		var lost *SecretError
		switch {
		case errors.As(err, &lost):
			s.warn("a secret setting cannot be read", d.Key, "err", lost.Err)
		case err != nil:
			return nil, err
		case value != nil:
			all[d.Key] = value
		}
	}
	return all, nil
}

// value gives what a setting is worth. row is nil where it is not set.
func (s *Settings) value(ctx context.Context, d *Declaration, row *settingRow) (json.RawMessage, error) {
	if row != nil {
		value, err := s.db.reveal(ctx, row)
		if err != nil {
			return nil, err
		}
		if err := d.Check(value); err == nil {
			return value, nil
		}
		s.warn("a setting counts as not set: its value does not fit what the manifest declares now", d.Key, "hint", "toolhost settings set "+d.Key)
	}
	if d.Default == nil && d.Required {
		s.warn("a required setting is not set", d.Key, "hint", "toolhost settings set "+d.Key)
	}
	return d.Default, nil
}

// warn logs a warning about a setting once.
func (s *Settings) warn(msg, key string, more ...any) {
	if _, again := s.warned.LoadOrStore(msg+"\x00"+key, true); !again {
		s.db.log.Warn(msg, append([]any{"plugin", s.plugin, "setting", key}, more...)...)
	}
}

// List gives how the settings stand that have a value, in the order of their declaration.
// Secrets are not unsealed.
func (s *Settings) List(ctx context.Context) ([]Setting, error) {
	rows, err := s.db.settings(ctx, s.plugin, "")
	if err != nil {
		return nil, err
	}
	list := []Setting{}
	for _, d := range s.declared {
		if !d.HasValue() {
			continue
		}
		one := Setting{Declaration: d, Plugin: s.plugin}
		row := rows[d.Key]
		// What was set as a secret stays one, also when an update of the plugin declares
		// that it is none: it would be the way to have it printed.
		one.Secret = d.Secret || row != nil && row.keyID != ""
		switch {
		case row == nil:
		case one.Secret:
			one.Set = true
		default:
			one.Set = d.Check(row.value) == nil
		}
		switch {
		case one.Secret:
			one.Default = nil
		case one.Set:
			one.Value = row.value
		default:
			one.Value = d.Default
		}
		list = append(list, one)
	}
	return list, nil
}

// Change is a new value for a setting.
type Change struct {
	Plugin string
	Declaration
	Value json.RawMessage
}

// SetSettings sets settings, all of them or none. Values must fit; secret ones are sealed.
func (d *DB) SetSettings(ctx context.Context, changes []Change) error {
	var k *key
	for _, c := range changes {
		if err := c.Check(c.Value); err != nil {
			return err
		}
		if !c.Secret || k != nil {
			continue
		}
		if d.dir == "" {
			break // write says so
		}
		// Making the first key needs the folder, and asking for one may take a while: before
		// the transaction.
		last, err := d.lastKey(ctx)
		if err != nil {
			return err
		}
		if k, err = d.keys.current(ctx, last); err != nil {
			return &SecretError{Key: c.Key, Err: err}
		}
	}
	return d.write(ctx, func(tx *sql.Tx) error {
		if k != nil {
			if _, err := tx.ExecContext(ctx, "INSERT INTO keys (id, place, made) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", k.id, k.place, time.Now().Unix()); err != nil {
				return err
			}
		}
		for _, c := range changes {
			value, id := []byte(c.Value), any(nil)
			if c.Secret {
				value, id = k.seal(c.Key, value), k.id
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO settings (plugin, key, value, key_id) VALUES (?, ?, ?, ?)
				ON CONFLICT DO UPDATE SET value = excluded.value, key_id = excluded.key_id`, c.Plugin, c.Key, value, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// lastKey makes the database where it is missing, and gives the id of the newest key that
// is in the keyring.
func (d *DB) lastKey(ctx context.Context) (id string, err error) {
	err = d.write(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, "SELECT id FROM keys WHERE place = ? ORDER BY made DESC, id LIMIT 1", placeKeyring).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return id, err
}

// UnsetSetting takes the value of a setting away and reports whether there was one.
func (d *DB) UnsetSetting(ctx context.Context, plugin, key string) (bool, error) {
	rows, err := d.settings(ctx, plugin, key)
	if err != nil || rows[key] == nil {
		return false, err
	}
	var n int64
	err = d.write(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, "DELETE FROM settings WHERE plugin = ? AND key = ?", plugin, key)
		if err != nil {
			return err
		}
		n, err = result.RowsAffected()
		return err
	})
	return n > 0, err
}

// Secrets gives the texts of all secret settings that can be read, for those who must keep
// them out of what is written down.
func (d *DB) Secrets(ctx context.Context) ([]string, error) {
	rows, err := d.settings(ctx, "", "")
	if err != nil {
		return nil, err
	}
	var list []string
	for _, row := range rows {
		if row.keyID == "" {
			continue
		}
		value, err := d.reveal(ctx, row)
		var lost *SecretError
		if errors.As(err, &lost) {
			continue
		}
		if err != nil {
			return nil, err
		}
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = string(value)
		}
		if text != "" {
			list = append(list, text)
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// settingRow is a setting as the database has it.
type settingRow struct {
	key          string
	value        []byte // sealed where keyID is not empty
	keyID, place string
}

// settings gives the rows of a plugin's settings, or of one of them, or of all plugins, by
// their keys.
func (d *DB) settings(ctx context.Context, plugin, key string) (map[string]*settingRow, error) {
	rows := map[string]*settingRow{}
	err := d.read(ctx, func(db *sql.DB) error {
		found, err := db.QueryContext(ctx, `SELECT s.key, s.value, coalesce(s.key_id, ''), coalesce(k.place, '')
			FROM settings s LEFT JOIN keys k ON k.id = s.key_id
			WHERE (?1 = '' OR s.plugin = ?1) AND (?2 = '' OR s.key = ?2)`, plugin, key)
		if err != nil {
			return err
		}
		defer found.Close()
		for found.Next() {
			r := &settingRow{}
			if err := found.Scan(&r.key, &r.value, &r.keyID, &r.place); err != nil {
				return err
			}
			rows[r.key] = r
		}
		return found.Err()
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// reveal gives the value of a row, unsealed. An error is a *[SecretError], or that ctx has ended.
func (d *DB) reveal(ctx context.Context, r *settingRow) (json.RawMessage, error) {
	if r.keyID == "" {
		return r.value, nil
	}
	k, err := d.keys.find(ctx, r.keyID, r.place)
	if err == nil {
		var value []byte
		if value, err = k.unseal(r.key, r.value); err == nil {
			return value, nil
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, &SecretError{Key: r.key, Err: fmt.Errorf("%w; set it again with \"toolhost settings set %s\"", err, r.key)}
}
