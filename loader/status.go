package loader

import (
	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/runtimes"
)

// State of a plugin.
type State string

const (
	Failed State = "failed" // it never loaded
	Loaded State = "loaded" // it serves; where Errors is not empty, an older version does
	Held   State = "held"   // it waits for the user's consent; what has Tools is the version that was agreed to last
)

// PluginStatus says how a plugin stands, as of its last load.
type PluginStatus struct {
	Name     string                // its name, or its folder's name where the manifest has none
	Dir      string                // its folder, as the user named it
	State    State                 //
	Revision int                   // how many times it was loaded; 0 where it never was
	Errors   []*ManifestError      // why its last load failed; empty where it did not
	Warnings []*ManifestError      // what its last load warned about
	Waits    []string              // what the user has to agree to, where it is held
	Allow    string                // how the user can agree to that: a command, or what is to be changed
	Tools    []string              // the tools that were registered
	Skipped  []*host.ConflictError // the tools that stayed out because their names were in use
	Stuck    int                   // how many calls were ended and still run, since nothing can stop them
}

// Status gives how every plugin stands that was found, in load order.
func (l *Loader) Status() []PluginStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]PluginStatus, len(l.plugins))
	for i, p := range l.plugins {
		s := p.status.clone()
		if counter, ok := p.instance.(runtimes.StuckCounter); ok {
			s.Stuck = counter.Stuck()
		}
		list[i] = s
	}
	return list
}
