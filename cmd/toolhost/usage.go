package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/internal/suggest"
)

// needs demands words on a command line, by their names; more may follow.
func needs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) >= len(names) {
			return nil
		}
		return usagef(helpHint(cmd), "%s is missing: %s", names[len(args)], strings.TrimSuffix(cmd.UseLine(), " [flags]"))
	}
}

// needsNothing refuses words.
func needsNothing(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usagef(helpHint(cmd), "%q is one word too many: %s", args[0], strings.TrimSuffix(cmd.UseLine(), " [flags]"))
}

// knownCommand refuses words at the root: they would have been a command.
func knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	message := fmt.Sprintf("unknown command %q", args[0])
	if near := suggest.Nearest(args[0], commandNames(root)); near != "" {
		message += fmt.Sprintf("; did you mean %q?", near)
	}
	return usagef(`"toolhost --help" lists the commands`, "%s", message)
}

func commandNames(root *cobra.Command) []string {
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	return names
}

func helpHint(cmd *cobra.Command) string {
	return fmt.Sprintf(`"%s --help" has the flags and an example`, cmd.CommandPath())
}

// helpCommand is "toolhost help": cobra's own ends with code 0 when there is no such command.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Say how a command is used",
		Example: "  toolhost help call",
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			found, _, err := root.Find(args)
			if err != nil || found == root {
				if err := knownCommand(root, args); err != nil {
					return err
				}
				found = root
			}
			found.InitDefaultHelpFlag() // it would be listed only after the command was run
			return found.Help()
		},
	}
}

// valueWord says what a flag wants, in words rather than by the name of a Go type.
func valueWord(flag *pflag.Flag) string {
	switch flag.Value.Type() {
	case "duration":
		return "duration, such as 2s or 500ms"
	case "bool":
		return "true or false"
	default:
		return "whole number in range"
	}
}

// flagError says what is wrong with a flag, and what was probably meant.
func flagError(cmd *cobra.Command, err error) error {
	invalid := (*pflag.InvalidValueError)(nil)
	if errors.As(err, &invalid) {
		return usagef(helpHint(cmd), "--%s %q is no %s", invalid.GetFlag().Name, invalid.GetValue(), valueWord(invalid.GetFlag()))
	}
	unknown := (*pflag.NotExistError)(nil)
	if !errors.As(err, &unknown) {
		return usagef(helpHint(cmd), "%w", err)
	}
	name := unknown.GetSpecifiedName()
	dashed := "--" + name
	if unknown.GetSpecifiedShortnames() != "" {
		dashed = "-" + name
	}
	if !cmd.HasParent() {
		for _, c := range cmd.Commands() {
			if c.Name() == name {
				return usagef(fmt.Sprintf(`did you mean the command "toolhost %s"?`, name), "unknown flag %q", dashed)
			}
		}
	}
	message := fmt.Sprintf("unknown flag %q", dashed)
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := suggest.Nearest(name, names); near != "" {
		message += fmt.Sprintf(`; did you mean "--%s"?`, near)
	}
	return usagef(helpHint(cmd), "%s", message)
}
