package process_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/process"
	"github.com/toolhost/toolhost/runtimes/runtimestest"
)

// answers are programs that do what they should not, and yet answer.
var answers = []struct{ how, want string }{
	{"fine", "ok"}, {"no newline, exit", "ok"}, {"twice", "ok"}, {"other id", "ok"}, {"junk", "ok"}, {"glued", "ok"}, {"bom", "ok"}, {"crlf", "ok"},
	{"much junk", "ok"}, {"stderr flood", "ok"}, {"split", "zażółć 😀"}, {"null error", "ok"}, {"fork", "ok"}, {"answer and exit 1", "ok"},
	{"escapes", `{"b":"ż😀 � / \" \n","a":1.50,"b2":[]}`},
}

// failures are programs that give no answer, with what the agent must be told.
var failures = []struct {
	how  string
	want []string
}{
	{"exit 3", []string{`plugin "tested"`, "ended without an answer", "exit status 3", "first line\nout of cheese"}},
	{"exit 0", []string{"ended without an answer", "exit status 0"}},
	{"kill", []string{"ended without an answer"}},
	{"close stdout", []string{"closed its stdout without an answer"}},
	{"half a line", []string{"ended without an answer"}},
	{"only other id", []string{"ended without an answer"}},
	{"too much junk", []string{"more than 1000 lines", "no messages"}},
	{"long line", []string{"more than 4194304 bytes", "1048576"}},
	{"flood", []string{"more than 4194304 bytes"}},
	{"fork and exit", []string{"exit status 4"}},
	{"error object", []string{"from an object"}},
}

func TestOddPrograms(t *testing.T) {
	for _, keep := range []bool{false, true} {
		t.Run(fmt.Sprintf("keepAlive=%v", keep), func(t *testing.T) {
			p := open(t, nil, runtimes.Spec{KeepAlive: keep})
			for _, c := range answers {
				if keep && strings.Contains(c.how, "exit") {
					continue // the next call may still reach the process that ends
				}
				if text, failed := p.odd(c.how); failed || text != c.want {
					t.Errorf("%s: failed %v, got %.200q, want %q", c.how, failed, text, c.want)
				}
			}
			for i, c := range failures {
				text, failed := p.odd(c.how)
				for _, want := range c.want {
					if !failed || !strings.Contains(text, want) || len(text) > 4000 {
						t.Errorf("%s: failed %v, got %.300q, want %q", c.how, failed, text, want)
					}
				}
				if i%2 == 1 || keep {
					p.expect("odd", object{"how": "fine"}, "ok")
				}
			}
			for _, want := range []string{"hello", "[1,2]", "half a line", "an answer to no call that runs"} {
				if !strings.Contains(p.log.String(), want) {
					t.Errorf("the log does not say %q", want)
				}
			}
		})
	}
}

// A program that has closed its input and lives on cannot be told of a call: the call says so
// long before its deadline, and the next has another process.
func TestClosedInput(t *testing.T) {
	for _, spec := range []runtimes.Spec{{KeepAlive: true}, {Protocol: "mcp"}} {
		p := open(t, nil, spec)
		p.expect("odd", object{"how": "close stdin"}, "ok")
		text, failed := p.odd("fine")
		if !failed || !strings.Contains(text, `plugin "tested": its process closed its input`) || strings.Contains(text, "killed") {
			t.Errorf("%s: failed %v, %q", spec.Protocol, failed, text)
		}
		p.expect("odd", object{"how": "fine"}, "ok")
	}
}

// A program that logs without end does not fill the log, and what was left out is said.
func TestLogFlood(t *testing.T) {
	p := open(t, nil, runtimes.Spec{})
	p.expect("odd", object{"how": "log flood"}, "ok")
	p.instance.Close(t.Context())
	log := p.log.String()
	if n := strings.Count(log, "flooded "); n < 100 || n > 10_000 {
		t.Errorf("%d of 20000 lines were logged", n)
	}
	if !strings.Contains(log, "lines were left out of the log") {
		t.Error("the log does not say that lines were left out")
	}
}

// Programs that do not end are ended at the deadline; the next call is served.
func TestProgramsThatHang(t *testing.T) {
	for _, keep := range []bool{false, true} {
		p := open(t, nil, runtimes.Spec{KeepAlive: keep})
		p.timeout = 300 * time.Millisecond
		p.offer(runtimes.Spec{Plugin: "tested", Tools: []runtimes.Tool{{ID: "odd"}}})
		for _, how := range []string{"silence", "ignore TERM", "stop"} {
			began := time.Now()
			text, failed := p.odd(how)
			if !failed || !strings.Contains(text, "timed out") || time.Since(began) > 3*time.Second {
				t.Errorf("%s: after %s: %q", how, time.Since(began), text)
			}
		}
	}
}

// A program is told of its data folder by a path that holds where the program is.
func TestRelativeDataDir(t *testing.T) {
	t.Chdir(t.TempDir())
	p := open(t, nil, runtimes.Spec{DataDir: "data"})
	p.expect("odd", object{"how": "data"}, "")
	if text, err := os.ReadFile("data/file"); err != nil || string(text) != "x" {
		t.Errorf("the file of the program is %q, %v", text, err)
	}
}

func TestBigArguments(t *testing.T) {
	text := strings.Repeat("zażółć 😀\u2028\"\\", 60_000)
	for !utf8.ValidString(text[:700_000]) {
		text = text[1:]
	}
	for _, keep := range []bool{false, true} {
		p := open(t, nil, runtimes.Spec{KeepAlive: keep})
		p.expect("text", object{"text": text[:700_000]}, text[:700_000])
		// A program that answers without reading them.
		p2 := open(t, nil, runtimes.Spec{KeepAlive: keep, Command: []string{"/bin/sh", "-c", `head -c 20 >/dev/null; echo '{"id":"c1","result":"early"}'; sleep 1`}})
		for range 2 {
			p2.expect("text", object{"text": text}, "early")
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("SECRET_OF_HOST", "k")
	t.Setenv("GRANTED", "yes")
	t.Setenv("LANG", "de_DE.UTF-8")
	data := filepath.Join(t.TempDir(), "deep", "data")
	spec := runtimes.Spec{DataDir: data, Policy: policyWithEnv("GRANTED", "LANG", "PATH", "UNSET_HERE")}
	p := open(t, nil, spec)
	text, _ := p.odd("environment")
	for _, want := range []string{`"GRANTED=yes"`, `"LANG=de_DE.UTF-8"`, `"PATH=/usr/local/sbin:`, `"TMPDIR=`, `"HOME=`, `"TOOLHOST_DATA_DIR=` + data + `"`, `"TOOLHOST_PLUGIN=tested"`, `"TOOLHOST_FOLDER=` + p.folder + `"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing in %s", want, text)
		}
	}
	for _, never := range []string{"SECRET", "UNSET_HERE", "de_DE.UTF-8\",\"LANG", "SHIM"} {
		if strings.Contains(text, never) {
			t.Errorf("%s is in %s", never, text)
		}
	}
	temp, failed := p.odd("temp")
	if failed || !strings.HasSuffix(temp, "/file") {
		t.Fatalf("got %q", temp)
	}
	p.expect("odd", object{"how": "data"}, "")
	p.expect("odd", object{"how": "data"}, "x")
	if text, _ := p.odd("write self"); !strings.Contains(text, "permission denied") {
		t.Errorf("the plugin could write its own folder: %s", text)
	}
	if err := p.instance.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := runtimestest.Remaining(t, filepath.Dir(temp)); len(left) > 0 {
		t.Errorf("the temporary folder %s is left", left)
	}
}

// The answer comes at once, whatever the program has left behind.
func TestAnswerDoesNotWait(t *testing.T) {
	p := open(t, nil, runtimes.Spec{Command: []string{"/bin/sh", "-c", `read line; sleep 86400 & echo '{"id":"c1","result":"now"}'; trap '' TERM; while :; do sleep 1; done`}})
	began := time.Now()
	p.expect("text", object{}, "now")
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the answer took %s", took)
	}
	if err := p.instance.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("closing took until %s", took)
	}
}

// What is not known is not agreed to: a program that was changed is not run.
func TestChangedProgram(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "run.sh")
	script := func(text string) {
		t.Helper()
		if err := os.WriteFile(file+".new", []byte("#!/bin/sh\nread line\necho '{\"id\":\"c1\",\"result\":\""+text+"\"}'\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	script("one")
	p := open(t, nil, runtimes.Spec{Dir: dir, Command: []string{"./run.sh"}})
	p.expect("text", object{}, "one")
	script("one") // the same bytes
	p.expect("text", object{}, "one")
	script("two")
	if text, failed := p.call("text", object{}); !failed || !strings.Contains(text, `"run.sh" was changed`) {
		t.Errorf("got %q", text)
	}
	// While a call waits the plugin is loaded anew.
	spec := runtimes.Spec{Plugin: "tested", Dir: dir, Command: []string{"./run.sh"}, Tools: []runtimes.Tool{{ID: "text"}}}
	old := p.instance
	ended := make(chan string)
	go func() {
		text, _ := p.call("text", object{})
		ended <- text
	}()
	next, err := process.New(nil).Open(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	p.instance = next
	p.offer(spec)
	if err := old.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text := <-ended; text != "two" {
		t.Errorf("the waiting call got %q", text)
	}
}
