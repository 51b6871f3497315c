package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"
)

// start is when the calls of tests begin.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func ids(calls []*Call) (list []string) {
	for _, c := range calls {
		list = append(list, c.ID)
	}
	return list
}

func TestCalls(t *testing.T) {
	db := open(t, t.TempDir(), nil)
	if calls, err := db.Calls(t.Context(), CallQuery{}); err != nil || len(calls) != 0 {
		t.Fatalf("an empty log has %v, %v", calls, err)
	}
	var all []*Call
	for i, c := range []struct{ id, tool, plugin, failure string }{
		{"A1", "read", "p", ""}, {"A2", "read", "p", "denied"}, {"B1", "write", "p", ""}, {"B2", "other", "q", "timeout"}, {"B22", "read", "r", ""},
	} {
		all = append(all, &Call{ID: c.id, At: start.Add(time.Duration(i) * time.Hour), Tool: c.tool, Plugin: c.plugin, Failure: c.failure,
			Duration: time.Duration(i) * time.Millisecond, Fields: json.RawMessage(fmt.Sprintf(`{"i":%d}`, i))})
	}
	if _, err := db.AddCalls(t.Context(), all[2:]); err != nil {
		t.Fatal(err)
	}
	if _, err := db.AddCalls(t.Context(), all[:2]); err != nil {
		t.Fatal(err)
	}
	if _, err := db.AddCalls(t.Context(), all[:1]); err != nil {
		t.Fatalf("a call that is there already: %v", err)
	}
	for name, c := range map[string]struct {
		q    CallQuery
		want []string
	}{
		"all":    {CallQuery{}, []string{"A1", "A2", "B1", "B2", "B22"}},
		"tool":   {CallQuery{Tool: "read"}, []string{"A1", "A2", "B22"}},
		"plugin": {CallQuery{Plugin: "p"}, []string{"A1", "A2", "B1"}},
		"both":   {CallQuery{Plugin: "p", Tool: "read"}, []string{"A1", "A2"}},
		"failed": {CallQuery{Failed: true}, []string{"A2", "B2"}},
		"since":  {CallQuery{Since: start.Add(2 * time.Hour)}, []string{"B1", "B2", "B22"}},
		"limit":  {CallQuery{Limit: 2}, []string{"B2", "B22"}},
		"after":  {CallQuery{After: 3}, []string{"A1", "A2"}},
		"none":   {CallQuery{Tool: "missing"}, nil},
	} {
		if calls, err := db.Calls(t.Context(), c.q); err != nil || !reflect.DeepEqual(ids(calls), c.want) {
			t.Errorf("%s: %v, %v, want %v", name, ids(calls), err, c.want)
		}
	}
	for id, want := range map[string]string{"A1": "A1", "B2": "B2", "B22": "B22", "": "", "C": "", "%": ""} {
		c, err := db.Call(t.Context(), id)
		if got := ""; err != nil || (c == nil) != (want == "") || c != nil && c.ID != want {
			t.Errorf("call %q: %v, %v%s, want %q", id, c, err, got, want)
		}
	}
	if c, err := db.Call(t.Context(), "A"); !errors.Is(err, ErrSeveralCalls) {
		t.Errorf("the beginning of two IDs: %v, %v", c, err)
	}
	if c, err := db.Call(t.Context(), "A2"); err != nil || !c.At.Equal(all[1].At) || c.Duration != all[1].Duration || string(c.Fields) != `{"i":1}` {
		t.Errorf("read back: %+v, %v", c, err)
	}
}

func TestCallStats(t *testing.T) {
	db := open(t, t.TempDir(), nil)
	var calls []*Call
	for i := range 1000 {
		c := &Call{ID: fmt.Sprint(i), At: start, Tool: "t", Plugin: "p", Duration: time.Duration(i+1) * time.Millisecond, Used: []string{"fs.read"}}
		if i%100 == 0 {
			c.Failure = "error"
		}
		if i%2 == 0 {
			c.At = start.Add(48 * time.Hour)
		}
		calls = append(calls, c)
	}
	for _, half := range [][]*Call{calls[:500], calls[500:]} {
		if _, err := db.AddCalls(t.Context(), half); err != nil {
			t.Fatal(err)
		}
	}
	near := func(got, want time.Duration) bool {
		return float64(got) > 0.95*float64(want) && float64(got) < 1.05*float64(want)
	}
	stats, err := db.CallStats(t.Context(), time.Time{})
	if err != nil || len(stats) != 1 {
		t.Fatalf("%v, %v", stats, err)
	}
	s := stats[0]
	if s.Calls != 1000 || !reflect.DeepEqual(s.Failures, map[string]int{"error": 10}) || !near(s.P50, 500*time.Millisecond) || !near(s.P95, 950*time.Millisecond) || !near(s.P99, 990*time.Millisecond) {
		t.Errorf("%+v", s)
	}
	if stats, err := db.CallStats(t.Context(), start.Add(24*time.Hour)); err != nil || stats[0].Calls != 500 {
		t.Errorf("since a day later: %+v, %v", stats[0], err)
	}
	used, err := db.UsedPermissions(t.Context(), "p", "t")
	if err != nil || len(used) != 1 || !used["fs.read"].Equal(start.Add(48*time.Hour)) && !used["fs.read"].Equal(start) {
		t.Errorf("used %v, %v", used, err)
	}
}

func TestPruneCalls(t *testing.T) {
	db := open(t, t.TempDir(), nil)
	var calls []*Call
	for i := range 2500 {
		calls = append(calls, &Call{ID: fmt.Sprint(i), At: start.Add(time.Duration(i) * time.Hour), Tool: "t", Fields: json.RawMessage(`{}`), Used: []string{"store"}})
	}
	if _, err := db.AddCalls(t.Context(), calls); err != nil {
		t.Fatal(err)
	}
	size := calls[2499].size()
	for _, step := range []struct {
		before time.Time
		bytes  int64
		gone   int
		first  string
	}{
		{start, 1 << 40, 0, "0"},
		{start.Add(1500 * time.Hour), 1 << 40, 1500, "1500"},
		{start, 10 * size, 990, "2490"},
		{start, 10 * size, 0, "2490"},
		{start, 0, 10, ""},
	} {
		gone, err := db.PruneCalls(t.Context(), step.before, step.bytes)
		left, lookErr := db.Calls(t.Context(), CallQuery{})
		first := ""
		if len(left) > 0 {
			first = left[0].ID
		}
		if err != nil || lookErr != nil || gone != step.gone || first != step.first {
			t.Errorf("%d went, the first is %q (%v, %v); want %d, %q", gone, first, err, lookErr, step.gone, step.first)
		}
	}
	if _, err := db.PruneCalls(t.Context(), start.Add(9000*time.Hour), 0); err != nil {
		t.Fatal(err)
	}
	if stats, err := db.CallStats(t.Context(), time.Time{}); err != nil || len(stats) != 0 {
		t.Errorf("the counts stayed: %v, %v", stats, err)
	}
	if used, err := db.UsedPermissions(t.Context(), "", "t"); err != nil || len(used) != 0 {
		t.Errorf("the permissions stayed: %v, %v", used, err)
	}
}

// TestTwoHostsRecord has two databases of one folder write and prune at once: nothing is lost.
func TestTwoHostsRecord(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for host := range 2 {
		db := open(t, dir, nil)
		wg.Go(func() {
			for batch := range 20 {
				var calls []*Call
				for i := range 10 {
					calls = append(calls, &Call{ID: fmt.Sprintf("%d-%d-%d", host, batch, i), At: start, Tool: "t"})
				}
				if _, err := db.AddCalls(t.Context(), calls); err != nil {
					t.Error(err)
				}
				if _, err := db.PruneCalls(t.Context(), start.Add(-time.Hour), 1<<30); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	db := open(t, dir, nil)
	calls, err := db.Calls(t.Context(), CallQuery{})
	stats, statsErr := db.CallStats(t.Context(), time.Time{})
	if err != nil || statsErr != nil || len(calls) != 400 || stats[0].Calls != 400 {
		t.Errorf("%d calls, stats %+v (%v, %v), want 400", len(calls), stats, err, statsErr)
	}
}

func TestToolsOff(t *testing.T) {
	db := open(t, t.TempDir(), nil)
	for _, step := range []struct {
		tool    string
		off     bool
		changed bool
		want    []string
	}{
		{"b", false, false, nil}, {"b", true, true, []string{"b"}}, {"b", true, false, []string{"b"}},
		{"a", true, true, []string{"a", "b"}}, {"b", false, true, []string{"a"}},
	} {
		changed, err := db.SetToolOff(t.Context(), step.tool, step.off)
		names, listErr := db.ToolsOff(t.Context())
		if err != nil || listErr != nil || changed != step.changed || !reflect.DeepEqual(names, step.want) {
			t.Errorf("%+v: %v, %v (%v, %v)", step, changed, names, err, listErr)
		}
	}
}

// BenchmarkMillionCalls measures what the commands ask of a log with a million calls. Look at
// the worst: it must stay below 100 ms.
func BenchmarkMillionCalls(b *testing.B) {
	const rows = 1_000_000
	db := open(b, b.TempDir(), nil)
	fields := json.RawMessage(`{"agent":"claude-code","folder":"/home/somebody/notes","arguments":{"path":"notes/a.md"},"result":{"content":[{"type":"text","text":"42"}]}}`)
	kinds := []string{"arguments", "denied", "timeout", "error"}
	for n := 0; n < rows; n += 10_000 {
		var calls []*Call
		for i := n; i < n+10_000; i++ {
			c := &Call{ID: fmt.Sprintf("%026d", i), At: start.Add(time.Duration(i) * 2500 * time.Millisecond), Tool: fmt.Sprintf("tool_%02d", i%40), Plugin: fmt.Sprintf("plugin_%02d", i%10),
				Duration: time.Duration(i*i%1_000_000) * time.Microsecond, Fields: fields, Used: []string{"fs.read"}}
			if i%100 == 7 {
				c.Failure = kinds[i/100%len(kinds)]
			}
			calls = append(calls, c)
		}
		if _, err := db.AddCalls(b.Context(), calls); err != nil {
			b.Fatal(err)
		}
	}
	end := start.Add(rows * 2500 * time.Millisecond)
	for name, q := range map[string]CallQuery{
		"last": {Limit: 20}, "tool": {Tool: "tool_03", Limit: 20}, "plugin": {Plugin: "plugin_03", Limit: 20}, "failed": {Failed: true, Limit: 20},
		"tool failed": {Tool: "tool_07", Failed: true, Limit: 20}, "tool never failed": {Tool: "tool_06", Failed: true, Limit: 20},
		"plugin failed": {Plugin: "plugin_07", Failed: true, Limit: 20}, "since": {Since: end.Add(-time.Hour), Limit: 100},
		"other plugin": {Tool: "tool_03", Plugin: "plugin_04", Limit: 20}, "no such tool": {Tool: "missing", Limit: 20}, "after": {After: rows - 10},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := db.Calls(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			if c, err := db.Call(b.Context(), fmt.Sprintf("%026d", 500_000)); err != nil || c == nil {
				b.Fatal(c, err)
			}
		}
	})
	b.Run("stats", func(b *testing.B) {
		for b.Loop() {
			if s, err := db.CallStats(b.Context(), time.Time{}); err != nil || len(s) != 40 {
				b.Fatal(s, err)
			}
		}
	})
	b.Run("prune nothing", func(b *testing.B) {
		for b.Loop() {
			if _, err := db.PruneCalls(b.Context(), start, 1<<40); err != nil {
				b.Fatal(err)
			}
		}
	})
}
