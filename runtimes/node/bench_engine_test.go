package node

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

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
		set := guardsFor(code, computed{})
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
	e.guard(guardsFor("JSON.parse, JSON.stringify", computed{}))
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

// BenchmarkParse compares JSON.parse of 5 MB with the engine's own.
func BenchmarkParse(b *testing.B) {
	var text strings.Builder
	for i := 0; text.Len() < 5e6; i++ {
		fmt.Fprintf(&text, `,{"id":%d,"name":"name %d","tags":["a","b"],"price":%d.25,"nested":{"ok":true,"none":null}}`, i, i, i)
	}
	source := "[" + text.String()[1:] + "]"
	e := newEngine(context.Background(), "/plugin", &permissions.Grant{}, slog.New(slog.DiscardHandler))
	e.guard(guardsFor("JSON.parse", computed{}))
	own := goja.New()
	p := goja.MustCompile("bench.js", "JSON.parse(text).length", false)
	parse := func(vm *goja.Runtime) time.Duration {
		start := time.Now()
		if _, err := vm.RunProgram(p); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	for _, vm := range []*goja.Runtime{e.vm, own} {
		if err := vm.Set("text", source); err != nil {
			b.Fatal(err)
		}
	}
	bestHere, bestOwn := time.Hour, time.Hour
	for b.Loop() {
		for range 5 { // in turns, so that what else the machine does hits neither alone
			bestHere, bestOwn = min(bestHere, parse(e.vm)), min(bestOwn, parse(own))
		}
	}
	b.ReportMetric(float64(bestHere.Milliseconds()), "ms-here")
	b.ReportMetric(float64(bestOwn.Milliseconds()), "ms-own")
	b.ReportMetric(float64(bestOwn)/float64(bestHere), "own/here")
}
