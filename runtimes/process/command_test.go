package process_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/process"
)

// TestWrongCommands: what cannot run is known at load, with what to do about it.
func TestWrongCommands(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside.sh")
	other := bytes.Clone(cLike(t))
	other[18], other[19] = 0x15, 0 // another processor
	noLoader := bytes.Replace(bytes.Clone(cLike(t)), []byte("/lib64/ld-linux-x86-64.so.2"), []byte("/lib64/ld-musl-x86_64.so.9\x00"), 1)
	for name, text := range map[string]string{
		"plain.py": "print(1)\n", "run.sh": "#!/bin/sh\n", "node.mjs": "#!/usr/bin/env no-such-interpreter\n", "interp.sh": "#!/no/such/interpreter -x\n",
		"crlf.sh": "#!/bin/sh\r\necho\r\n", "noline": "echo hello\n", "empty": "", "windows.exe": "MZ\x90\x00", "bom.sh": "\ufeff#!/bin/sh\n", "none.sh": "#!  \n",
		"other": string(other), "broken": "\x7fELF nonsense", "noloader": string(noLoader), "relative.sh": "#!python3\n",
	} {
		mode := os.FileMode(0o755)
		if name == "plain.py" {
			mode = 0o644
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(outside, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{"link.sh": outside, "up": ".."} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command       []string
		message, hint string
	}{
		{nil, "there is no command", "python3"},
		{[]string{"no-such-program-anywhere"}, `"no-such-program-anywhere" is not in the PATH`, "./no-such-program-anywhere"},
		{[]string{"./greeter"}, "is not in the plugin folder", "build it into the plugin folder"},
		{[]string{"./rum.sh"}, "is not in the plugin folder", `"./run.sh"`},
		{[]string{"/no/such/program"}, "no such file", "PATH"},
		{[]string{"bin/tool"}, "neither a name", `"./bin/tool"`},
		{[]string{"../run.sh"}, "neither a name", `"./run.sh"`},
		{[]string{"./../run.sh"}, "cannot be used", "inside its folder"},
		{[]string{"./link.sh"}, "cannot be used", "inside its folder"},
		{[]string{"./up/x/run.sh"}, "cannot be used", "inside its folder"},
		{[]string{"./folder"}, "is no file", ""},
		{[]string{"./plain.py"}, "may not be executed", `["python3", "./plain.py"]`},
		{[]string{"./node.mjs"}, `the interpreter "no-such-interpreter"`, "install no-such-interpreter"},
		{[]string{"./interp.sh"}, `the interpreter "/no/such/interpreter"`, "#!/usr/bin/env interpreter"},
		{[]string{"./relative.sh"}, "no absolute path", "#!/usr/bin/env python3"},
		{[]string{"./crlf.sh"}, "Windows", "LF"},
		{[]string{"./noline"}, "neither a program of this system nor a script", "#!/usr/bin/env python3"},
		{[]string{"./none.sh"}, "names no interpreter", "#!"},
		{[]string{"./empty"}, "empty", "#!"},
		{[]string{"./windows.exe"}, "a program for Windows", "build it for"},
		{[]string{"./bom.sh"}, "neither a program", "byte order mark"},
		{[]string{"./other"}, "another processor", "build it for"},
		{[]string{"./broken"}, "damaged", "again"},
		{[]string{"./noloader"}, "needs the loader", "statically"},
		{[]string{"sh", "./missing.sh"}, `"./missing.sh" of the command is not in the plugin folder`, ""},
		{[]string{"sh", "./rum.sh"}, "is not in the plugin folder", `"./run.sh"`},
		{[]string{"sh", "./link.sh"}, "cannot be used", "inside its folder"},
	} {
		found := problems(t, runtimes.Spec{Dir: dir, Command: c.command})
		if len(found) != 1 || !strings.Contains(found[0].Message, c.message) || !strings.Contains(found[0].Hint, c.hint) || found[0].File != "filer-plugin.json" {
			t.Errorf("%q: got %+v, want %q, %q", c.command, found, c.message, c.hint)
		}
		field := "/command"
		if n := len(c.command); n > 0 {
			field += fmt.Sprintf("/%d", n-1)
		}
		if len(found) == 1 && found[0].Field != field {
			t.Errorf("%q: the mistake is at %q, want %q", c.command, found[0].Field, field)
		}
	}
	for _, protocol := range []string{"smoke"} {
		found := problems(t, runtimes.Spec{Dir: dir, Command: []string{"./run.sh"}, Protocol: protocol})
		if len(found) != 1 || !strings.Contains(found[0].Message, protocol) {
			t.Errorf("%s: got %+v", protocol, found)
		}
	}
}

// cLike gives a program that needs a loader.
func cLike(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestRefusedVariables(t *testing.T) {
	dir := t.TempDir()
	_, err := process.New(nil).Open(t.Context(), runtimes.Spec{
		Plugin: "tested", Dir: dir, Command: []string{"sh"}, Policy: &permissions.Policy{Env: []string{"LANG", "LD_PRELOAD", "NODE_OPTIONS", "TOOLHOST_X"}},
	})
	for _, name := range []string{"LD_PRELOAD", "NODE_OPTIONS", "TOOLHOST_X"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// Commands that run, in each way to write them.
func TestCommands(t *testing.T) {
	dir := t.TempDir()
	answer := "read line; echo '{\"id\":\"c1\",\"result\":\"'\"$1 $(pwd)\"'\"}'\n"
	for name, text := range map[string]string{"run.sh": "#!/bin/sh -e\n" + answer, "env.sh": "#!/usr/bin/env sh\n" + answer, "split.sh": "#!/usr/bin/env -S sh -e\n" + answer, "plain.txt": answer, "bin/tool.sh": "#!/bin/sh\n" + answer} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("run.sh", filepath.Join(dir, "link.sh")); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][]string{
		{"./run.sh", "a"}, {"./env.sh", "a"}, {"./split.sh", "a"}, {"./link.sh", "a"}, {"sh", "./plain.txt", "a"}, {"/bin/sh", "./plain.txt", "a"}, {"./bin/tool.sh", "a"},
		{"sh", "-c", "./run.sh a"},
	} {
		p := open(t, nil, runtimes.Spec{Dir: dir, Command: c})
		if text, failed := p.call("text", object{}); failed || text != "a "+dir {
			t.Errorf("%q: got %q", c, text)
		}
		if len(p.instance.Inputs()) < 5 {
			t.Errorf("%q: the inputs are %v", c, p.instance.Inputs())
		}
	}
}

// A version manager's script in the PATH is passed over for the program itself.
func TestShims(t *testing.T) {
	shims := filepath.Join(t.TempDir(), "shims")
	if err := os.Mkdir(shims, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(shims, "sh"), []byte("#!/bin/sh\nexit 9\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", shims+":relative:/usr/bin:/bin")
	p := open(t, nil, runtimes.Spec{Command: []string{"sh", "-c", `read line; echo '{"id":"c1","result":"real"}'`}})
	p.expect("text", object{}, "real")
}

func TestInputs(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"run.sh", "lib/a.txt", ".git/config", ".hidden", "node_modules/x/index.js"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p := open(t, nil, runtimes.Spec{Dir: dir, Command: []string{"./run.sh"}})
	inputs := p.instance.Inputs()
	if _, ok := inputs["lib/a.txt"]; !ok || len(inputs) != 2 {
		t.Errorf("got %v", inputs)
	}
}
