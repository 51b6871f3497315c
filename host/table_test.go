package host

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// suffixedTools are tools that take the next free name.
func suffixedTools(names ...string) []*Tool {
	var list []*Tool
	for _, n := range names {
		t := answer(n, "")
		t.Suffix = true
		list = append(list, t)
	}
	return list
}

func TestSuffix(t *testing.T) {
	long := strings.Repeat("a", 64)
	type step struct {
		owner string
		tools []*Tool // nil removes the owner
	}
	for name, c := range map[string]struct {
		steps []step
		want  string
	}{
		"next free":               {[]step{{"a", suffixedTools("x")}, {"b", suffixedTools("x")}, {"c", suffixedTools("x")}}, "x x_2 x_3"},
		"a plain tool has it":     {[]step{{"p", []*Tool{answer("x", "")}}, {"a", suffixedTools("x")}}, "x x_2"},
		"a plain tool is skipped": {[]step{{"a", suffixedTools("x")}, {"p", []*Tool{answer("x", ""), answer("y", "")}}}, "x y"},
		"the suffix stays when the name is free again": {[]step{{"p", []*Tool{answer("x", "")}}, {"a", suffixedTools("x")}, {"p", nil}}, "x_2"},
		"it is forgotten with its owner":               {[]step{{"p", []*Tool{answer("x", "")}}, {"a", suffixedTools("x")}, {"p", nil}, {"a", nil}, {"a", suffixedTools("x")}}, "x"},
		"a reload keeps it":                            {[]step{{"p", []*Tool{answer("x", "")}}, {"a", suffixedTools("x")}, {"p", nil}, {"a", suffixedTools("y", "x")}}, "x_2 y"},
		"a name is not stolen":                         {[]step{{"p", []*Tool{answer("x", ""), answer("x_2", "")}}, {"a", suffixedTools("x")}}, "x x_2 x_3"},
		"a skipped claim counts":                       {[]step{{"a", suffixedTools("x")}, {"p", []*Tool{answer("x", "")}}, {"b", suffixedTools("x")}, {"a", nil}}, "x x_2"},
		"within one owner":                             {[]step{{"a", suffixedTools("x", "x")}}, "x x_2"},
		"cut within 64":                                {[]step{{"a", suffixedTools(long)}, {"b", suffixedTools(long)}}, long[:62] + "_2 " + long},
	} {
		t.Run(name, func(t *testing.T) {
			h := New(nil)
			for _, s := range c.steps {
				if s.tools == nil {
					h.Remove(s.owner)
					continue
				}
				if _, err := h.Replace(s.owner, Plugin, s.tools); err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			for _, r := range h.Tools() {
				got = append(got, r.Name)
			}
			slices.Sort(got)
			if text := strings.Join(got, " "); text != c.want {
				t.Errorf("the tools are %s, not %s", text, c.want)
			}
		})
	}
}

func TestSuffixIsNoWayToABuiltInName(t *testing.T) {
	h := New(nil)
	for owner, source := range map[string]Source{"one": BuiltIn, "two": HostTool} {
		if _, err := h.Replace(owner, source, []*Tool{answer("x_"+owner, "")}); err != nil {
			t.Fatal(err)
		}
		_, err := h.Replace("a", Plugin, suffixedTools("y", "x_"+owner))
		if err == nil || !strings.Contains(err.Error(), "x_"+owner) {
			t.Errorf("%v: the error is %v", source, err)
		}
	}
	if len(h.Tools()) != 2 {
		t.Errorf("the tools are %v", h.Tools())
	}
}

func TestHide(t *testing.T) {
	h := New(nil)
	if _, err := h.Replace("p", Plugin, []*Tool{answer("x", "")}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Replace("a", Plugin, suffixedTools("x")); err != nil {
		t.Fatal(err)
	}
	if given := h.Given("a"); given["x"] != "x_2" {
		t.Fatalf("given %v", given)
	}
	enabled := func(want bool) {
		t.Helper()
		if r, _ := h.Tool("x_2"); r.Enabled != want {
			t.Errorf("enabled is %v", r.Enabled)
		}
		if r, _ := h.Tool("x"); !r.Enabled {
			t.Error("the tool of another plugin is hidden")
		}
	}
	changes := 0
	defer h.Observe(observeFunc(func(e Event) {
		if e.Kind == ToolsChanged {
			changes++
		}
	}))()
	h.Hide("a", "x", true)
	enabled(false)
	h.SetEnabled("x_2", false)
	h.Hide("a", "x", false)
	enabled(false) // the user disabled it
	h.Hide("a", "x", true)
	h.SetEnabled("x_2", true)
	enabled(false) // its plugin hides it
	h.Hide("a", "x", false)
	enabled(true)
	if changes != 2 {
		t.Errorf("the list changed %d times", changes)
	}
}

type observeFunc func(Event)

func (f observeFunc) Observe(e Event) { f(e) }

// TestTableOfManySteps checks that a table that goes on from the one before is the one that is
// made from all claims, and that the list is told to have changed where it has.
func TestTableOfManySteps(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	offer := func(r Registered) bool { return r.Name != "n3" }
	for range 200 {
		h := New(&Options{Offer: offer})
		changes := 0
		defer h.Observe(observeFunc(func(e Event) {
			if e.Kind == ToolsChanged {
				changes++
			}
		}))()
		for range 15 {
			owner, source := fmt.Sprintf("o%d", random.IntN(6)), []Source{BuiltIn, HostTool, Plugin, Plugin, Plugin}[random.IntN(5)]
			before, told := h.Tools(), changes
			switch random.IntN(8) {
			case 0:
				h.Remove(owner)
			case 1:
				h.SetEnabled(fmt.Sprintf("n%d", random.IntN(8)), random.IntN(2) == 0)
			default:
				var tools []*Tool
				for range random.IntN(4) {
					tool := answer(fmt.Sprintf("n%d", random.IntN(12)), "")
					tool.Suffix, tool.Command = random.IntN(3) == 0, random.IntN(4) == 0
					tools = append(tools, tool)
				}
				conflicts, err := h.Replace(owner, source, tools)
				var want []*ConflictError
				for _, c := range h.Skipped() {
					if c.Owner == owner {
						want = append(want, c)
					}
				}
				if err == nil && !reflect.DeepEqual(conflicts, want) {
					t.Fatalf("the conflicts are %v, not %v", conflicts, want)
				}
			}
			got, want := h.table.Load(), h.claims.table(h.disabled, offer)
			if !slices.Equal(got.order, want.order) || !slices.Equal(got.commands, want.commands) || !reflect.DeepEqual(got.skipped, want.skipped) {
				t.Fatalf("the table is %v, not %v", got, want)
			}
			for _, r := range got.order {
				if found, ok := h.Tool(r.Name); !ok || found != r {
					t.Fatalf("looking for %q gives %v", r.Name, found)
				}
			}
			if same := slices.Equal(before, h.Tools()); !same && len(before) != len(h.Tools()) && changes == told || same && changes != told {
				t.Fatalf("the list was told to have changed %d times: %v, %v", changes-told, before, h.Tools())
			}
			counted := map[string]int{}
			for _, o := range h.claims.owners {
				for name := range o.since {
					counted[name]++
				}
			}
			if !maps.Equal(counted, h.claims.claimed) && len(counted)+len(h.claims.claimed) > 0 {
				t.Fatalf("the names that are claimed are %v, not %v", h.claims.claimed, counted)
			}
		}
	}
}
