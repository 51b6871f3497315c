package node

import "testing"

// What the guards cost an engine: those that are always there, and all.
func BenchmarkGuards(b *testing.B) {
	for name, set := range map[string]guardSet{"none": guardsFor("", computed{}), "all": guardsFor("", computed{names: true})} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				testEngine().guard(set)
			}
		})
	}
}
