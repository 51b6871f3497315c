// Package permissions decides what one call of a tool may touch. A manifest asks
// for a [Policy]; one call gets a [Grant], resolved from the policy, the agent's
// folder and the call's arguments. The grant's [FS] is the only door to files.
//
//	policy := &permissions.Policy{FS: permissions.FSPolicy{Read: permissions.Access{Parameter: true}}}
//	grant, err := policy.Resolve(folder, []permissions.Argument{{Pointer: "/path", Value: "notes/a.md", Marked: true}})
//	defer grant.Revoke()
//	text, err := grant.FS().ReadFile("notes/a.md", 1<<20)
//
// What is refused is a [DeniedError], which says what was touched and which line of the
// manifest would allow it.
//
// Nothing is allowed unless it was declared: the zero values of Policy and Grant
// allow nothing.
package permissions

import (
	"context"
	"encoding/json"
)

// Policy is what a manifest asks for. It must not be changed once in use; then it
// is safe for concurrent use. The zero value allows nothing.
type Policy struct {
	FS    FSPolicy
	Fetch HostPolicy
	Net   HostPolicy
	Env   []string // names of environment variables

	// Capabilities that are simply on or off.
	Settings, Store, Log, Toast, HostTrigger, RenderHTMLToPDF  bool
	SessionGetActive, ChannelsGetIntegrationConfig, AIComplete bool

	// Setting gives the value of a user setting as JSON, nil where it has none, for the
	// hosts that settings name. It is asked when a connection is made; nil: none is set.
	Setting func(ctx context.Context, key string) (json.RawMessage, error)

	// Closed is closed whatever the rest says: where the host keeps what it goes by.
	Closed Closed

	// Root is the plugin's own folder, absolute; its files may be read by every
	// call and written by none. "" where there is none.
	Root string
}

// FSPolicy says which files may be read, written and listed. A nil List means
// that Read is the rule for listings too.
type FSPolicy struct {
	Read, Write Access
	List        *Access
}

// Access is one rule for files. The zero value allows nothing. Deny wins over the rest.
type Access struct {
	Parameter bool     // what the arguments of this call name
	Folder    bool     // the agent's whole folder
	Paths     []string // globs below the agent's folder, or below the plugin's own with "plugin:"
	Deny      []string // globs that are closed whatever the rest says
}

// HostPolicy says which hosts may be connected to.
type HostPolicy struct {
	Static   []string // "api.example.com", "*.example.org:8443"
	Settings []string // keys of user settings that hold a URL or host:port
}

// Closed are globs below the agent's folder that the host closes beside [HostReadDeny] and
// [HostWriteDeny]. They match as those do.
type Closed struct {
	Read  []string // to reading and listing
	Write []string
}

// Argument is a text of a call's arguments that names a file or folder.
type Argument struct {
	Pointer string // JSON pointer into the arguments
	Value   string
	Marked  bool // the schema marks it: outside the folder it fails the call
}
