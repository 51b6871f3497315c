package process

import (
	"context"
	"reflect"

	"github.com/toolhost/toolhost/permissions/sandbox"
)

// current reports whether the process may read what a process may read that starts now.
func (in *instance) current(s *started) bool {
	policy := in.spec.Policy
	if !readsFreely(policy) {
		return true
	}
	grant, err := policy.Resolve(s.folder, nil)
	if err != nil {
		return false
	}
	defer grant.Revoke()
	now, err := sandbox.FromGrant(grant, in.spec.Dir)
	return err == nil && reflect.DeepEqual(now, s.opened)
}

// launch starts a process with what every call is granted, whatever its arguments are.
func (in *instance) launch(ctx context.Context, folder string, said *words) (*started, error) {
	grant, err := in.spec.Policy.Resolve(folder, nil)
	if err != nil {
		return nil, err
	}
	s, err := in.start(ctx, grant, nil, said, in.spec.Log)
	if err != nil {
		grant.Revoke()
		return nil, err
	}
	s.undo = append(s.undo, grant.Revoke)
	return s, nil
}
