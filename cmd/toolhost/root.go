package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/toolhost/toolhost/internal/complete"
	"github.com/toolhost/toolhost/runtimes/node"
)

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1 // the work failed
	exitUsage  = 2 // the command line is wrong
)

// failure is an error with an exit code and, apart from it, what to do about it.
type failure struct {
	code int
	err  error
	hint string
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func usagef(hint, format string, args ...any) error {
	return &failure{code: exitUsage, err: fmt.Errorf(format, args...), hint: hint}
}

func failed(err error) error { return &failure{code: exitFailed, err: err} }

// errReported ends a command with exit code 1 when everything was said already.
var errReported = errors.New("reported")

// program is what the commands share: the streams and the flags.
type program struct {
	in       io.Reader
	out, err io.Writer
	flags    flags
	sink     slog.Handler        // takes the log in the place of stderr, where it is not nil
	model    *complete.Completer // the one of the configuration; nil where it names none
}

// run is the whole program.
func run(ctx context.Context, args []string, in io.Reader, out, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	if os.Getenv("GOMEMLIMIT") == "" {
		// Near the size at which scripts are ended, garbage is collected at once instead.
		debug.SetMemoryLimit(node.HeapLimit())
	}
	p := &program{in: in, out: out, err: stderr}
	if onTerminal(stderr) {
		p.err = &statusLine{terminal: stderr}
	}
	root := p.rootCommand()
	root.SetArgs(args)
	return p.exitCode(root.ExecuteContext(ctx))
}

func (p *program) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "toolhost",
		Short: "A plugin host for tools that AI agents call",
		Long: `toolhost serves the tools of plugin folders to AI agents over MCP, and calls
them from the command line. A plugin is a folder with a filer-plugin.json and
JavaScript or TypeScript handlers; what it may touch is what its manifest
declares and the call names, nothing else.`,
		Example: `  toolhost call count_words path=README.md
  toolhost list --plugins ./plugins
  toolhost serve --plugins ./plugins --folder ~/notes`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          knownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetIn(p.in)
	root.SetOut(p.out)
	root.SetErr(p.err)
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(helpCommand())
	root.AddCommand(p.callCommand(), p.listCommand(), p.menuCommand(), p.newCommand(), p.checkCommand(), p.testCommand(), p.settingsCommand(), p.installCommand(), p.removeCommand(), p.packCommand(), p.consentCommand(), p.toolsCommand(), p.logCommand(), p.replayCommand(), p.statsCommand(), p.inspectCommand(), p.doctorCommand(), p.serveCommand(), p.connectCommand(), p.devCommand(), p.versionCommand())
	return root
}

// exitCode reports an error on stderr and gives the exit code. An error that is not
// ours comes from the flag parser: the command line is wrong.
func (p *program) exitCode(err error) int {
	if err == nil {
		return exitDone
	}
	if errors.Is(err, errReported) {
		return exitFailed
	}
	f := &failure{}
	if !errors.As(err, &f) {
		f = &failure{code: exitUsage, err: err, hint: `"toolhost --help" lists the commands and their flags`}
	}
	p.errorf("%s", f.err)
	if f.hint != "" {
		p.hintf("%s", f.hint)
	}
	return f.code
}

// errorf, warnf and hintf write to stderr, a line of the message a line.
func (p *program) errorf(format string, args ...any) { p.say("error", format, args...) }
func (p *program) warnf(format string, args ...any)  { p.say("warning", format, args...) }
func (p *program) hintf(format string, args ...any)  { p.say("hint", format, args...) }

func (p *program) say(kind, format string, args ...any) {
	for line := range strings.Lines(fmt.Sprintf(format, args...)) {
		_, _ = fmt.Fprintf(p.err, "toolhost: %s: %s\n", kind, oneLine(strings.TrimRight(line, "\n"))) // nowhere left to say it
	}
}
