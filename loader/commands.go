package loader

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/toolhost/toolhost/host"
)

// executor runs a command for a call that runs.
type executor = func(ctx context.Context, call *host.Call, command string, args json.RawMessage) (*host.Result, error)

// executeBy gives what runs commands through a registrar; nil where that cannot.
func executeBy(reg Registrar) executor {
	h, ok := reg.(interface {
		Execute(ctx context.Context, call *host.Call) (*host.Result, error)
	})
	if !ok {
		return nil
	}
	return func(ctx context.Context, call *host.Call, command string, args json.RawMessage) (*host.Result, error) {
		if string(args) == "null" {
			args = nil
		}
		next := &host.Call{Tool: command, Args: args, Agent: call.Agent, Folder: call.Folder, Progress: call.Progress, Plugin: call.Plugin, Grant: call.Grant, Depth: call.Depth + 1}
		if !call.Deadline.IsZero() { // the caller's time is the command's, too
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadline(ctx, call.Deadline)
			defer cancel()
		}
		return h.Execute(ctx, next)
	}
}

// placedCommand is a command of a manifest that can run, with its place.
type placedCommand struct {
	Command
	pointer string
}

// commands gives the commands that can run; of an id that stands twice the first.
func (m *Manifest) commands() []placedCommand {
	var list []placedCommand
	for i, k := range m.Contributes.Commands {
		taken := slices.ContainsFunc(list, func(o placedCommand) bool { return o.ID == k.ID }) || slices.ContainsFunc(m.Tools, func(t ManifestTool) bool { return t.ID == k.ID })
		if host.CommandName(k.ID) && !taken {
			list = append(list, placedCommand{k, "/contributes/commands/" + strconv.Itoa(i)})
		}
	}
	return list
}

// commands checks the commands.
func (c *checker) commands(commands []any) {
	for i, value := range commands {
		command, ok := value.(map[string]any)
		if !ok {
			continue
		}
		pointer := "/contributes/commands/" + strconv.Itoa(i)
		c.pathIn(pointer, command, "handler")
		title := "the command in " + field(pointer)
		id, hasID := text(command, "id")
		if hasID && id != "" {
			title = fmt.Sprintf("command %q", cut(id))
			if !host.CommandName(id) {
				c.error(pointer+"/id", ruleCommands, fmt.Sprintf("the command id %q must be 1 to 128 bytes without white space and control characters", cut(id)), "")
			}
			if slices.ContainsFunc(c.manifest.Tools, func(t ManifestTool) bool { return t.ID == id }) {
				c.error(pointer+"/id", ruleCommands, fmt.Sprintf("%s has the id of a tool of this plugin", title), fmt.Sprintf(`write "id": %q`, c.manifest.Name+"."+cut(id)))
			}
		}
		_, hasHandler := command["handler"]
		switch {
		case c.manifest.Runtime == "node" && !hasHandler:
			c.error(pointer+"/handler", ruleCommands, title+` has no "handler"; "runtime": "node" needs one`, `add "handler": "./command.js"`)
		case c.manifest.Runtime == "process" && hasHandler:
			c.keyError(pointer+"/handler", ruleCommands, title+` has a "handler", but "runtime": "process" has none; its program is sent the command's id as a method`, `take "handler" away`)
		}
		if when, ok := text(command, "when"); ok {
			if _, err := parseCondition(when); err != nil {
				c.error(pointer+"/when", ruleWhen, fmt.Sprintf("the condition of %s cannot be read: %s", title, err), "join names with &&, || and !, and group them with brackets")
			}
		}
	}
}
