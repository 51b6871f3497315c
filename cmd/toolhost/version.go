package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is the version of this source tree; docs/changelog.md says what is in it.
const release = "0.1.0"

func version() string { return release }

func (p *program) versionCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  toolhost version --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := map[string]string{"version": version(), "go": runtime.Version(), "commit": commit(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
			if p.flags.json {
				return p.printJSON(v)
			}
			_, err := fmt.Fprintf(p.out, "toolhost %s (%s, commit %s, %s)\n", v["version"], v["go"], v["commit"], v["platform"])
			return err
		},
	}
	cmd.Flags().BoolVar(&p.flags.json, "json", false, "one JSON document on stdout")
	return cmd
}

// commit is the revision that the program was built from, where the build recorded it.
func commit() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	revision, dirty := "unknown", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+changes"
		}
	}
	return revision + dirty
}
