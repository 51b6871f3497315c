package loader

import (
	"slices"
	"time"
)

// EventKind says what became of a plugin.
type EventKind int

const (
	// PluginFailed: it did not load. Status.Errors says why; where Status.State is [Loaded]
	// the last good version serves on.
	PluginFailed   EventKind = iota
	PluginLoaded             // it was loaded for the first time
	PluginReloaded           // a new version took the place of the one before; Status.Revision counts them
	PluginRepaired           // the version that serves was put back after one that did not load
	PluginRemoved            // its folder is gone, and so are its tools
	PluginHeld               // a version waits for the user's consent: Status.Waits says why
)

// String gives "failed", "loaded", "reloaded", "repaired", "removed" or "held".
func (k EventKind) String() string {
	switch k {
	case PluginLoaded:
		return "loaded"
	case PluginReloaded:
		return "reloaded"
	case PluginRepaired:
		return "repaired"
	case PluginRemoved:
		return "removed"
	case PluginHeld:
		return "held"
	default:
		return "failed"
	}
}

// Event is something that became of a plugin.
type Event struct {
	Kind EventKind
	Time time.Time
	// Status is how the plugin stands now; of PluginRemoved how it stood last. Tools and
	// Skipped are what it brought and what stayed out.
	Status PluginStatus
}

// tell gives an event to Options.Observe. l.loading is held, so that events come one
// after the other; l.mu is not.
func (l *Loader) tell(kind EventKind, p *plugin) {
	if l.observe == nil {
		return
	}
	l.mu.Lock()
	status := p.status.clone()
	l.mu.Unlock()
	l.observe(Event{Kind: kind, Time: time.Now(), Status: status})
}

func (s PluginStatus) clone() PluginStatus {
	s.Errors, s.Warnings = slices.Clone(s.Errors), slices.Clone(s.Warnings)
	s.Tools, s.Skipped, s.Waits = slices.Clone(s.Tools), slices.Clone(s.Skipped), slices.Clone(s.Waits)
	return s
}
