// Package shim is the short life of a process between its start and its becoming a
// confined program: it takes the rules upon itself, then executes the program.
//
//	memory := … // a sealed memory file with (&shim.Policy{…}).Encode()
//	cmd := exec.Command("/proc/self/exe")
//	cmd.Args = []string{shim.Name, "3"}
//	cmd.Env = shim.Environment()
//	cmd.ExtraFiles = []*os.File{memory}
//
// Importing it is enough: it looks at the arguments when it is initialized, which comes
// before the packages that need milliseconds for that, since it imports next to nothing.
// Package sandbox makes the policies; nobody else imports this.
package shim

import "errors"

const (
	// Name is what a shim is called: by it, and by a sealed policy, it knows what it is.
	Name = "toolhost-sandbox"
	// Mark is in a shim's environment, and in no other.
	Mark = "TOOLHOST_SANDBOX_SHIM"
	// Ready is what a shim writes when all that is left is to execute the program.
	Ready = "ready\n"
	// StepExec is the step in which it does.
	StepExec = "exec"
	// exitSetup is how a shim ends that could not.
	exitSetup = 125
)

// Environment is that of a shim; the program's is in the policy. For one processor Go starts
// fewer threads, of which a shim has no use.
func Environment() []string { return []string{Mark + "=1", "GOMAXPROCS=1"} }

// Policy is what a shim is told. Numbers of descriptors are the shim's; -1 is none.
type Policy struct {
	Path      string
	Argv, Env []string
	Keep      int // descriptors below this number are the program's
	Ruleset   int
	Status    int // where the shim says what happened
	Host      int // the host's process, to see whether it still lives
	User      int // who the host is, and so the shim is to be in its user namespace; -1: it has none of its own
	Group     int
	Socket    int      // where the shim sends the listener of its network
	Port      int      // at which it listens
	Hidden    []string // folders that are to look like Empty
	Empty     string   // a folder with nothing in it that nobody may list
	Filter    string
	Limits    []Limit
	OwnProc   uint64 // rights on the program's own folder in /proc
	Probe     bool   // only try, and start nothing
}

// Limit is one resource limit.
type Limit struct {
	Resource int
	Value    uint64
}

// The form of a policy: numbers as eight bytes, texts and lists after their length. It is
// read by the same program that wrote it. encoding/json would do, were it not for what its
// initialization waits for.
type writer struct{ b []byte }

func (w *writer) number(n uint64) {
	for i := range 8 {
		w.b = append(w.b, byte(n>>(8*i)))
	}
}

func (w *writer) text(s string) {
	w.number(uint64(len(s)))
	w.b = append(w.b, s...)
}

func (w *writer) texts(list []string) {
	w.number(uint64(len(list)))
	for _, s := range list {
		w.text(s)
	}
}

// Encode writes a policy.
func (p *Policy) Encode() []byte {
	w := &writer{}
	w.text(p.Path)
	w.texts(p.Argv)
	w.texts(p.Env)
	for _, n := range []int{p.Keep, p.Ruleset, p.Status, p.Host, p.User, p.Group, p.Socket, p.Port} {
		w.number(uint64(n))
	}
	w.texts(p.Hidden)
	w.text(p.Empty)
	w.text(p.Filter)
	w.number(uint64(len(p.Limits)))
	for _, l := range p.Limits {
		w.number(uint64(l.Resource))
		w.number(l.Value)
	}
	w.number(p.OwnProc)
	probe := uint64(0)
	if p.Probe {
		probe = 1
	}
	w.number(probe)
	return w.b
}

// reader reads what writer wrote; bad says that it was something else.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) number() (n uint64) {
	if len(r.b) < 8 {
		r.bad = true
		return 0
	}
	for i := range 8 {
		n |= uint64(r.b[i]) << (8 * i)
	}
	r.b = r.b[8:]
	return n
}

// length reads the length of something whose parts have at least size bytes.
func (r *reader) length(size int) int {
	n := r.number()
	if n > uint64(len(r.b)/size) {
		r.bad = true
		return 0
	}
	return int(n)
}

func (r *reader) text() string {
	n := r.length(1)
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

func (r *reader) texts() []string {
	list := make([]string, r.length(8))
	for i := range list {
		list[i] = r.text()
	}
	return list
}

// Decode reads a policy.
func Decode(text []byte) (*Policy, error) {
	r := &reader{b: text}
	p := &Policy{Path: r.text(), Argv: r.texts(), Env: r.texts()}
	for _, n := range []*int{&p.Keep, &p.Ruleset, &p.Status, &p.Host, &p.User, &p.Group, &p.Socket, &p.Port} {
		*n = int(r.number())
	}
	p.Hidden, p.Empty, p.Filter = r.texts(), r.text(), r.text()
	p.Limits = make([]Limit, r.length(16))
	for i := range p.Limits {
		p.Limits[i] = Limit{Resource: int(r.number()), Value: r.number()}
	}
	p.OwnProc = r.number()
	p.Probe = r.number() == 1
	if r.bad || len(r.b) > 0 {
		return nil, errors.New("the policy is malformed")
	}
	return p, nil
}
