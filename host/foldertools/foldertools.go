// Package foldertools has the built-in tools of an agent that works in a folder:
// folder_list, folder_read, folder_find, folder_search, folder_info, folder_write,
// folder_edit and folder_move.
//
//	h := host.New(&host.Options{Folder: dir})
//	_, err := h.Replace("toolhost", host.BuiltIn, foldertools.Tools())
//
// Every file is reached through the call's own grant ([permissions.FS]), so links
// out of the folder, devices and the host's deny lists are refused there. Whatever
// goes wrong is a failed result whose text says what to do next; every answer is
// bounded, and says so where something was left out.
package foldertools

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/schema"
	"github.com/toolhost/toolhost/permissions"
)

// Tools gives the tools. Each call makes new ones, so that a caller may change them.
func Tools() []*host.Tool {
	tools := []*host.Tool{listTool(), readTool(), findTool(), searchTool(), infoTool(), writeTool(), editTool(), moveTool()}
	for _, t := range tools {
		t.Input, _ = schema.Known(t.InputSchema) // the host compiles one that is nil, and says what is wrong
	}
	return tools
}

// effect says what a tool does to the folder.
type effect int

const (
	reads    effect = iota
	replaces        // writes; the same call again changes nothing more
	changes         // writes; the same call again does something else
)

func (e effect) policy() *permissions.Policy {
	p := &permissions.Policy{}
	p.FS.Read.Folder = true
	p.FS.Write.Folder = e != reads
	return p
}

func (e effect) annotations() *host.Annotations {
	readOnly, destructive, idempotent, openWorld := e == reads, e != reads, e != changes, false
	return &host.Annotations{
		ReadOnlyHint: &readOnly, DestructiveHint: &destructive,
		IdempotentHint: &idempotent, OpenWorldHint: &openWorld,
	}
}

// handler gives the handler of a tool whose arguments are an A. The error that run
// returns becomes the failed result's text.
func handler[A any](run func(ctx context.Context, f folder, args A) (*host.Result, error)) host.Handler {
	return host.HandlerFunc(func(ctx context.Context, c *host.Call) (*host.Result, error) {
		var args A
		if err := json.Unmarshal(c.Args, &args); err != nil {
			return nil, fmt.Errorf("reading the arguments: %w", err)
		}
		return run(ctx, folder{FS: c.Grant.FS(), dir: c.Grant.Folder()}, args)
	})
}

// integer is a whole number in arguments. JSON Schema counts 3.0 and 3e0 as integers
// too, which an int does not decode from.
type integer int

func (n *integer) UnmarshalJSON(text []byte) error {
	f, err := strconv.ParseFloat(string(bytes.TrimSpace(text)), 64)
	if err != nil {
		return err
	}
	*n = integer(f)
	return nil
}
