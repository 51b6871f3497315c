package process

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/toolhost/toolhost/host"
)

// keeper has one process serve one call after the other. Who holds the turn may use the
// rest; the others wait for it until their deadlines.
type keeper struct {
	instance *instance
	turn     chan struct{} // of one

	now     *started // nil: none runs
	idle    *time.Timer
	busy    func() // ends the rest of the process, see [runtimes.Places]
	breaker breaker
}

// turnOf is under what the context of a call, and of all that are made for it, says that the call
// holds the turn.
type turnOf struct{ *keeper }

var errOwnTurn = errors.New("the plugin's process serves one call at a time, and the one that it serves now waits for this call; have the handler do it without ctx.execute")

// call makes one call, and starts the process where none runs.
func (k *keeper) call(ctx context.Context, call *host.Call) (*host.Result, error) {
	if ctx.Value(turnOf{k}) != nil {
		return nil, errOwnTurn // it would wait for itself until its deadline
	}
	select {
	case k.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-k.turn }()
	ctx = context.WithValue(ctx, turnOf{k}, true)
	k.wake()
	k.sortOut(call.Grant.Folder())
	if k.now == nil {
		if err := k.start(ctx, call); err != nil {
			return nil, err
		}
	}
	stage, args, err := k.instance.staged(call, k.now.stage)
	if err != nil {
		return nil, err
	}
	defer stage.Close()
	s, names := k.now, k.instance.renamer(stage, call.Grant.Folder())
	s.said.explain(k.instance.spec.Plugin, call, func(text string) string { return s.withoutOthers(names.text(text)) })
	result, err := k.instance.ask(ctx, s, call, args, names)
	var failure *Failure
	if errors.As(err, &failure) {
		own := *failure
		own.Line, own.Tail = s.withoutOthers(own.Line), s.withoutOthers(own.Tail)
		failure, err = &own, &own
	}
	var taking error
	if err == nil && !result.IsError && staged(stage) {
		// What is taken is what is there now. The process goes on and may write something
		// else meanwhile, in the same places: it could have written that before.
		taking = stage.Commit()
	}
	switch {
	case err == nil:
		k.breaker.served()
	case failure != nil:
		k.breaker.crashed(time.Now())
		k.drop(0)
	}
	if k.now != nil && !k.now.link.usable() {
		k.drop(endGrace)
	}
	if s := k.now; s != nil {
		k.idle = time.AfterFunc(k.instance.runtime.options.Idle, func() { k.rest(s) })
		k.busy = k.instance.runtime.options.Places.Rest(func() { k.makeRoom(s) })
	}
	if taking != nil {
		return nil, notTaken(taking)
	}
	return result, err
}

// withoutOthers leaves out of a process's last words the lines that name what was staged for
// the calls before: those of this call have the agent's names by now.
func (s *started) withoutOthers(text string) string {
	if s.stage == "" {
		return text
	}
	var own strings.Builder
	for line := range strings.Lines(text) {
		if !strings.Contains(line, s.stage) {
			own.WriteString(line)
		}
	}
	return own.String()
}

// wake ends the waiting for the end of a rest.
func (k *keeper) wake() {
	if k.idle != nil {
		k.idle.Stop()
		k.busy()
	}
}

// sortOut drops a process that has ended, or broken off, between two calls, that was
// started for another folder, or that may read other files by now: what the kernel lets a
// process do is settled at its start.
func (k *keeper) sortOut(folder string) {
	switch {
	case k.now == nil, k.now.link.usable() && k.now.folder == folder && k.instance.current(k.now):
		return
	case k.now.link.usable():
		k.drop(keptGrace)
		return
	}
	select {
	case <-k.now.p.Done():
		if err := k.now.p.Err(); err != nil {
			k.instance.spec.Log.Warn("a process has ended between two calls", "err", err)
			k.breaker.crashed(time.Now())
		}
	default:
	}
	k.drop(endGrace)
}

// start starts the process. After crashes it waits first; where that would take longer
// than the call has, or for long, it says so at once.
func (k *keeper) start(ctx context.Context, call *host.Call) error {
	wait, refused := k.breaker.start(time.Now())
	deadline, bounded := ctx.Deadline()
	if refused || bounded && wait > time.Until(deadline) {
		return k.breaker.refusal(wait)
	}
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		k.breaker.start(time.Now())
	}
	said := &words{}
	said.explain(k.instance.spec.Plugin, call, whole)
	s, err := k.instance.launch(ctx, call.Grant.Folder(), said)
	var failure *Failure
	if errors.As(err, &failure) {
		k.breaker.crashed(time.Now())
	}
	k.now = s
	return err
}

// drop ends the process, while the next call goes on.
func (k *keeper) drop(grace time.Duration) {
	k.instance.end(k.now, grace, nil)
	k.now = nil
}

// rest ends a process that has had nothing to do for long.
func (k *keeper) rest(s *started) {
	select {
	case k.turn <- struct{}{}:
	default:
		return // it has something to do
	}
	defer func() { <-k.turn }()
	k.end(s)
}

// makeRoom ends a process whose place is wanted, once the call has ended that it serves.
func (k *keeper) makeRoom(s *started) {
	select {
	case k.turn <- struct{}{}:
	case <-k.instance.closing:
		return
	}
	defer func() { <-k.turn }()
	k.end(s)
}

// end ends the process where it is still that one.
func (k *keeper) end(s *started) {
	if k.now == s {
		k.wake()
		k.now = nil
		s.end(keptGrace)
	}
}

// close ends the process. No call runs any more.
func (k *keeper) close() {
	k.turn <- struct{}{}
	defer func() { <-k.turn }()
	k.wake()
	if k.now != nil {
		k.now.end(keptGrace)
		k.now = nil
	}
}
