package process

import (
	"bufio"
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// maxInterpreters is how many interpreters may run one another, as in the kernel.
const maxInterpreters = 4

// maxShebang is how long the first line of a script may be, as in the kernel.
const maxShebang = 256

// runnable looks at a program as the kernel will, so that what cannot run is known before
// the first call. It gives the program with the interpreters that run it. word is how the
// manifest names it.
func (f *finder) runnable(file, word string, depth int) []string {
	info, err := os.Stat(file)
	if err != nil {
		f.problem(fmt.Sprintf("the program %q cannot be run: %s", word, reason(err)), "")
		return nil
	}
	if !info.Mode().IsRegular() {
		f.problem(fmt.Sprintf("the program %q is no file", word), "name the file to run")
		return nil
	}
	f.mayRun(file)
	if !executable(file, info) {
		f.problem(fmt.Sprintf("the program %q may not be executed", word), "run chmod +x "+filepath.Base(file)+byInterpreter(file, word))
		return nil
	}
	head, err := readHead(file)
	if err != nil {
		return []string{file} // one that may be executed, but not read, is no script
	}
	switch {
	case bytes.HasPrefix(head, []byte("#!")):
		if depth == maxInterpreters {
			f.problem(fmt.Sprintf("the program %q is run by too many interpreters, each run by another", word), "name the first one in the command")
			return nil
		}
		return f.script(file, word, head, depth)
	case bytes.HasPrefix(head, []byte(elf.ELFMAG)):
		f.binary(file, word)
	case runtime.GOOS == "linux":
		f.problem(fmt.Sprintf("the program %q is %s", word, foreign(head)), foreignHint(file, word, head))
	}
	return []string{file}
}

// byInterpreter is the second part of a hint: how to run a script that cannot run itself.
func byInterpreter(file, word string) string {
	by := map[string]string{".py": "python3", ".mjs": "node", ".cjs": "node", ".js": "node", ".sh": "sh", ".rb": "ruby", ".pl": "perl", ".lua": "lua", ".php": "php"}[filepath.Ext(file)]
	if by == "" {
		return ""
	}
	return fmt.Sprintf(`, or write "command": [%q, %q]`, by, word)
}

func foreign(head []byte) string {
	for magic, what := range map[string]string{
		"MZ": "a program for Windows", "\xcf\xfa\xed\xfe": "a program for macOS", "\xce\xfa\xed\xfe": "a program for macOS",
		"\xca\xfe\xba\xbe": "a program for macOS or the Java machine", "PK\x03\x04": "an archive",
	} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return what
		}
	}
	if len(head) == 0 {
		return "empty"
	}
	return "neither a program of this system nor a script that names its interpreter"
}

func foreignHint(file, word string, head []byte) string {
	if strings.HasPrefix(foreign(head), "a program") {
		return fmt.Sprintf("build it for %s/%s", runtime.GOOS, runtime.GOARCH)
	}
	hint := "begin it with a line such as #!/usr/bin/env python3"
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf#!")) {
		hint = "take away the byte order mark before its #!"
	}
	return hint + byInterpreter(file, word)
}

// script finds the interpreter of a script. It is called by its path, not by env: the
// PATH of a plugin is the system's, not the host's.
func (f *finder) script(file, word string, head []byte, depth int) []string {
	line, _, _ := bytes.Cut(head[2:], []byte("\n"))
	if bytes.HasSuffix(line, []byte("\r")) {
		f.problem(fmt.Sprintf("the first line of %q ends as lines on Windows do, which is a part of the interpreter's name", word),
			"save it with LF line ends")
		return nil
	}
	interpreter, argument, _ := strings.Cut(strings.Trim(string(line), " \t"), " ")
	argument = strings.Trim(argument, " \t")
	if interpreter == "" {
		f.problem(fmt.Sprintf("the first line of %q names no interpreter", word), "write a line such as #!/usr/bin/env python3")
		return nil
	}
	var arguments []string
	if argument != "" {
		arguments = []string{argument}
	}
	if filepath.Base(interpreter) == "env" {
		if words := envWords(argument); len(words) > 0 {
			found := LookPath(words[0])
			if found == "" {
				f.problem(fmt.Sprintf("the interpreter %q of %q is not in the PATH of the host", words[0], word),
					fmt.Sprintf("install %s, or start the host with a PATH that has its folder", words[0]))
				return nil
			}
			interpreter, arguments = found, words[1:]
		}
	}
	if !filepath.IsAbs(interpreter) {
		f.problem(fmt.Sprintf("the interpreter %q of %q is no absolute path", interpreter, word), "write #!/usr/bin/env "+filepath.Base(interpreter))
		return nil
	}
	if _, err := os.Stat(interpreter); err != nil {
		f.problem(fmt.Sprintf("the interpreter %q of %q cannot be run: %s", interpreter, word, reason(err)),
			fmt.Sprintf("install it, or write #!/usr/bin/env %s", filepath.Base(interpreter)))
		return nil
	}
	argv := f.runnable(interpreter, interpreter, depth+1)
	return slices.Concat(argv, arguments, []string{file})
}

// envWords gives the program and the arguments that `env` would run; none where it is to
// do more than that, such as to set variables.
func envWords(line string) []string {
	words := strings.Fields(line)
	if len(words) > 0 && words[0] == "-S" {
		words = words[1:]
	}
	if len(words) == 0 || strings.HasPrefix(words[0], "-") || strings.ContainsAny(line, `='"\$`) {
		return nil
	}
	return words
}

// machines are the processors that Go builds for, by what an ELF file says.
var machines = map[string]elf.Machine{
	"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64, "386": elf.EM_386, "arm": elf.EM_ARM, "riscv64": elf.EM_RISCV,
	"ppc64le": elf.EM_PPC64, "s390x": elf.EM_S390, "loong64": elf.EM_LOONGARCH,
}

// binary checks that a program is one for this machine, and that its loader is there.
func (f *finder) binary(file, word string) {
	e, err := elf.Open(file)
	if err != nil {
		f.problem(fmt.Sprintf("the program %q is damaged: %v", word, err), "build or copy it again")
		return
	}
	defer e.Close()
	want, known := machines[runtime.GOARCH]
	// A 64-bit processor runs the programs of its 32-bit ancestor, where the kernel is set up so.
	ancestor := map[string]elf.Machine{"amd64": elf.EM_386, "arm64": elf.EM_ARM}[runtime.GOARCH]
	if known && e.Machine != want && e.Machine != ancestor && !emulated() {
		f.problem(fmt.Sprintf("the program %q is for another processor (%s)", word, strings.TrimPrefix(e.Machine.String(), "EM_")),
			fmt.Sprintf("build it for %s/%s", runtime.GOOS, runtime.GOARCH))
		return
	}
	for _, p := range e.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		name, _ := io.ReadAll(io.LimitReader(p.Open(), 4096)) // a damaged one is no file either
		loader := string(bytes.TrimRight(name, "\x00"))
		if _, err := os.Stat(loader); err != nil {
			f.problem(fmt.Sprintf("the program %q needs the loader %q, which this system does not have", word, loader),
				"link it statically, or build it for the C library of this system")
			return
		}
	}
}

// emulated reports whether the kernel runs programs of other processors.
func emulated() bool {
	found, err := filepath.Glob("/proc/sys/fs/binfmt_misc/qemu-*")
	return err == nil && len(found) > 0
}

func readHead(file string) ([]byte, error) {
	h, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer h.Close()
	head, err := bufio.NewReaderSize(h, maxShebang).Peek(maxShebang)
	if err == io.EOF {
		err = nil
	}
	return head, err
}
