package benchmarks

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/calllog"
	"github.com/toolhost/toolhost/internal/state"
)

// BenchmarkCallLog compares calls that are recorded with calls that are not, in one run: the
// two take turns, and "%" is by how much the recorded ones are slower, by the medians.
func BenchmarkCallLog(b *testing.B) {
	for _, k := range kinds {
		b.Run(k.name, func(b *testing.B) {
			hosts := []*host.Host{prepared(b), prepared(b)} // the second one is recorded
			db := state.New(b.TempDir(), nil)
			log := calllog.New(db, nil)
			hosts[1].Observe(log)
			defer func() {
				if err := log.Close(context.Background()); err != nil {
					b.Error(err)
				}
				if err := db.Close(); err != nil {
					b.Error(err)
				}
			}()
			var took [2][]time.Duration
			first := 0
			for b.Loop() {
				first = 1 - first // whoever comes second finds everything warm
				for _, i := range []int{first, 1 - first} {
					start := time.Now()
					call(b, hosts[i], k.name, k.args, k.want)
					took[i] = append(took[i], time.Since(start))
				}
			}
			median := func(of []time.Duration) float64 {
				slices.Sort(of)
				return float64(of[len(of)/2].Nanoseconds())
			}
			without, with := median(took[0]), median(took[1])
			b.ReportMetric(without, "ns/unrecorded")
			b.ReportMetric(100*(with/without-1), "%")
		})
	}
}
