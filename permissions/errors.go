package permissions

import "errors"

// ErrDenied is wrapped by every *DeniedError.
var ErrDenied = errors.New("permission denied")

// DeniedError says which access was refused, and which line of the manifest would allow it.
type DeniedError struct {
	Op     string // "read", "write", "list", "env", "fetch", …: the word of the manifest
	Target string // the path, host or name as the handler wrote it
	Rule   string // the manifest line that would allow it, such as `"permissions": {"fs": {"read": {"folder": true}}}`; "" where none would
	Reason string // why, where no manifest line would allow it: "the call has ended", `closed by deny rule "**/.env"`
}

func (e *DeniedError) Error() string { panic("stub") }
func (e *DeniedError) Unwrap() error { return ErrDenied }
