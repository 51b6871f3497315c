package state

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestBounds checks values against what bounds them; an error names the bound, and no secret.
func TestBounds(t *testing.T) {
	low, high := 0.0, 240.0
	number := func(b Bounds) Declaration { return Declaration{Key: "c.n", Type: "number", Bounds: b} }
	both, least, most := number(Bounds{Min: &low, Max: &high}), number(Bounds{Min: &low}), number(Bounds{Max: &high})
	short := Declaration{Key: "c.text", Type: "string", Bounds: Bounds{Length: 3}}
	secret := Declaration{Key: "c.token", Type: "string", Secret: true, Bounds: Bounds{Length: 3}}
	color := Declaration{Key: "c.color", Type: "string", Bounds: Bounds{Color: true}}
	for _, c := range []struct {
		d           Declaration
		value, want string
	}{
		{both, `0`, ""},
		{both, `240`, ""},
		{both, `-1`, `the setting "c.n" takes a number from 0 to 240, not -1`},
		{both, `240.5`, `the setting "c.n" takes a number from 0 to 240, not 240.5`},
		{both, `"5"`, `the setting "c.n" takes a number, not "5"`},
		{least, `1e300`, ""},
		{least, `-0.5`, `the setting "c.n" takes a number of at least 0, not -0.5`},
		{most, `-1e300`, ""},
		{most, `1e3`, `the setting "c.n" takes a number of at most 240, not 1e3`},
		{short, `"日本語"`, ""},
		{short, `"日本語だ"`, `the setting "c.text" takes at most 3 characters (there are 4), not "日本語だ"`},
		{secret, `"hunter2"`, `the setting "c.token" takes at most 3 characters (there are 7), not what was given`},
		{color, `"#33AAff"`, ""},
		{color, `"#33aaf"`, `the setting "c.color" takes a colour such as "#33aaff", not "#33aaf"`},
		{color, `"#33aafg"`, `the setting "c.color" takes a colour such as "#33aaff", not "#33aafg"`},
		{color, `"red"`, `the setting "c.color" takes a colour such as "#33aaff", not "red"`},
	} {
		got := ""
		if err := c.d.Check(json.RawMessage(c.value)); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s %s: %q, want %q", c.d.Key, c.value, got, c.want)
		}
		if c.d.Secret && strings.Contains(got, "hunter2") {
			t.Errorf("%s shows the secret: %q", c.d.Key, got)
		}
	}
}

// TestBoundsNarrowed reads a value that was set before the manifest bounded it: the default counts.
func TestBoundsNarrowed(t *testing.T) {
	db := open(t, t.TempDir(), nil)
	high := 10.0
	d := Declaration{Key: "p.n", Type: "number", Default: json.RawMessage(`5`)}
	if err := db.SetSettings(t.Context(), []Change{{Plugin: "p", Declaration: d, Value: json.RawMessage(`50`)}}); err != nil {
		t.Fatal(err)
	}
	d.Max = &high
	if got, err := db.Settings("p", []Declaration{d}).Get(t.Context(), "n"); string(got) != "5" || err != nil {
		t.Errorf("%s, %v", got, err)
	}
}
