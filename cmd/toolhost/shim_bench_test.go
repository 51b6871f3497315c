package main

import (
	"cmp"
	"net"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/toolhost/toolhost/permissions/sandbox"
)

// BenchmarkShim gives how much longer it takes until a program runs that is confined, without
// a network or with one of its own, than until one runs that is not, in turns: the shim is this
// whole program, started anew.
func BenchmarkShim(b *testing.B) {
	type cost struct{ start, cpu time.Duration }
	var bare, confined, network []cost
	rules := &sandbox.Rules{System: true}
	dialing := &sandbox.Rules{System: true, Dial: (&net.Dialer{}).DialContext}
	start := func(rules *sandbox.Rules, mode sandbox.Mode) cost {
		cmd := exec.Command("/bin/true")
		child, err := sandbox.Confine(cmd, rules, mode)
		if err != nil {
			b.Fatal(err)
		}
		defer child.Close()
		begun := time.Now()
		if err := child.Start(); err != nil {
			b.Fatal(err)
		}
		took := time.Since(begun)
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
		return cost{took, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	}
	for b.Loop() {
		bare = append(bare, start(rules, sandbox.Off))
		confined = append(confined, start(rules, sandbox.Require))
		network = append(network, start(dialing, sandbox.Require))
	}
	report := func(name string, of func(cost) time.Duration) {
		sorted := func(list []cost) (best, median float64) {
			slices.SortFunc(list, func(x, y cost) int { return cmp.Compare(of(x), of(y)) })
			ms := func(c cost) float64 { return float64(of(c).Microseconds()) / 1000 }
			return ms(list[0]), ms(list[len(list)/2])
		}
		bareBest, bareMedian := sorted(bare)
		for prefix, list := range map[string][]cost{"": confined, "network-": network} {
			best, median := sorted(list)
			b.ReportMetric(best-bareBest, prefix+"best-"+name+"-ms")
			b.ReportMetric(median-bareMedian, prefix+"median-"+name+"-ms")
		}
	}
	report("start", func(c cost) time.Duration { return c.start })
	report("cpu", func(c cost) time.Duration { return c.cpu }) // also of a machine that is busy
}
