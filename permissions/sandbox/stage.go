package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/toolhost/toolhost/internal/scratch"
	"github.com/toolhost/toolhost/permissions"
)

const (
	// maxStagedFile and maxStaged bound what is copied for one call, in bytes; maxStagedFiles
	// in files.
	maxStagedFile  = 64 << 20
	maxStaged      = 256 << 20
	maxStagedFiles = 10_000
	maxStagedDepth = 64
)

// OutputVariable names, in a program's environment, the folder whose files come to the same
// places below the agent's folder once the call has succeeded. It is there where the
// manifest lets the program write into the agent's folder or to globs.
const OutputVariable = "TOOLHOST_OUT"

// Stage takes what a program writes for one call until the host has looked at it. The
// kernel's rules can open a folder with all below it, or a file that is there; neither
// says what the permissions say of names that are yet to be made. So folders, and files
// that are not there yet, are replaced by ones in a private place, and what is found there
// is moved to where it belongs, by the call's own grant, once the call has succeeded. A file
// that is there is written in place.
//
// Its methods are for one goroutine.
type Stage struct {
	grant     *permissions.Grant
	dir       string // "" until something is staged
	release   func() // removes dir
	options   StageOptions
	items     []*staged
	arguments map[string]string // by JSON pointer
	writable  []string
	output    string // the folder of OutputVariable; ""
	copied    int64
	files     int
}

// StageOptions say how a stage is made; the zero value is for a program of one call.
type StageOptions struct {
	// Dir is where the stage is made; "" is the system's temporary folder. A program that
	// serves several calls is given one folder at its start, by the Write of its [Rules], and the
	// stages of its calls are made in it.
	Dir string
	// All stages every argument that the call may read, too, by copy: for a program whose
	// rules were made before the call, and open none of the agent's files.
	All bool
}

// staged is one place of the agent's folder and what stands for it.
type staged struct {
	target string           // as the grant takes it
	name   string           // as the caller names it
	path   string           // what stands for it
	commit bool             // the call may write there
	before map[string]stamp // what was copied, by slash path below path; "." is a file itself
}

// stamp is by what a file that was changed is known.
type stamp struct {
	size  int64
	mtime time.Time
}

// NewStage makes the stage of a call; args are the arguments that name files, as the
// call's grant was made from. nil options stand for their zero value. The caller calls
// Close in every case.
func NewStage(g *permissions.Grant, args []permissions.Argument, options *StageOptions) (*Stage, error) {
	s := &Stage{grant: g, arguments: map[string]string{}}
	if options != nil {
		s.options = *options
	}
	for _, a := range args {
		if err := s.argument(a); err != nil {
			_ = s.Close()
			return nil, err
		}
	}
	if g.WritesFreely() {
		if err := s.makeOutput(); err != nil {
			_ = s.Close()
			return nil, err
		}
	}
	return s, nil
}

// argument stages what one argument names, where it must be.
func (s *Stage) argument(a permissions.Argument) error {
	if a.Value == "" {
		return nil
	}
	f := s.grant.FS()
	target, err := f.Target(a.Value)
	writes := err == nil
	if !writes && !s.options.All {
		return nil // read in place, or not granted
	}
	info, err := f.Stat(a.Value)
	switch {
	case err != nil && !writes:
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, permissions.ErrDenied):
		return nil // the program will see for itself
	case err == nil && !info.IsDir() && !info.Mode().IsRegular():
		return nil
	case err == nil && info.Mode().IsRegular() && permissions.Links(info) < 2 && !s.options.All:
		s.writable = append(s.writable, target)
		return nil
	}
	if !writes {
		target = a.Value
	}
	item := &staged{target: target, name: filepath.Clean(a.Value), commit: writes, before: map[string]stamp{}}
	dir, err := s.place()
	if err != nil {
		return err
	}
	item.path = filepath.Join(dir, filepath.Base(filepath.Clean(target)))
	if filepath.Base(filepath.Clean(target)) == string(filepath.Separator) || filepath.Clean(target) == "." {
		item.path = filepath.Join(dir, "folder")
	}
	if info != nil && info.IsDir() {
		err = s.copyTree(item, target)
	} else if info != nil {
		err = s.copyFile(item, target, ".")
	}
	if err != nil {
		return fmt.Errorf("argument %s: copying %q for the program: %w", a.Pointer, a.Value, err)
	}
	s.items = append(s.items, item)
	s.arguments[a.Pointer] = item.path
	return nil
}

// place makes a new folder of the stage.
func (s *Stage) place() (string, error) {
	if s.dir == "" {
		var err error
		if s.options.Dir == "" {
			s.dir, s.release, err = scratch.Folder("", "stage")
		} else if s.dir, err = os.MkdirTemp(s.options.Dir, "call-"); err == nil {
			dir := s.dir
			s.release = func() { scratch.Remove(dir) }
			s.dir, err = filepath.EvalSymlinks(dir)
		}
		if err != nil {
			return "", fmt.Errorf("making a folder for what the program writes: %w", err)
		}
	}
	dir := filepath.Join(s.dir, strconv.Itoa(len(s.items)))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", fmt.Errorf("making a folder for what the program writes: %w", err)
	}
	return dir, nil
}

func (s *Stage) makeOutput() error {
	dir, err := s.place()
	if err != nil {
		return err
	}
	s.items = append(s.items, &staged{target: s.grant.Folder(), name: s.grant.Folder(), path: dir, commit: true, before: map[string]stamp{}})
	s.output = dir
	return nil
}

// copyTree copies what may be read of a folder.
func (s *Stage) copyTree(item *staged, target string) error {
	if err := os.Mkdir(item.path, 0o700); err != nil {
		return err
	}
	return s.grant.FS().WalkDir(target, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, permissions.ErrDenied) || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(target, name)
		if err != nil || rel == "." {
			return err
		}
		switch {
		case d.IsDir():
			if strings.Count(filepath.ToSlash(rel), "/") >= maxStagedDepth {
				return fs.SkipDir
			}
			if err := os.Mkdir(filepath.Join(item.path, rel), 0o700); err != nil {
				return err
			}
			item.before[filepath.ToSlash(rel)+"/"] = stamp{}
			return nil
		case d.Type().IsRegular():
			return s.copyFile(item, name, rel)
		}
		return nil
	})
}

// copyFile copies a file that may be read; one that may only be written is left out.
func (s *Stage) copyFile(item *staged, name, rel string) error {
	if s.files++; s.files > maxStagedFiles {
		return fmt.Errorf("there are more than %d files", maxStagedFiles)
	}
	from, err := s.grant.FS().OpenFile(name, os.O_RDONLY, 0)
	if errors.Is(err, permissions.ErrDenied) {
		return nil
	}
	if err != nil {
		return err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil {
		return err
	}
	left := min(maxStagedFile, maxStaged-s.copied)
	to, err := os.OpenFile(filepath.Join(item.path, rel), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600|info.Mode().Perm()&0o100)
	if err != nil {
		return err
	}
	n, err := io.Copy(to, io.LimitReader(from, left+1))
	s.copied += n
	if err == nil && n > left {
		err = fmt.Errorf("%q: at most %d MiB a file and %d MiB a call are copied", rel, maxStagedFile>>20, maxStaged>>20)
	}
	if err == nil {
		// By its times alone what the program changes is told from what it leaves.
		err = os.Chtimes(to.Name(), info.ModTime(), info.ModTime())
	}
	if closing := to.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return err
	}
	item.before[filepath.ToSlash(rel)] = stamp{n, info.ModTime()}
	return nil
}

// Arguments gives, by JSON pointer, what the program is to be told in place of the
// arguments that are staged: absolute paths.
func (s *Stage) Arguments() map[string]string { return s.arguments }

// StandIn is a file or folder of a stage, and what it stands for.
type StandIn struct {
	Path string // where it is for the program
	Name string // what the caller calls it: the argument, cleaned, or the agent's folder
}

// StandIns gives all that the program finds in the stage.
func (s *Stage) StandIns() []StandIn {
	var all []StandIn
	for _, i := range s.items {
		all = append(all, StandIn{i.path, i.name})
	}
	return all
}

// Dir gives the folder that holds the stage; "" where nothing is staged. Its last element
// is made up anew for each stage.
func (s *Stage) Dir() string { return s.dir }

// Env gives what is added to the program's environment.
func (s *Stage) Env() []string {
	if s.output == "" {
		return nil
	}
	return []string{OutputVariable + "=" + s.output}
}

// Open adds to rules what the stage needs.
func (s *Stage) Open(r *Rules) {
	commits := slices.ContainsFunc(s.items, func(i *staged) bool { return i.commit })
	switch {
	case s.dir != "" && commits:
		r.Write = append(r.Write, s.dir)
	case s.dir != "":
		r.Private = append(r.Private, s.dir)
	}
	r.exact.writable = append(r.exact.writable, s.writable...)
}

// change is one thing to be done in the agent's folder.
type change struct {
	act    act
	target string
	// Of a file: where it lies, and its mode.
	from *os.Root
	name string
	mode fs.FileMode
}

type act int

const (
	writeFile act = iota
	makeFolder
	remove
)

// Commit moves what the program has written to where it belongs. All of it is checked
// first: where anything may not be there, nothing is moved. It is called when the call has
// succeeded, while its grant holds.
func (s *Stage) Commit() error {
	var changes []change
	for _, item := range s.items {
		if !item.commit {
			continue
		}
		root, err := os.OpenRoot(filepath.Dir(item.path))
		if err != nil {
			return fmt.Errorf("looking at what the program wrote: %w", err)
		}
		defer root.Close()
		found, err := item.changes(root)
		if err != nil {
			return fmt.Errorf("looking at what the program wrote: %w", err)
		}
		changes = append(changes, found...)
	}
	f := s.grant.FS()
	for _, c := range changes {
		if err := c.allowed(f); err != nil {
			return fmt.Errorf("the program wrote %q: %w", c.target, err)
		}
	}
	for _, c := range changes {
		if err := c.do(f); err != nil {
			return fmt.Errorf("moving what the program wrote to %q: %w", c.target, err)
		}
	}
	return nil
}

// changes gives what differs from what was copied; root is the folder around the item.
func (i *staged) changes(root *os.Root) ([]change, error) {
	top := filepath.Base(i.path)
	info, err := root.Lstat(top)
	if errors.Is(err, fs.ErrNotExist) {
		return i.removed(nil), nil
	}
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() {
		if before, ok := i.before["."]; ok && before == (stamp{info.Size(), info.ModTime()}) {
			return nil, nil
		}
		return []change{{from: root, name: top, target: i.target, act: writeFile, mode: info.Mode()}}, nil
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("%q is neither a file nor a folder", i.target)
	}
	var changes []change
	seen := map[string]bool{}
	count := 0
	err = fs.WalkDir(root.FS(), top, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == top {
			return err
		}
		if count++; count > maxStagedFiles || strings.Count(name, "/") > maxStagedDepth+1 {
			return fmt.Errorf("there are more than %d files, or they lie too deep", maxStagedFiles)
		}
		rel := strings.TrimPrefix(name, top+"/")
		target := filepath.Join(i.target, filepath.FromSlash(rel))
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch {
		case info.IsDir():
			seen[rel+"/"] = true
			if _, ok := i.before[rel+"/"]; !ok {
				changes = append(changes, change{target: target, act: makeFolder})
			}
		case info.Mode().IsRegular():
			seen[rel] = true
			if before, ok := i.before[rel]; !ok || before != (stamp{info.Size(), info.ModTime()}) {
				changes = append(changes, change{from: root, name: name, target: target, act: writeFile, mode: info.Mode()})
			}
		default:
			return fmt.Errorf("%q is neither a file nor a folder; plugins cannot make links, pipes and the like", rel)
		}
		return nil
	})
	return append(changes, i.removed(seen)...), err
}

// removed gives what was copied and is no more there, the inner before the outer.
func (i *staged) removed(seen map[string]bool) []change {
	var gone []string
	for name := range i.before {
		if !seen[name] {
			gone = append(gone, name)
		}
	}
	slices.Sort(gone)
	slices.Reverse(gone)
	var changes []change
	for _, name := range gone {
		changes = append(changes, change{target: filepath.Join(i.target, filepath.FromSlash(path.Clean(name))), act: remove})
	}
	return changes
}

// allowed gives the error with which the change would be refused.
func (c change) allowed(f *permissions.FS) error {
	switch c.act {
	case makeFolder:
		return f.MayMkdir(c.target)
	case writeFile:
		return f.MayWriteFile(c.target)
	}
	_, err := f.Target(c.target)
	return err
}

// do makes the change.
func (c change) do(f *permissions.FS) error {
	switch c.act {
	case makeFolder:
		_, err := f.MkdirAll(c.target, 0)
		return err
	case remove:
		err := f.Remove(c.target)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	// Not to wait for a pipe that has taken the file's place.
	from, err := c.from.OpenFile(c.name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer from.Close()
	if info, err := from.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, errors.New("it is no file any more"))
	}
	if _, err := f.MkdirAll(filepath.Dir(c.target), 0); err != nil && !errors.Is(err, permissions.ErrDenied) {
		return err
	}
	to, err := f.OpenFile(c.target, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, c.mode.Perm()|0o600)
	if err != nil {
		return err
	}
	if _, err = io.Copy(to, from); err != nil {
		to.Abandon()
		return err
	}
	return to.Close()
}

// Close removes what was staged.
func (s *Stage) Close() error {
	if s.release != nil {
		s.release()
		s.dir, s.release = "", nil
	}
	return nil
}
