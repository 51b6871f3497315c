package node

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/runtimes"
)

// Calls that cannot be stopped are counted while they run; three of them close the plugin
// until it is opened anew.
func TestStuckCallsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := &instance{spec: runtimes.Spec{Plugin: "p", Log: slog.New(slog.DiscardHandler)}, runtime: New(nil)}
		in.handlers = map[string]*handler{"tool": {instance: in, program: &lazyProgram{}}}
		var overs []chan struct{}
		for i := range maxStuck {
			if r := in.refused(); r != nil {
				t.Fatalf("refused after %d: %s", i, r.Content[0].Text())
			}
			over := make(chan struct{})
			overs = append(overs, over)
			go in.watchStuck(over, in.spec.Log)
			time.Sleep(stuckAfter)
			synctest.Wait()
			if in.Stuck() != i+1 {
				t.Fatalf("%d are stuck, want %d", in.Stuck(), i+1)
			}
		}
		stopped := make(chan struct{})
		close(stopped)
		in.watchStuck(stopped, in.spec.Log) // one that lets go is not counted
		for _, over := range overs {
			close(over)
		}
		synctest.Wait()
		if in.Stuck() != 0 {
			t.Errorf("%d are stuck, want none", in.Stuck())
		}
		r, err := in.handlers["tool"].Handle(context.Background(), &host.Call{})
		if err != nil || !r.IsError || !strings.Contains(r.Content[0].Text(), "until it is reloaded") {
			t.Errorf("got %+v, %v", r, err)
		}
		if err := in.close(); err != nil {
			t.Error(err)
		}
	})
}

func (in *instance) close() error {
	in.base, in.stop = context.WithCancelCause(context.Background())
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return errors.Join(in.Close(ctx), ctx.Err())
}
