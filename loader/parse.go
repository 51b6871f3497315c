package loader

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/internal/schema"
)

// MaxManifest is how many bytes a manifest may have.
const MaxManifest = 256 << 10

// DefaultMaxTimeout is how long the timeout of a tool may be where nothing else is set.
const DefaultMaxTimeout = 10 * time.Minute

// ParseOptions of [ParseManifest]; the zero value is usable.
type ParseOptions struct {
	// File is the name of the manifest, under which mistakes are reported: [ManifestFile], or
	// [CardFile] for that of a card. "" is what the text is: only cards have a manifestVersion.
	File string
	// MaxTimeout is how long a timeout may be; 0 is [DefaultMaxTimeout].
	MaxTimeout time.Duration
}

// ParseManifest reads a manifest. It gives all mistakes at once, in the order in which
// they stand in the text: those for which the plugin is refused, and warnings. Where there
// are mistakes the manifest holds what could be read, for reports; it is nil where the
// text is no JSON object, or too much. options may be nil.
func ParseManifest(data []byte, options *ParseOptions) (m *Manifest, mistakes, warnings []*ManifestError) {
	c := newChecker(options)
	m = c.parse(data)
	mistakes, warnings = c.results()
	return m, mistakes, warnings
}

// maxValues is how many values a manifest may hold: real ones hold some hundred, and every
// one of them may cost a message.
const maxValues = 10_000

// count gives how many values there are in a value.
func count(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, item := range v {
			n += count(item)
		}
	case []any:
		for _, item := range v {
			n += count(item)
		}
	}
	return n
}

// checker goes over one manifest and gathers what is wrong with it.
type checker struct {
	file       string
	named      bool // the file's name says what kind of manifest it is
	form       *form
	maxTimeout time.Duration
	proofs     schema.Proofs // nil where everything is checked
	doc        *jsondoc.Document
	root       map[string]any
	manifest   *Manifest

	errors, warnings []*ManifestError
	// covered holds the pointers about which there is an error already, so that no
	// mistake is reported by two rules; around holds those of what is around them.
	covered, around map[string]bool
	// more counts the mistakes and warnings beyond maxReports.
	moreErrors, moreWarnings int
}

// maxReports bounds the mistakes, and the warnings, of one manifest: nobody reads more,
// and finding the place of each costs a pass over the text.
const maxReports = 200

func newChecker(options *ParseOptions) *checker {
	c := &checker{file: ManifestFile, form: filerForm, maxTimeout: DefaultMaxTimeout, covered: map[string]bool{}, around: map[string]bool{}}
	if options != nil && options.File != "" {
		c.file, c.named = options.File, true
	}
	if options != nil && options.MaxTimeout > 0 {
		c.maxTimeout = options.MaxTimeout
	}
	return c
}

func (c *checker) parse(data []byte) *Manifest {
	if len(data) > MaxManifest {
		c.errors = append(c.errors, &ManifestError{
			Rule: ruleUnreadable, File: c.file,
			Msg:  fmt.Sprintf("the manifest has more than %d bytes", MaxManifest),
			Hint: "move long texts and data into files of their own",
		})
		return nil
	}
	doc, err := jsondoc.Parse(data)
	if err != nil {
		e := &ManifestError{Rule: ruleSyntax, File: c.file, Msg: err.Error(), Hint: "a manifest is one JSON object in UTF-8, without comments"}
		var syntax *jsondoc.SyntaxError
		if errors.As(err, &syntax) {
			e.Line, e.Column = syntax.Line, syntax.Column
		}
		c.errors = append(c.errors, e)
		return nil
	}
	c.doc = doc
	root, ok := doc.Value.(map[string]any)
	c.takeForm(root)
	for _, p := range doc.Duplicates {
		c.keyError(p, ruleTwice, fmt.Sprintf("%s stands twice in its object", field(p)), "keep one of the two")
	}
	if !ok {
		c.error("", ruleType, "the manifest must be an object, not "+kind(doc.Value), `write {"name": "…", "tools": […]}`)
		return nil
	}
	if n := count(root); n > maxValues {
		c.error("", ruleUnreadable, fmt.Sprintf("the manifest holds %d values; %d are the most", n, maxValues), "move data into files of their own")
		return nil
	}
	c.root = root
	if c.form == cardForm {
		return c.card()
	}
	text := c.known()
	c.manifest = decode(text)
	c.manifest.Kind = KindFiler
	c.identity()
	c.runtime()
	c.permissions()
	c.tools()
	c.contributes()
	c.checkSchema(text)
	return c.manifest
}

// known gives the manifest's text without the members that nobody knows, about which it
// warns.
func (c *checker) known() []byte {
	if _, kept := c.root["contributes"]; kept {
		// Values of it are kept as text, which is to be spelled in one way.
		return written(c.prune(c.form.tree(), c.root, ""))
	}
	text := c.doc.Text()
	if c.proven(text) {
		return text // members that nobody knows have no proof
	}
	known := c.prune(c.form.tree(), c.root, "")
	if len(c.errors) > 0 || len(c.warnings) > 0 {
		return written(known)
	}
	return text // there are none
}

// written gives a value that was read as text again.
func written(known any) []byte {
	text, err := json.Marshal(known)
	if err != nil {
		panic(fmt.Sprintf("writing the manifest: %v", err))
	}
	return text
}

// decode fills a Manifest with what fits. It reads a text without unknown members, since
// encoding/json takes "ID" for id; values of a wrong type stay zero, and are reported by the
// schema.
func decode(text []byte) *Manifest {
	m := &Manifest{}
	_ = json.Unmarshal(text, m) // the one error there can be is a value of a wrong type
	return m
}

// error reports a mistake about the value at a pointer.
func (c *checker) error(pointer, rule, msg, hint string) {
	c.report(c.doc.Position, pointer, rule, msg, hint)
}

// keyError reports a mistake about the member at a pointer as such.
func (c *checker) keyError(pointer, rule, msg, hint string) {
	c.report(c.doc.KeyPosition, pointer, rule, msg, hint)
}

// cover notes that there is an error about the value at a pointer.
func (c *checker) cover(pointer string) {
	c.covered[pointer] = true
	for i := strings.LastIndexByte(pointer, '/'); i >= 0 && !c.around[pointer[:i]]; i = strings.LastIndexByte(pointer[:i], '/') {
		c.around[pointer[:i]] = true
	}
}

// results gives the mistakes and warnings in order. What is refused is not warned about as well.
func (c *checker) results() (mistakes, warnings []*ManifestError) {
	warnings = slices.DeleteFunc(c.warnings, func(w *ManifestError) bool { return c.covered[w.Pointer] })
	return c.finish(c.errors, c.moreErrors, "mistakes"), c.finish(warnings, c.moreWarnings, "warnings")
}

// finish puts a list in order, and says where it is not all there is.
func (c *checker) finish(list []*ManifestError, more int, what string) []*ManifestError {
	sortByPlace(list)
	if more > 0 {
		last := *list[len(list)-1]
		last.Msg, last.Hint = fmt.Sprintf("there are %d more %s", more, what), "mend these first"
		list = append(list, &last)
	}
	return list
}

func (c *checker) report(place func(pointer string) jsondoc.Position, pointer, rule, msg, hint string) {
	if c.covered[pointer] {
		return
	}
	c.cover(pointer)
	if len(c.errors) >= maxReports {
		c.moreErrors++
		return
	}
	at := place(pointer)
	c.errors = append(c.errors, &ManifestError{
		Rule: rule, File: c.file, Line: at.Line, Column: at.Column, Pointer: pointer, Msg: msg, Hint: hint,
	})
}

func (c *checker) warn(pointer, rule, msg, hint string) {
	if len(c.warnings) >= maxReports {
		c.moreWarnings++
		return
	}
	at := c.doc.KeyPosition(pointer)
	c.warnings = append(c.warnings, &ManifestError{
		Rule: rule, File: c.file, Line: at.Line, Column: at.Column, Pointer: pointer, Msg: msg, Hint: hint, Warning: true,
	})
}

// text gives a member that is a text.
func text(object map[string]any, name string) (string, bool) {
	s, ok := object[name].(string)
	return s, ok
}

// object gives a member that is an object; nil where it is none.
func object(parent map[string]any, name string) map[string]any {
	o, _ := parent[name].(map[string]any)
	return o
}

// list gives a member that is a list; nil where it is none.
func list(parent map[string]any, name string) []any {
	l, _ := parent[name].([]any)
	return l
}
