package state

import (
	"encoding/json"
	"testing"
)

func BenchmarkStore(b *testing.B) {
	db := open(b, b.TempDir(), nil)
	s := db.Store("p")
	settings := db.Settings("p", []Declaration{{Key: "p.k", Type: "string"}})
	if err := db.SetSettings(b.Context(), []Change{{Plugin: "p", Declaration: Declaration{Key: "p.k", Type: "string"}, Value: json.RawMessage(`"v"`)}}); err != nil {
		b.Fatal(err)
	}
	for name, f := range map[string]func() error{
		"set":      func() error { return s.Set(b.Context(), "k", json.RawMessage(`{"a":1}`)) },
		"get":      func() error { _, err := s.Get(b.Context(), "k"); return err },
		"settings": func() error { _, err := settings.Get(b.Context(), "k"); return err },
		"open": func() error {
			other := New(db.dir, nil)
			if _, err := other.Store("p").Get(b.Context(), "k"); err != nil {
				return err
			}
			return other.Close()
		},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
