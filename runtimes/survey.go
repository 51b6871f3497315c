package runtimes

import "context"

// Surveyor is a [Runtime] that also says what a plugin's code asks of its host.
type Surveyor interface {
	// Survey looks through the code of a plugin that opens. It runs none of it.
	Survey(ctx context.Context, spec Spec) (*Survey, error)
}

// Survey is what a plugin's code asks of its host.
type Survey struct {
	// Uses are those in the plugin's own files, packages left out, by file and place. A use
	// that the code makes otherwise than by writing it out is not among them.
	Uses []Use
	// Code is the code of all modules, packages included: what it does not name it does not
	// use.
	Code string
}

// The kinds of a [Use].
const (
	UseModule   = "module" // of a module that throws when it is used; Name is the module's
	UseEnv      = "env"    // of the environment variable Name
	UseWrite    = "fs.write"
	UseFetch    = "fetch" // Name is the host where it is written out
	UseNet      = "net"
	UseSettings = "settings"
	UseStore    = "store"
	UseExecute  = "execute"
	UseAI       = "ai"
	UseToast    = "toast"
	UseSession  = "session"
	UseChannels = "channels"
	UsePDF      = "renderHtmlToPdf"
)

// Use is one place in a plugin's code that asks something of the host.
type Use struct {
	Kind         string
	Name         string // "" where the kind needs none
	Text         string // what the code says there, such as "ctx.fetch"
	Hint         string // what to do instead; of modules
	File         string // slash path below the plugin's folder
	Line, Column int    // from 1
}
