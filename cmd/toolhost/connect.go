package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolhost/toolhost/internal/connect"
	"github.com/toolhost/toolhost/internal/lazyregexp"
	"github.com/toolhost/toolhost/internal/suggest"
	"github.com/toolhost/toolhost/loader"
)

// connecting are the flags of connect itself.
type connecting struct {
	name, url          string
	remove, print, yes bool
}

func clientNames() []string {
	var names []string
	for _, c := range connect.Clients() {
		names = append(names, c.Name)
	}
	return names
}

func (p *program) connectCommand() *cobra.Command {
	var c connecting
	cmd := &cobra.Command{
		Use:   "connect " + strings.Join(clientNames(), "|"),
		Short: "Write toolhost into the configuration of an MCP client",
		Long: `Has an MCP client start toolhost with the flags that are given here; the paths are
written absolute. It shows what changes in the client's configuration and asks before
it writes; without a terminal it writes with --yes only. Everything else in the file
stays as it is, comments too, and what you added to the entry yourself (env, timeout,
trust, …). A copy of what the file was is kept beside it.

With --url the client is told where a toolhost serves HTTP, with the token of
--token-file or of the state folder.`,
		Example: `  toolhost connect claude-code --folder ~/notes
  toolhost connect codex --plugins ./plugins --folder . --yes
  toolhost connect cursor --url http://127.0.0.1:8080/mcp
  toolhost connect zed --remove`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				return nil
			}
			return usagef("it is one of "+strings.Join(clientNames(), ", "), "connect needs the name of a client")
		},
		RunE: func(cmd *cobra.Command, args []string) error { return p.connect(cmd, args[0], c) },
	}
	p.addFlags(cmd)
	f := cmd.Flags()
	f.StringVar(&c.name, "name", "toolhost", "the server's name in the client, which it puts before the names of the tools")
	f.StringVar(&c.url, "url", "", "where a toolhost serves HTTP, such as http://127.0.0.1:8080/mcp")
	f.StringVar(&p.flags.http.TokenFile, "token-file", "", "with --url: the file of the token (default: the one of the state folder)")
	f.BoolVar(&c.remove, "remove", false, "take toolhost out of the configuration")
	f.BoolVar(&c.print, "print", false, "print the whole configuration as it would be, and write nothing")
	f.BoolVar(&c.yes, "yes", false, "write without asking")
	return cmd
}

var serverName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$`)

func (p *program) connect(cmd *cobra.Command, name string, c connecting) error {
	clients := connect.Clients()
	i := slices.IndexFunc(clients, func(k *connect.Client) bool { return k.Name == name })
	if i < 0 {
		hint := "it is one of " + strings.Join(clientNames(), ", ")
		if near := suggest.Nearest(name, clientNames()); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return usagef(hint, "unknown client %q", name)
	}
	if !serverName.MatchString(c.name) {
		return usagef("up to 32 letters, digits, - and _", "--name %q is no name that clients take", c.name)
	}
	client := clients[i]
	home, err := os.UserHomeDir()
	if err != nil {
		return failed(fmt.Errorf("looking for the configuration of %s: %w", name, err))
	}
	path := client.File(connect.Place{Home: home, OS: runtime.GOOS, Env: os.Getenv})
	file, err := connect.Open(path)
	if err != nil {
		return failed(fmt.Errorf("reading the configuration of %s: %w", name, err))
	}
	var text string
	if c.remove {
		text, err = client.Remove(file.Text, c.name)
	} else {
		var s connect.Server
		if s, err = p.connected(cmd, c); err != nil {
			return err
		}
		text, err = client.Set(file.Text, s)
	}
	if err != nil {
		return &failure{code: exitFailed, err: fmt.Errorf("changing %s: %w", path, err), hint: "nothing was written"}
	}
	if c.print {
		if _, err := fmt.Fprint(p.out, text); err != nil {
			return failed(err)
		}
		return nil
	}
	return p.writeConnected(cmd.Context(), client, file, path, text, c)
}

// writeConnected shows what changes, asks, and writes.
func (p *program) writeConnected(ctx context.Context, client *connect.Client, file *connect.File, path, text string, c connecting) error {
	if text == file.Text {
		_, err := fmt.Fprintf(p.out, "%s: nothing to change\n", oneLine(path))
		return err
	}
	shown := oneLine(path)
	if file.Path != path {
		shown += " (" + oneLine(file.Path) + ")"
	}
	var diff strings.Builder
	for line := range strings.Lines(connect.Diff(file.Text, text)) {
		diff.WriteString(oneLine(strings.TrimSuffix(line, "\n")) + "\n")
	}
	if _, err := fmt.Fprintf(p.out, "%s:\n%s", shown, diff.String()); err != nil {
		return failed(err)
	}
	if !c.yes {
		if p.terminal() == nil {
			return &failure{code: exitFailed, err: errors.New("nothing is written without your word"), hint: "say --yes, or write it by hand"}
		}
		if err := p.confirm(ctx, "Write it?"); err != nil {
			return err
		}
	}
	if err := file.Write(text); err != nil {
		return failed(fmt.Errorf("writing %s: %w", path, err))
	}
	done := "written"
	if client.Note != "" {
		done += "; " + client.Note
	}
	_, err := fmt.Fprintln(p.out, done)
	return err
}

// connected gives the server as the flags describe it.
func (p *program) connected(cmd *cobra.Command, c connecting) (connect.Server, error) {
	s := connect.Server{Name: c.name}
	if c.url != "" {
		u, err := url.Parse(c.url)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return s, usagef("for example --url http://127.0.0.1:8080/mcp", "--url %q is no http address", c.url)
		}
		s.URL = c.url
		_, s.Token, err = p.httpToken()
		return s, err
	}
	if err := p.refuseWideFolder(p.flags.folderNamed); err != nil {
		return s, err
	}
	for _, dir := range p.flags.plugins { // a client would show nobody what the server says of it
		if _, err := loader.Folders(dir); err != nil {
			p.warnf("%v", err)
		}
	}
	p.warnEmpty(p.flags.plugins)
	program, err := os.Executable()
	if err != nil {
		return s, failed(fmt.Errorf("looking for this program: %w", err))
	}
	s.Command = []string{program, "serve"}
	own := []string{"name", "url", "token-file", "remove", "print", "yes", "folder"}
	paths := []string{"plugins", "state", "config", "policy"}
	var wrong error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if slices.Contains(own, f.Name) {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			if slices.Contains(paths, f.Name) {
				abs, err := filepath.Abs(v)
				wrong = errors.Join(wrong, err)
				v = abs
			}
			if f.Value.Type() == "bool" {
				s.Command = append(s.Command, "--"+f.Name+"="+v)
				continue
			}
			s.Command = append(s.Command, "--"+f.Name, v)
		}
	})
	if wrong != nil {
		return s, failed(wrong)
	}
	s.Command = append(s.Command, "--folder", p.flags.folder)
	return s, nil
}
