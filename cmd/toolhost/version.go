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
		Args:    needsNothing,
		RunE: func(*cobra.Command, []string) error {
			v := struct {
				Version  string `json:"version"`
				Go       string `json:"go"`
				Commit   string `json:"commit"`
				Platform string `json:"platform"`
			}{version(), runtime.Version(), commit(), runtime.GOOS + "/" + runtime.GOARCH}
			if p.flags.json {
				return p.printJSON(v)
			}
			if _, err := fmt.Fprintf(p.out, "toolhost %s (%s, commit %s, %s)\n", v.Version, v.Go, v.Commit, v.Platform); err != nil {
				return failed(fmt.Errorf("writing the version: %w", err))
			}
			return nil
		},
	}
	p.addJSON(cmd)
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
