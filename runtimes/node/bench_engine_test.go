package node

import (
	"context"
	"log/slog"
	"testing"

	"github.com/dop251/goja"

	"github.com/toolhost/toolhost/permissions"
)

// BenchmarkEngine tells what a fresh engine costs, and what the limits of its functions add.
func BenchmarkEngine(b *testing.B) {
	log := slog.New(slog.DiscardHandler)
	b.Run("bare", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			goja.New()
		}
	})
	for name, code := range map[string]string{"fresh": "", "every guard": "eval"} {
		set := guardsFor(code)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				newEngine(context.Background(), "/plugin", &permissions.Grant{}, log).guard(set)
			}
		})
	}
}

// BenchmarkJSON compares the guarded functions with the engine's own.
func BenchmarkJSON(b *testing.B) {
	e := newEngine(context.Background(), "/plugin", &permissions.Grant{}, slog.New(slog.DiscardHandler))
	own := goja.New()
	const source = "var value = Array.from({length: 2000}, (_, i) => ({id: i, name: 'name ' + i, tags: ['a', 'b']})); var text = JSON.stringify(value)"
	e.guard(guardsFor("JSON.parse, JSON.stringify"))
	for name, vm := range map[string]*goja.Runtime{"guarded": e.vm, "own": own} {
		if _, err := vm.RunString(source); err != nil {
			b.Fatal(err)
		}
		for _, f := range []string{"JSON.parse(text)", "JSON.stringify(value)"} {
			p := goja.MustCompile("bench.js", f, false)
			b.Run(f+" "+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := vm.RunProgram(p); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
