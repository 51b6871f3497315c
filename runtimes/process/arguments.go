package process

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/permissions"
)

// arguments gives a call's arguments as a process gets them: it runs in the plugin's
// folder, so paths that start at the agent's folder become absolute. staged says by JSON
// pointer what is somewhere else for the process; absolute may be false for a process that
// goes to the agent's folder. A text that the schema does not mark as a
// path, but that the call's grant takes for one, is made absolute where there is such a
// file.
func arguments(call *host.Call, policy *permissions.Policy, staged map[string]string, absolute bool) (json.RawMessage, error) {
	args := call.Args
	if len(args) == 0 {
		args = json.RawMessage("{}")
	}
	byArgument := readsByArgument(policy) || policy != nil && policy.FS.Write.Parameter
	var edits []jsondoc.Edit
	var doc *jsondoc.Document
	for _, a := range call.Paths {
		path := a.Value
		if there, ok := staged[a.Pointer]; ok {
			path = there
		} else if absolute && path != "" && !filepath.IsAbs(path) && call.Grant.Folder() != "" && (a.Marked || byArgument && call.Grant.FS().Exists(path)) {
			path = filepath.Join(call.Grant.Folder(), path)
		}
		if path == a.Value {
			continue
		}
		if doc == nil {
			var err error
			if doc, err = jsondoc.Parse(args); err != nil {
				return nil, fmt.Errorf("reading the arguments: %w", err)
			}
		}
		edits = append(edits, doc.Replace(a.Pointer, jsondoc.Quote(path)))
	}
	if len(edits) == 0 {
		return args, nil
	}
	return doc.Apply(edits), nil
}
