package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/toolhost/toolhost/internal/child"
	"github.com/toolhost/toolhost/runtimes/worker"
)

func TestMain(m *testing.M) {
	child.Main()
	worker.Main()
	if err := os.Setenv(keyringVariable, "off"); err != nil { // the user's own is not for tests
		panic(err)
	}
	// Else the race detector has each program wait for a second when it ends.
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE")); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){"toolhost": main, "converse": converse})
}

// TestScripts runs testdata/script/*.txtar. Each has its own folder as home, state and
// configuration; `code N toolhost …` demands an exit code.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Setup: func(env *testscript.Env) error {
			for _, v := range []string{"XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"} {
				env.Setenv(v, filepath.Join(env.WorkDir, ".xdg"))
			}
			env.Setenv("GORACE", os.Getenv("GORACE"))
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			return os.Mkdir(filepath.Join(env.WorkDir, "home"), 0o755)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"code": code},
	})
}

// code runs a command and demands its exit code.
func code(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N command [args...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("running %s: %v", args[1], err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s ended with code %d, want %d", args[1], got, want)
	}
}

// TestPublishedConfigSchema keeps docs/ and the program to one schema.
func TestPublishedConfigSchema(t *testing.T) {
	published, err := os.ReadFile(filepath.Join("..", "..", "docs", "config.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(published, configSchema) {
		t.Error("docs/config.schema.json differs from cmd/toolhost/config.schema.json; copy the latter")
	}
}
