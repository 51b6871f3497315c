package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

// MaxSetting is how many bytes the value of a setting may have as JSON.
const MaxSetting = 64 << 10

// Declaration is a setting as a plugin's manifest declares it.
type Declaration struct {
	Key      string // "weather.unit"
	Type     string // "string", "boolean", "number"; others have no value
	Enum     []json.RawMessage
	Default  json.RawMessage // nil for none
	Required bool
	Secret   bool
	Bounds
}

// Bounds are what a value must keep to besides its type and the enum; the zero value bounds
// nothing.
type Bounds struct {
	Min, Max *float64 // of a number
	Length   int      // characters of a text; 0 for any number
	Color    bool     // the text is a colour such as "#33aaff"
}

// check says in words what a value breaks; "" where it keeps to all.
func (b *Bounds) check(v any) string {
	switch v := v.(type) {
	case float64:
		switch {
		case b.Min != nil && b.Max != nil && (v < *b.Min || v > *b.Max):
			return fmt.Sprintf("takes a number from %v to %v", *b.Min, *b.Max)
		case b.Min != nil && v < *b.Min:
			return fmt.Sprintf("takes a number of at least %v", *b.Min)
		case b.Max != nil && v > *b.Max:
			return fmt.Sprintf("takes a number of at most %v", *b.Max)
		}
	case string:
		n := utf8.RuneCountInString(v)
		switch {
		case b.Color && !isColor(v):
			return `takes a colour such as "#33aaff"`
		case b.Length > 0 && n > b.Length:
			return fmt.Sprintf("takes at most %d characters (there are %d)", b.Length, n)
		}
	}
	return ""
}

func isColor(s string) bool {
	return len(s) == 7 && s[0] == '#' && strings.Trim(s[1:], "0123456789abcdefABCDEF") == ""
}

// HasValue reports whether the setting is one that is set, not a text or a button.
func (d *Declaration) HasValue() bool {
	return d.Type == "string" || d.Type == "boolean" || d.Type == "number"
}

// Check says why a value does not fit the setting. The error shows no secret.
func (d *Declaration) Check(value json.RawMessage) error {
	if !d.HasValue() {
		return fmt.Errorf("the setting %q is of type %s and has no value", d.Key, d.Type)
	}
	if len(value) > MaxSetting {
		return fmt.Errorf("the value of the setting %q has %d bytes as JSON; it may have %d", d.Key, len(value), MaxSetting)
	}
	v, err := plain(value)
	if err != nil || kindOf(v) != d.Type {
		return fmt.Errorf("the setting %q takes a %s, not %s", d.Key, d.Type, d.shown(value))
	}
	if n, ok := v.(float64); ok && (math.IsInf(n, 0) || math.IsNaN(n)) {
		return fmt.Errorf("the setting %q takes a number that a float64 holds, not %s", d.Key, d.shown(value))
	}
	if wrong := d.check(v); wrong != "" {
		return fmt.Errorf("the setting %q %s, not %s", d.Key, wrong, d.shown(value))
	}
	if len(d.Enum) == 0 {
		return nil
	}
	var choices []string
	for _, raw := range d.Enum {
		if choice, err := plain(raw); err == nil && choice == v {
			return nil
		}
		choices = append(choices, string(raw))
	}
	return fmt.Errorf("the setting %q takes one of %s, not %s", d.Key, strings.Join(choices, ", "), d.shown(value))
}

// Parse gives the value that a text on the command line stands for. The error shows no
// secret.
func (d *Declaration) Parse(text string) (json.RawMessage, error) {
	value := json.RawMessage(text)
	if d.Type == "string" || !json.Valid(value) {
		value = json.RawMessage(jsondoc.Quote(text))
	}
	return value, d.Check(value)
}

// shown gives a value as an error shows it.
func (d *Declaration) shown(value json.RawMessage) string {
	const most = 60
	switch {
	case d.Secret:
		return "what was given"
	case len(value) > most:
		return strings.ToValidUTF8(string(value[:most]), "") + "…"
	}
	return string(value)
}

// plain gives a value as a float64, string or bool; nil for every other.
func plain(raw json.RawMessage) (any, error) {
	var v any
	if !json.Valid(raw) {
		return nil, errors.New("no JSON")
	}
	text := strings.TrimSpace(string(raw))
	if text[0] == '-' || text[0] >= '0' && text[0] <= '9' {
		n, err := strconv.ParseFloat(text, 64)
		if errors.Is(err, strconv.ErrRange) {
			err = nil // n is infinite
		}
		return n, err
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, err
	}
	if kindOf(v) == "" {
		return nil, nil
	}
	return v, nil
}

func kindOf(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case float64:
		return "number"
	}
	return ""
}

// find gives the declaration of a setting by its full key, or by its part after the
// plugin's name; nil where there is none.
func find(declared []Declaration, plugin, key string) *Declaration {
	for _, k := range []string{key, plugin + "." + key} {
		if i := slices.IndexFunc(declared, func(d Declaration) bool { return d.Key == k }); i >= 0 {
			return &declared[i]
		}
	}
	return nil
}
