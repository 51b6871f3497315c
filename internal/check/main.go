// Command check looks at what has to hold before a commit: format, go.mod, vet, lint and
// the tests of the whole module, and that the work tree is clean. It changes nothing.
//
//	go run ./internal/check          # everything
//	go run ./internal/check -quick   # without the race detector
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// step is one command; quiet ones fail when they print anything.
type step struct {
	name  string
	args  []string
	quiet bool
}

func main() { os.Exit(run(os.Args[1:])) }

// shared names the folder of cases and data for tests that compare with the outside.
func shared() string {
	if dir := os.Getenv("TOOLHOST_SHARED"); dir != "" {
		return dir
	}
	return filepath.Join("..", "shared")
}

func run(args []string) int {
	flags := flag.NewFlagSet("check", flag.ContinueOnError)
	quick := flags.Bool("quick", false, "test without the race detector")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	// The race detector makes some packages need more than the ten minutes that go test gives them.
	test := []string{"go", "test", "-timeout", "20m"}
	if !*quick {
		test = append(test, "-race")
	}
	// The tag brings in the tests that need Node.js and the shared folder.
	if _, err := os.Stat(shared()); err == nil {
		test = append(test, "-tags", "outside")
	} else {
		fmt.Printf("note  without the tests that compare with the outside: %v\n", err)
	}
	test = append(test, "./...")
	steps := []step{
		{"format", []string{"gofmt", "-l", "cmd", "examples", "host", "internal", "loader", "permissions", "plugins", "runtimes"}, true},
		{"tidy", []string{"go", "mod", "tidy", "-diff"}, true},
		{"vet", []string{"go", "vet", "-tags", "outside", "./..."}, false},
		{"lint", []string{"go", "tool", "staticcheck", "-tags", "outside", "./..."}, false},
		{"test", test, false},
		{"clean tree", []string{"git", "status", "--porcelain"}, true},
	}
	failed := 0
	for _, s := range steps {
		start := time.Now()
		var out bytes.Buffer
		cmd := exec.Command(s.args[0], s.args[1:]...)
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		if err == nil && (!s.quiet || out.Len() == 0) {
			fmt.Printf("ok    %-10s %s\n", s.name, time.Since(start).Round(time.Millisecond))
			continue
		}
		failed++
		fmt.Printf("FAIL  %-10s %s\n%s\n", s.name, strings.Join(s.args, " "), out.String())
	}
	if failed > 0 {
		return 1
	}
	return 0
}
