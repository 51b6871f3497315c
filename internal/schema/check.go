package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// checkTime is how long one check may take that costs much, or whose patterns backtrack. The
// bound on its work keeps it far below that on a machine that is not starved.
const checkTime = 2 * time.Second

var (
	errTooMuchWork = errors.New("the value is too large or too deeply nested to be checked against the schema; send less at a time")
	errTooSlow     = fmt.Errorf("checking the value took more than %v; send less at a time", checkTime)
	errBusy        = errors.New("an earlier value is still being checked, for too long; try again later")
)

func (s *Schema) check(text json.RawMessage, strict bool) (checked Checked, err error) {
	defer recovered(&err)
	if len(bytes.TrimSpace(text)) == 0 {
		text = json.RawMessage("{}")
	}
	v, err := readValue(text)
	if err != nil {
		return Checked{}, err
	}
	if _, ok := v.value.(map[string]any); !ok {
		got := show(v.value)
		return Checked{Issues: []Issue{{Keyword: "type", Expected: "object", Got: got, Message: "expected object, got " + got}}}, nil
	}
	if s.late.Load() > 0 {
		return Checked{}, errBusy
	}
	work := s.work(v)
	if work <= quickWork && !s.backtracks {
		// It ends soon by itself. A clock would only tell how long the machine had no time for it.
		return s.checkNow(text, v, work, strict)
	}
	return s.checkTimed(text, v, work, strict)
}

// checkTimed is checkNow with an end to it.
func (s *Schema) checkTimed(text []byte, v parsed, work int, strict bool) (Checked, error) {
	type outcome struct {
		checked Checked
		err     error
	}
	done := make(chan outcome, 1)
	var over atomic.Bool // set by whichever comes first, the outcome or the end of the time
	go func() {
		var o outcome
		defer func() {
			if !over.CompareAndSwap(false, true) {
				s.late.Add(-1)
			}
			done <- o
		}()
		defer recovered(&o.err)
		o.checked, o.err = s.checkNow(text, v, work, strict)
		if s.late.Load() > 0 && o.err == nil && len(o.checked.Issues) > 0 {
			o = outcome{err: errBusy} // a pattern may have given up for the sake of another check
		}
	}()
	timer := time.NewTimer(checkTime)
	defer timer.Stop()
	select {
	case o := <-done:
		return o.checked, o.err
	case <-timer.C:
	}
	if !over.CompareAndSwap(false, true) {
		o := <-done
		return o.checked, o.err
	}
	// Nothing ends the goroutine, but its slow patterns give up now, and until it
	// has ended no other check of this schema joins it.
	s.late.Add(1)
	return Checked{}, errTooSlow
}

// checkNow is the part of a check that takes time, of a value that costs so much work.
func (s *Schema) checkNow(text []byte, v parsed, work int, strict bool) (Checked, error) {
	ok, err := s.fits(v.value, work)
	if err != nil {
		return Checked{}, err
	}
	checked := Checked{schema: s}
	if !ok {
		var fixes []fix
		if !strict {
			fixes = s.repairs(v.value)
		}
		fixed, fixedText, ok := s.repaired(text, fixes)
		if !ok {
			checked.Issues, err = s.issues(v.value, work)
			return checked, err
		}
		v, text = fixed, fixedText
		for _, f := range fixes {
			checked.Repaired = append(checked.Repaired, pathTo(f.steps))
		}
	}
	checked.Value, checked.parsed, err = s.complete(text, v)
	return checked, err
}

// repaired tries the fixes; false where the value does not fit with them.
func (s *Schema) repaired(text []byte, fixes []fix) (parsed, []byte, bool) {
	if len(fixes) == 0 {
		return parsed{}, nil, false
	}
	fixedText, err := edited(text, fixes, nil)
	if err != nil {
		return parsed{}, nil, false
	}
	fixed, err := readValue(fixedText) // once more: a text may hold what the bounds forbid
	if err != nil {
		return parsed{}, nil, false
	}
	ok, err := s.fits(fixed.value, s.work(fixed))
	return fixed, fixedText, ok && err == nil
}

// complete fills defaults in. Where a value fits only without them (a default
// can break a oneOf or a dependency) it stays as it is.
func (s *Schema) complete(text []byte, v parsed) ([]byte, parsed, error) {
	adds, err := s.additions(v.value)
	if err != nil || len(adds) == 0 {
		return text, v, err
	}
	full, err := edited(text, nil, adds)
	if err != nil {
		return nil, parsed{}, err
	}
	whole, err := readValue(full)
	if err != nil {
		return text, v, nil
	}
	if ok, err := s.fits(whole.value, s.work(whole)); err != nil || !ok {
		return text, v, nil
	}
	return full, whole, nil
}

// fits gives the verdict of the schema's engine. Large values go to the one that
// is quick about what is wrong with them, the largest without an account of it.
func (s *Schema) fits(v any, work int) (bool, error) {
	if work > maxWork {
		return false, errTooMuchWork
	}
	if work <= quickWork {
		e, err := s.engine()
		if err != nil {
			return false, err
		}
		return e.valid(v)
	}
	full, err := s.full()
	switch {
	case err != nil:
		return false, err
	case work <= largeWork:
		return full.valid(v)
	}
	return full.fits(v)
}

// issues explains why a value does not fit. One engine explains for both: the
// other gives no tree of findings, so it cannot say which alternative was meant.
func (s *Schema) issues(v any, work int) ([]Issue, error) {
	if work > largeWork {
		return []Issue{{Got: show(v), Message: "does not fit the schema, and is too large for its mistakes to be listed; send less at a time"}}, nil
	}
	full, err := s.full()
	if err != nil {
		return nil, err
	}
	problem, err := full.explain(full.schema, v)
	if err != nil {
		return nil, err
	}
	if problem != nil {
		x := explainer{value: v, places: s.places()}
		if issues := x.issues(problem); len(issues) > 0 {
			return issues, nil
		}
	}
	e, err := s.engine()
	if err != nil {
		return nil, err
	}
	if q, ok := e.(*quick); ok {
		if issues := quickIssues(q.result(v)); len(issues) > 0 {
			return issues, nil
		}
	}
	return []Issue{{Message: "does not fit the schema"}}, nil
}
