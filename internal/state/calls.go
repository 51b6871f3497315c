package state

import (
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
)

// Call is a row of the call log.
type Call struct {
	N        int64 // its place in the log, counted in the order of recording
	ID       string
	At       time.Time // when it ended
	Tool     string
	Plugin   string // "" where there is no such tool
	Failure  string // the kind of failure; "" where it did not fail
	Duration time.Duration
	// Fields are what else is known of it, a JSON object.
	Fields json.RawMessage
	// Used are permissions that the call used. They are kept for each tool, not for each
	// call: a call that was read has none.
	Used []string
}

// rowBytes is what a row takes besides its texts, indexes included.
const rowBytes = 200

func (c *Call) size() int64 {
	return int64(rowBytes + 2*len(c.ID) + 3*(len(c.Tool)+len(c.Plugin)) + len(c.Failure) + len(c.Fields))
}

// AddCalls writes calls down, all of them or none, and gives the N of the last one.
func (d *DB) AddCalls(ctx context.Context, calls []*Call) (last int64, err error) {
	err = d.write(ctx, func(tx *sql.Tx) error {
		insert, err := tx.PrepareContext(ctx, "INSERT INTO calls (id, at, tool, plugin, failure, duration, size, fields) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING")
		if err != nil {
			return err
		}
		defer insert.Close()
		type toolDay struct {
			plugin, tool string
			day          int64
		}
		type use struct{ plugin, tool, permission string }
		days, uses, bytes := map[toolDay]*counts{}, map[use]int64{}, int64(0)
		for _, c := range calls {
			size := c.size()
			fields := []byte(c.Fields)
			if fields == nil {
				fields = []byte("{}")
			}
			if _, err := insert.ExecContext(ctx, c.ID, c.At.UnixMicro(), c.Tool, c.Plugin, c.Failure, c.Duration.Microseconds(), size, fields); err != nil {
				return err
			}
			bytes += size
			at := toolDay{c.Plugin, c.Tool, day(c.At)}
			if c.Plugin == "" {
				at.tool = "" // whoever calls what is not there makes up names
			}
			if days[at] == nil {
				days[at] = newCounts()
			}
			days[at].Failures[c.Failure]++
			days[at].Buckets[bucket(c.Duration)]++
			for _, permission := range c.Used {
				uses[use{c.Plugin, c.Tool, permission}] = c.At.UnixMicro()
			}
		}
		for at, more := range days {
			var old []byte
			err := tx.QueryRowContext(ctx, "SELECT counts FROM call_days WHERE plugin = ? AND tool = ? AND day = ?", at.plugin, at.tool, at.day).Scan(&old)
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return err
			}
			more.addText(old)
			if _, err := tx.ExecContext(ctx, "REPLACE INTO call_days (plugin, tool, day, counts) VALUES (?, ?, ?, ?)", at.plugin, at.tool, at.day, more.append(nil)); err != nil {
				return err
			}
		}
		for u, at := range uses {
			if _, err := tx.ExecContext(ctx, `INSERT INTO call_permissions (plugin, tool, permission, last) VALUES (?, ?, ?, ?)
				ON CONFLICT DO UPDATE SET last = max(last, excluded.last)`, u.plugin, u.tool, u.permission, at); err != nil {
				return err
			}
		}
		if _, err = tx.ExecContext(ctx, "UPDATE call_total SET bytes = bytes + ?", bytes); err != nil {
			return err
		}
		return tx.QueryRowContext(ctx, "SELECT coalesce(max(n), 0) FROM calls").Scan(&last)
	})
	return last, err
}

const (
	// microsPerDay is the length of the days by which times are counted.
	microsPerDay = int64(24 * time.Hour / time.Microsecond)
	// bucketsPerDoubling says how fine durations are counted: a bucket is 9 % wide.
	bucketsPerDoubling = 8
)

func day(at time.Time) int64 { return at.UnixMicro() / microsPerDay }

// bucket gives the bucket of a duration, which counts those that are alike.
func bucket(d time.Duration) int {
	micros := max(1, d.Microseconds())
	return int(math.Floor(math.Log2(float64(micros)) * bucketsPerDoubling))
}

// middle gives the duration that stands for a bucket.
func middle(bucket int) time.Duration {
	return time.Duration(math.Exp2((float64(bucket)+0.5)/bucketsPerDoubling) * float64(time.Microsecond))
}

// counts are how many calls there were of each kind and length.
type counts struct {
	Failures map[string]int // by kind; "" are those that did not fail
	Buckets  map[int]int    // by the bucket of the duration
}

// append writes counts down: the number of kinds, each with its length, text and count, then
// the buckets with theirs. JSON takes ten times as long to read, and "stats" reads many.
func (c *counts) append(to []byte) []byte {
	to = binary.AppendUvarint(to, uint64(len(c.Failures)))
	for kind, n := range c.Failures {
		to = binary.AppendUvarint(to, uint64(len(kind)))
		to = append(to, kind...)
		to = binary.AppendUvarint(to, uint64(n))
	}
	for b, n := range c.Buckets {
		to = binary.AppendUvarint(to, uint64(b))
		to = binary.AppendUvarint(to, uint64(n))
	}
	return to
}

// addText adds counts as they were written; what is damaged counts nothing.
func (c *counts) addText(text []byte) {
	next := func() int {
		n, size := binary.Uvarint(text)
		if size <= 0 || n > math.MaxInt32 {
			text = nil
			return 0
		}
		text = text[size:]
		return int(n)
	}
	for kinds := next(); kinds > 0 && len(text) > 0; kinds-- {
		length := next()
		if length > len(text) {
			return
		}
		kind := string(text[:length])
		text = text[length:]
		c.Failures[kind] += next()
	}
	for len(text) > 0 {
		b := next()
		c.Buckets[b] += next()
	}
}

func newCounts() *counts { return &counts{Failures: map[string]int{}, Buckets: map[int]int{}} }

// quantile gives the duration that a share of the calls does not exceed.
func (c *counts) quantile(share float64) time.Duration {
	all := 0
	for _, n := range c.Buckets {
		all += n
	}
	rank, seen := int(math.Ceil(share*float64(all))), 0
	for _, b := range slices.Sorted(maps.Keys(c.Buckets)) {
		if seen += c.Buckets[b]; seen >= rank {
			return middle(b)
		}
	}
	return 0
}

// CallQuery says which calls are wanted. The zero value wants all of them.
type CallQuery struct {
	Tool, Plugin string
	Failed       bool
	Since        time.Time
	After        int64 // only calls whose N is larger; 0 is no such limit
	Limit        int   // the last so many; 0 is all
}

// Calls gives calls in the order in which they ended.
func (d *DB) Calls(ctx context.Context, q CallQuery) ([]*Call, error) {
	var where []string
	var args []any
	only := func(condition string, arg ...any) { where, args = append(where, condition), append(args, arg...) }
	if q.Tool != "" {
		only("tool = ?", q.Tool)
	}
	if q.Plugin != "" {
		// Where both are given the index of tools is the better one.
		if q.Tool == "" {
			only("plugin = ?", q.Plugin)
		} else {
			only("+plugin = ?", q.Plugin)
			// Where they do not belong together nothing is looked through.
			only("(EXISTS (SELECT 1 FROM call_days WHERE plugin = ? AND tool = ?))", q.Plugin, q.Tool)
		}
	}
	if q.Failed {
		only("failure <> ''")
	}
	if !q.Since.IsZero() {
		only("at >= ?", q.Since.UnixMicro())
	}
	order := "at DESC, n DESC"
	if q.After != 0 {
		only("n > ?", q.After)
		order = "n DESC"
	}
	query := ""
	if len(where) > 0 {
		query += " WHERE " + strings.Join(where, " AND ")
	}
	query += " ORDER BY " + order
	if q.Limit > 0 {
		query += fmt.Sprintf(" LIMIT %d", q.Limit)
	}
	calls, err := d.calls(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	slices.Reverse(calls)
	return calls, nil
}

// LastCall gives the N of the call that was recorded last; 0 where there is none.
func (d *DB) LastCall(ctx context.Context) (n int64, err error) {
	err = d.read(ctx, func(db *sql.DB) error {
		return db.QueryRowContext(ctx, "SELECT coalesce(max(n), 0) FROM calls").Scan(&n)
	})
	return n, err
}

// calls gives those that the rest of a query picks.
func (d *DB) calls(ctx context.Context, rest string, args ...any) (calls []*Call, err error) {
	err = d.read(ctx, func(db *sql.DB) error {
		return each(ctx, db, func(rows *sql.Rows) error {
			c := &Call{}
			var at, duration int64
			var fields []byte
			err := rows.Scan(&c.N, &c.ID, &at, &c.Tool, &c.Plugin, &c.Failure, &duration, &fields)
			c.At, c.Duration, c.Fields = time.UnixMicro(at), time.Duration(duration)*time.Microsecond, fields
			calls = append(calls, c)
			return err
		}, "SELECT n, id, at, tool, plugin, failure, duration, fields FROM calls"+rest, args...)
	})
	return calls, err
}

// ErrSeveralCalls says that more than one call has an ID that begins in the way that was asked for.
var ErrSeveralCalls = errors.New("several calls have IDs that begin so")

// Call gives the call with an ID, or the only one whose ID begins so; nil where there is none.
func (d *DB) Call(ctx context.Context, id string) (*Call, error) {
	if id == "" {
		return nil, nil
	}
	found, err := d.calls(ctx, " WHERE id >= ?1 AND id < ?1 || char(1114111) ORDER BY id LIMIT 2", id)
	switch {
	case err != nil || len(found) == 0:
		return nil, err
	case len(found) > 1 && found[0].ID != id:
		return nil, ErrSeveralCalls
	}
	return found[0], nil
}

// ToolStats says how the calls of one tool went.
type ToolStats struct {
	Plugin, Tool  string // both "" for calls of what was not there
	Calls         int
	Failures      map[string]int // by kind
	P50, P95, P99 time.Duration  // of all calls, at most 5 % off
}

// CallStats gives how calls went since the beginning of a day, by plugin and tool in the order
// of their names. The zero time is the beginning of the log. They count every call that was
// recorded since, also those that retention has taken away from the log by their size.
func (d *DB) CallStats(ctx context.Context, since time.Time) ([]*ToolStats, error) {
	from := int64(0)
	if !since.IsZero() {
		from = day(since)
	}
	var list []*ToolStats
	sums := map[*ToolStats]*counts{}
	err := d.read(ctx, func(db *sql.DB) error {
		var last *ToolStats
		return each(ctx, db, func(rows *sql.Rows) error {
			var plugin, tool string
			var text []byte
			if err := rows.Scan(&plugin, &tool, &text); err != nil {
				return err
			}
			if last == nil || last.Plugin != plugin || last.Tool != tool {
				last = &ToolStats{Plugin: plugin, Tool: tool, Failures: map[string]int{}}
				list, sums[last] = append(list, last), newCounts()
			}
			sums[last].addText(text)
			return nil
		}, "SELECT plugin, tool, counts FROM call_days WHERE day >= ? ORDER BY plugin, tool", from)
	})
	if err != nil {
		return nil, err
	}
	for s, c := range sums {
		for kind, n := range c.Failures {
			s.Calls += n
			if kind != "" {
				s.Failures[kind] = n
			}
		}
		s.P50, s.P95, s.P99 = c.quantile(0.5), c.quantile(0.95), c.quantile(0.99)
	}
	return list, nil
}

// UsedPermissions gives the permissions that calls of the tools of a plugin used, with the
// time of the last use.
func (d *DB) UsedPermissions(ctx context.Context, plugin, tool string) (map[string]time.Time, error) {
	used := map[string]time.Time{}
	err := d.read(ctx, func(db *sql.DB) error {
		return each(ctx, db, func(rows *sql.Rows) error {
			var permission string
			var last int64
			err := rows.Scan(&permission, &last)
			used[permission] = time.UnixMicro(last)
			return err
		}, "SELECT permission, last FROM call_permissions WHERE plugin = ? AND tool = ?", plugin, tool)
	})
	if err != nil {
		return nil, err
	}
	return used, nil
}

// pruneStep is how many calls one transaction takes away at most.
const pruneStep = 1000

// PruneCalls takes away the calls that ended before a time, and then the oldest ones until the
// rest has at most maxBytes. It reports how many went. It does it in small steps, so that
// others can write in between.
func (d *DB) PruneCalls(ctx context.Context, before time.Time, maxBytes int64) (gone int, err error) {
	for {
		n := 0
		err = d.write(ctx, func(tx *sql.Tx) error {
			var total int64
			if err := tx.QueryRowContext(ctx, "SELECT bytes FROM call_total").Scan(&total); err != nil {
				return err
			}
			rows, err := tx.QueryContext(ctx, "SELECT n, at, size FROM calls ORDER BY at, n LIMIT ?", pruneStep)
			if err != nil {
				return err
			}
			defer rows.Close()
			var last struct{ n, at int64 }
			bytes := int64(0)
			for rows.Next() {
				var row, at, size int64
				if err := rows.Scan(&row, &at, &size); err != nil {
					return err
				}
				if at >= before.UnixMicro() && total-bytes <= maxBytes {
					break
				}
				last.n, last.at = row, at
				bytes += size
				n++
			}
			if err := rows.Err(); err != nil || n == 0 {
				return err
			}
			if err := rows.Close(); err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, "DELETE FROM calls WHERE (at, n) <= (?, ?)", last.at, last.n); err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, "UPDATE call_total SET bytes = bytes - ?", bytes)
			return err
		})
		gone += n
		if err != nil || n < pruneStep {
			break
		}
	}
	if err != nil {
		return gone, err
	}
	return gone, d.write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM call_days WHERE day < ?", day(before)); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM call_permissions WHERE last < ?", before.UnixMicro())
		return err
	})
}

// SetToolOff has a tool hidden from agents, or shown again. It reports whether that changed
// anything.
func (d *DB) SetToolOff(ctx context.Context, tool string, off bool) (changed bool, err error) {
	query := "DELETE FROM tools_off WHERE tool = ?"
	if off {
		query = "INSERT INTO tools_off (tool) VALUES (?) ON CONFLICT DO NOTHING"
	}
	err = d.write(ctx, func(tx *sql.Tx) error {
		result, err := tx.ExecContext(ctx, query, tool)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		changed = n > 0
		return err
	})
	return changed, err
}

// ToolsOff gives the names of the tools that are hidden from agents, sorted.
func (d *DB) ToolsOff(ctx context.Context) (names []string, err error) {
	err = d.read(ctx, func(db *sql.DB) error {
		names, err = texts(ctx, db, "SELECT tool FROM tools_off ORDER BY tool")
		return err
	})
	return names, err
}
