package permissions

// Grant is what one call may touch. It is safe for concurrent use; the zero value
// (and nil) allows nothing.
type Grant struct{}

// FS gives the door to files.
func (g *Grant) FS() *FS { panic("stub") }

// Folder gives the agent's folder as an absolute path, as the user named it; "" where there is none.
func (g *Grant) Folder() string { panic("stub") }

// Env gives a granted environment variable of the host.
func (g *Grant) Env(name string) (string, bool) { panic("stub") }

// EnvNames gives the names of the granted variables that are set, sorted.
func (g *Grant) EnvNames() []string { panic("stub") }

// Revoke ends the grant: whatever is asked of it later is denied, and what it holds
// open is closed. It may be called more than once.
func (g *Grant) Revoke() { panic("stub") }
