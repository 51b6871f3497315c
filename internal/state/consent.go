package state

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"
	"unicode/utf8"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

// Consent is what the user has agreed to of the plugin in one folder, and what waits.
type Consent struct {
	Folder  string // absolute, links resolved
	Plugin  string // its name as of the last load
	Origin  string // how it came here: "named", "installed"
	Agreed  *ConsentVersion
	Pending *ConsentVersion // what was found in the folder and not agreed to; nil for nothing
	Revoked bool            // the user took the consent back: nothing of the folder runs
	How     string          // by what it was agreed to: "first seen", "approved", …
	At      time.Time       // when it was agreed to, or taken back
}

// ConsentVersion is one version of a plugin.
type ConsentVersion struct {
	Fingerprint string            `json:"fingerprint"`       // of Summary
	Tree        string            `json:"tree,omitempty"`    // the hash of all files; "" where the code does not count
	Digest      string            `json:"digest,omitempty"`  // of Files
	Summary     json.RawMessage   `json:"summary"`           // what it asks for
	Files       map[string][]byte `json:"files,omitempty"`   // the manifest, the schemas and the prompts; may be nil
	Copy        string            `json:"copy,omitempty"`    // the folder of a copy of all of it
	Differs     []string          `json:"differs,omitempty"` // of a pending version: how it differs from the agreed one
}

const consentColumns = "folder, plugin, origin, agreed, pending, revoked, how, at"

// consentRow is a record as it is stored.
type consentRow struct {
	Consent
	agreed, pending []byte
}

func scanConsentRow(row interface{ Scan(...any) error }) (*consentRow, error) {
	r := &consentRow{}
	var at int64
	if err := row.Scan(&r.Folder, &r.Plugin, &r.Origin, &r.agreed, &r.pending, &r.Revoked, &r.How, &at); err != nil {
		return nil, err
	}
	r.At = time.Unix(at, 0)
	return r, nil
}

// consent reads the versions of a record.
func (r *consentRow) consent() *Consent {
	c := r.Consent
	for _, part := range []struct {
		text []byte
		into **ConsentVersion
	}{{r.agreed, &c.Agreed}, {r.pending, &c.Pending}} {
		if part.text == nil {
			continue
		}
		*part.into = readVersion(part.text)
	}
	return &c
}

// readVersion reads a version as consentText writes it. One that somebody has edited may be the
// version of nothing. A start reads one of each plugin, and encoding/json would take several
// times as long.
func readVersion(text []byte) *ConsentVersion {
	v := &ConsentVersion{}
	if !json.Valid(text) || !utf8.Valid(text) || bytes.TrimSpace(text)[0] != '{' {
		return v
	}
	texts := map[string]*string{"fingerprint": &v.Fingerprint, "tree": &v.Tree, "digest": &v.Digest, "copy": &v.Copy}
	for name, value := range jsondoc.Members(text) {
		var err error
		switch into := texts[name]; {
		case into != nil:
			read, _ := jsondoc.Value(value)
			var ok bool
			if *into, ok = read.(string); !ok {
				return &ConsentVersion{}
			}
		case name == "summary":
			v.Summary = bytes.Clone(value)
		case name == "files":
			v.Files, err = readFiles(value)
		case name == "differs":
			err = json.Unmarshal(value, &v.Differs)
		}
		if err != nil {
			return &ConsentVersion{}
		}
	}
	return v
}

// readFiles reads files as encoding/json writes them: their bytes are base64.
func readFiles(text []byte) (map[string][]byte, error) {
	read, _ := jsondoc.Value(text)
	object, ok := read.(map[string]any)
	if !ok {
		return nil, errNoFiles
	}
	files := make(map[string][]byte, len(object))
	for name, data := range object {
		encoded, ok := data.(string)
		if !ok {
			return nil, errNoFiles
		}
		var err error
		if files[name], err = base64.StdEncoding.DecodeString(encoded); err != nil {
			return nil, err
		}
	}
	return files, nil
}

var errNoFiles = errors.New("they are no files")

func scanConsent(row interface{ Scan(...any) error }) (*Consent, error) {
	r, err := scanConsentRow(row)
	if err != nil {
		return nil, err
	}
	return r.consent(), nil
}

// Consent gives what is known of a folder; nil where nothing is.
func (d *DB) Consent(ctx context.Context, folder string) (c *Consent, err error) {
	err = d.read(ctx, func(db *sql.DB) error {
		c, err = scanConsent(db.QueryRowContext(ctx, "SELECT "+consentColumns+" FROM consent WHERE folder = ?", folder))
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return c, err
}

// Consents gives all that is known, by plugin and folder; of one plugin where plugin is not "".
func (d *DB) Consents(ctx context.Context, plugin string) ([]*Consent, error) {
	return d.consents(ctx, "? = '' OR plugin = ?", plugin, plugin)
}

// ConsentsByFolder gives all that is known, by folder. A record is read when its function is
// called: that takes longer than the query, and those who need one can do it at the same time.
func (d *DB) ConsentsByFolder(ctx context.Context) (map[string]func() *Consent, error) {
	all := map[string]func() *Consent{}
	err := d.read(ctx, func(db *sql.DB) error {
		return each(ctx, db, func(rows *sql.Rows) error {
			r, err := scanConsentRow(rows)
			if err == nil {
				all[r.Folder] = r.consent
			}
			return err
		}, "SELECT "+consentColumns+" FROM consent")
	})
	return all, err
}

// ConsentsPending gives those of which a version waits, by plugin and folder.
func (d *DB) ConsentsPending(ctx context.Context) ([]*Consent, error) {
	return d.consents(ctx, "pending IS NOT NULL")
}

// consents gives what is known where a condition holds.
func (d *DB) consents(ctx context.Context, condition string, args ...any) ([]*Consent, error) {
	list := []*Consent{}
	err := d.read(ctx, func(db *sql.DB) error {
		return each(ctx, db, func(rows *sql.Rows) error {
			c, err := scanConsent(rows)
			list = append(list, c)
			return err
		}, "SELECT "+consentColumns+" FROM consent WHERE "+condition+" ORDER BY plugin, folder", args...)
	})
	return list, err
}

// ConsentOrder gives the folders of which something is known, the one first that was known first.
func (d *DB) ConsentOrder(ctx context.Context) (folders []string, err error) {
	err = d.read(ctx, func(db *sql.DB) error {
		folders, err = texts(ctx, db, "SELECT folder FROM consent ORDER BY rowid") // an update keeps its row
		return err
	})
	return folders, err
}

// UpdateConsent changes what is known of a folder, in one step: change gets what is there,
// nil for nothing, and gives what is to be there, nil for nothing. It must not keep or change
// what it gets. decided says that it is the user who has decided: hosts that are running look
// at the plugin again.
func (d *DB) UpdateConsent(ctx context.Context, folder string, decided bool, change func(*Consent) (*Consent, error)) error {
	return d.write(ctx, func(tx *sql.Tx) error {
		old, err := scanConsent(tx.QueryRowContext(ctx, "SELECT "+consentColumns+" FROM consent WHERE folder = ?", folder))
		if errors.Is(err, sql.ErrNoRows) {
			old, err = nil, nil
		}
		if err != nil {
			return err
		}
		c, err := change(old)
		if err != nil || reflect.DeepEqual(c, old) {
			return err
		}
		if c == nil {
			_, err = tx.ExecContext(ctx, "DELETE FROM consent WHERE folder = ?", folder)
			return err
		}
		n := int64(0)
		if decided {
			if err := tx.QueryRowContext(ctx, "UPDATE consent_version SET n = n + 1 RETURNING n").Scan(&n); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO consent (`+consentColumns+`, decided) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT DO UPDATE SET plugin = excluded.plugin, origin = excluded.origin, agreed = excluded.agreed, pending = excluded.pending,
			revoked = excluded.revoked, how = excluded.how, at = excluded.at, decided = max(decided, excluded.decided)`,
			folder, c.Plugin, c.Origin, consentText(c.Agreed), consentText(c.Pending), c.Revoked, c.How, c.At.Unix(), n)
		return err
	})
}

// consentText gives a version as it is stored; nil for none.
func consentText(v *ConsentVersion) []byte {
	if v == nil {
		return nil
	}
	text, err := json.Marshal(v)
	if err != nil || !utf8.Valid(text) {
		return []byte("{}") // its summary is no JSON: it is the version of nothing
	}
	return text
}

// ConsentsDecided gives the folders about which the user has decided since a version, and the
// version now; where since is negative the version only.
func (d *DB) ConsentsDecided(ctx context.Context, since int64) (folders []string, now int64, err error) {
	err = d.read(ctx, func(db *sql.DB) error {
		if err := db.QueryRowContext(ctx, "SELECT n FROM consent_version").Scan(&now); err != nil || since < 0 || now == since {
			return err
		}
		folders, err = texts(ctx, db, "SELECT folder FROM consent WHERE decided > ?", since)
		return err
	})
	return folders, now, err
}

// ConsentRequest is something that an agent asks the user for. All of its texts are the
// agent's.
type ConsentRequest struct {
	ID         int64
	Plugin     string
	Permission string
	Reason     string
	Agent      string
	At         time.Time
}

// MaxConsentRequests is how many requests wait at most, of all plugins and of one.
const (
	MaxConsentRequests          = 100
	MaxConsentRequestsOfAPlugin = 10
)

// ErrTooManyRequests says that no more requests can wait.
var ErrTooManyRequests = errors.New("too many requests wait already")

// AddConsentRequest has a request wait for the user. One for the same permission of the same
// plugin is that request; added is false then.
func (d *DB) AddConsentRequest(ctx context.Context, r *ConsentRequest) (id int64, added bool, err error) {
	err = d.write(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRowContext(ctx, "SELECT id FROM consent_requests WHERE plugin = ? AND permission = ?", r.Plugin, r.Permission).Scan(&id)
		if err == nil || !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		var all, same int
		if err := tx.QueryRowContext(ctx, "SELECT count(*), count(CASE WHEN plugin = ? THEN 1 END) FROM consent_requests", r.Plugin).Scan(&all, &same); err != nil {
			return err
		}
		if all >= MaxConsentRequests || same >= MaxConsentRequestsOfAPlugin {
			return ErrTooManyRequests
		}
		added = true
		return tx.QueryRowContext(ctx, "INSERT INTO consent_requests (plugin, permission, reason, agent, at) VALUES (?, ?, ?, ?, ?) RETURNING id",
			r.Plugin, r.Permission, r.Reason, r.Agent, r.At.Unix()).Scan(&id)
	})
	return id, added && err == nil, err
}

// ConsentRequests gives the requests that wait, the oldest first.
func (d *DB) ConsentRequests(ctx context.Context) ([]ConsentRequest, error) {
	list := []ConsentRequest{}
	err := d.read(ctx, func(db *sql.DB) error {
		return each(ctx, db, func(rows *sql.Rows) error {
			var r ConsentRequest
			var at int64
			err := rows.Scan(&r.ID, &r.Plugin, &r.Permission, &r.Reason, &r.Agent, &at)
			r.At = time.Unix(at, 0)
			list = append(list, r)
			return err
		}, "SELECT id, plugin, permission, reason, agent, at FROM consent_requests ORDER BY id")
	})
	return list, err
}

// DropConsentRequests takes the requests for a plugin away and gives how many there were.
func (d *DB) DropConsentRequests(ctx context.Context, plugin string) (n int64, err error) {
	err = d.write(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, "DELETE FROM consent_requests WHERE plugin = ?", plugin)
		if err != nil {
			return err
		}
		n, err = result.RowsAffected()
		return err
	})
	return n, err
}

// Forget takes away what a plugin has stored, and its settings.
func (d *DB) Forget(ctx context.Context, plugin string) error {
	return d.write(ctx, func(tx *sql.Tx) error {
		for _, table := range []string{"settings", "store", "store_use"} {
			if _, err := tx.ExecContext(ctx, fmt.Sprintf("DELETE FROM %s WHERE plugin = ?", table), plugin); err != nil {
				return err
			}
		}
		return nil
	})
}
