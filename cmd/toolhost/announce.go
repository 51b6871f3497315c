package main

import (
	"fmt"
	"strings"

	"github.com/toolhost/toolhost/host/mcpserver"
	"github.com/toolhost/toolhost/loader"
)

// announcement is what MCP clients are told of a plugin, as the data of a log message.
type announcement struct {
	Plugin   string                  `json:"plugin"`
	Message  string                  `json:"message"`
	Revision int                     `json:"revision"`
	Errors   []*loader.ManifestError `json:"errors,omitempty"`
}

// maxAnnounced is how many mistakes of a plugin clients are told at once.
const maxAnnounced = 20

// announceLoads gives an observer of a loader that tells the clients of a server what
// becomes of plugins: those that do not load as errors, with the place of each mistake.
func announceLoads(server *mcpserver.Server) func(loader.Event) {
	return func(e loader.Event) {
		level, a := announce(e)
		server.LogMessage(level, "plugins", a)
	}
}

func announce(e loader.Event) (level string, a announcement) {
	s := e.Status
	a = announcement{Plugin: s.Name, Revision: s.Revision}
	if e.Kind == loader.PluginHeld {
		a.Message = fmt.Sprintf("plugin %q waits for the user's consent: %s", s.Name, strings.Join(s.Waits, "; "))
		return "warning", a
	}
	if e.Kind != loader.PluginFailed {
		a.Message = fmt.Sprintf("plugin %q was %s", s.Name, e.Kind)
		return "info", a
	}
	a.Message = fmt.Sprintf("plugin %q did not load", s.Name)
	if s.State == loader.Loaded {
		a.Message += "; its last good version serves on"
	}
	if n := len(s.Errors); n > 0 {
		a.Message += ": " + s.Errors[0].Error()
		a.Errors = s.Errors[:min(n, maxAnnounced)]
	}
	return "error", a
}
