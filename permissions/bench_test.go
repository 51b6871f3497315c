package permissions

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func benchmarkFolder(b *testing.B) string {
	top := lay(b, map[string]string{"a.txt": string(make([]byte, 10<<10)), "one/two/three/four/a.txt": string(make([]byte, 10<<10))})
	return top
}

func BenchmarkReadFile(b *testing.B) {
	top := benchmarkFolder(b)
	p := everything()
	p.FS.Read.Deny = []string{"**/.env", "**/*.key", "private/**"}
	f := grant(b, p, top).FS()
	for _, name := range []string{"a.txt", "one/two/three/four/a.txt", filepath.Join(top, "a.txt")} {
		label := name
		if filepath.IsAbs(name) {
			label = "absolute"
		}
		b.Run(label, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.ReadFile(name, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("os.ReadFile", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := os.ReadFile(filepath.Join(top, "a.txt")); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("os.Root", func(b *testing.B) {
		root, err := os.OpenRoot(top)
		if err != nil {
			b.Fatal(err)
		}
		defer root.Close()
		b.ReportAllocs()
		for b.Loop() {
			if _, err := root.ReadFile("a.txt"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkDenied(b *testing.B) {
	f := grant(b, &Policy{FS: FSPolicy{Read: Access{Paths: []string{"docs/**"}}}}, benchmarkFolder(b)).FS()
	for label, name := range map[string]string{"inside": "a.txt", "outside": "../x/y"} {
		b.Run(label, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f.ReadFile(name, 0); !errors.Is(err, ErrDenied) {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkWriteFile(b *testing.B) {
	f := grant(b, everything(), benchmarkFolder(b)).FS()
	data := make([]byte, 10<<10)
	b.ReportAllocs()
	for b.Loop() {
		if err := f.WriteFile("a.txt", data, 0); err != nil {
			b.Fatal(err)
		}
	}
}

// One call that reads one file that its arguments name, from grant to end.
func BenchmarkGrant(b *testing.B) {
	top := benchmarkFolder(b)
	p := &Policy{FS: FSPolicy{Read: Access{Parameter: true, Deny: []string{"**/.env"}}}, Root: b.TempDir()}
	args := []Argument{{Pointer: "/path", Value: "a.txt", Marked: true}}
	b.ReportAllocs()
	for b.Loop() {
		g, err := p.Resolve(top, args)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := g.FS().ReadFile("a.txt", 0); err != nil {
			b.Fatal(err)
		}
		g.Revoke()
	}
}
