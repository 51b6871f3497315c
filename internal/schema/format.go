package schema

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/xeipuuv/gojsonschema"
)

// formatNames are the formats that are asserted, in every dialect. Any other is
// an annotation, as JSON Schema allows.
var formatNames = []string{"date-time", "date", "time", "email", "uri", "uri-reference", "uuid", "ipv4", "ipv6", "hostname", "regex"}

// The formats that mark arguments as paths. What they name is checked when the
// call is granted its rights, so any text fits here.
const (
	formatFile = "file-path"
	formatDir  = "directory-path"
)

func isAsserted(name string) bool   { return slices.Contains(formatNames, name) }
func isPathFormat(name string) bool { return name == formatFile || name == formatDir }

// Both engines must say the same of a format, so gojsonschema gets the checks of
// the other. It keeps them for the whole process, hence the init.
func init() {
	for _, name := range []string{"date", "time", "date-time", "hostname", "email", "idn-email", "ipv4", "ipv6",
		"uri", "iri", "uri-reference", "iri-reference", "uri-template", "uuid", "regex", "json-pointer", "relative-json-pointer"} {
		gojsonschema.FormatCheckers.Remove(name)
	}
	for _, name := range formatNames {
		gojsonschema.FormatCheckers.Add(name, formatChecker{sync.OnceValue(func() func(any) error { return formatOf(name) })})
	}
}

// formatOf gets the check of one format out of the engine that has it.
func formatOf(name string) func(any) error {
	if name == "regex" {
		return checkRegexFormat
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(nil)
	c.AssertFormat()
	if err := c.AddResource("mem:///format", map[string]any{"format": name}); err != nil {
		panic(err) // names are constants
	}
	return c.MustCompile("mem:///format").Format.Validate
}

type formatChecker struct{ check func() func(any) error }

var _ gojsonschema.FormatChecker = formatChecker{}

// IsFormat says whether a value is of the format; what is no text always is.
func (f formatChecker) IsFormat(v any) bool { return f.check()(v) == nil }

// maxRegexValue is how long a text may be that must be a regular expression.
const maxRegexValue = 10_000

func checkRegexFormat(v any) error {
	s, ok := v.(string)
	if !ok {
		return nil
	}
	if len(s) > maxRegexValue {
		return errors.New("too long")
	}
	if _, err := compilePattern(s, maxPatternSize, nil); err != nil {
		return fmt.Errorf("no regular expression: %w", err)
	}
	return nil
}
