package loader

import (
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/toolhost/toolhost/internal/lazyregexp"
)

// path checks a path of the manifest by its text, for a message that names the line.
// It is not what keeps a plugin inside its folder: every file is opened below an os.Root.
func (c *checker) path(pointer, p string) {
	if p == "" { // the schema's own
		return
	}
	name := field(pointer)
	hint := "write a path in the plugin folder"
	if base := path.Base(path.Clean("/" + p)); base != "/" {
		hint += ", such as " + strconv.Quote("./"+cut(base))
	}
	clean := path.Clean(p)
	switch {
	case strings.ContainsRune(p, 0):
		c.error(pointer, rulePath, name+" has a NUL character", "write a path in the plugin folder")
	case strings.Contains(p, "://"):
		c.error(pointer, rulePath, fmt.Sprintf("%s is an address, not a path: %q", name, cut(p)), hint)
	case strings.Contains(p, `\`):
		c.error(pointer, rulePath, fmt.Sprintf("%s has a backslash: %q", name, cut(p)),
			fmt.Sprintf("write it with /: %q", strings.ReplaceAll(cut(p), `\`, "/")))
	case path.IsAbs(p), drive.MatchString(p), strings.HasPrefix(p, "~/"):
		c.error(pointer, rulePath, fmt.Sprintf("%s must be relative to the plugin folder: %q", name, cut(p)), hint)
	case clean == "..", strings.HasPrefix(clean, "../"):
		c.error(pointer, rulePath, fmt.Sprintf("%s leaves the plugin folder: %q", name, cut(p)), hint)
	case clean == ".", strings.HasSuffix(p, "/"):
		c.error(pointer, rulePath, fmt.Sprintf("%s must name a file, not a folder: %q", name, cut(p)), "")
	}
}

var drive = lazyregexp.New(`^[A-Za-z]:`)

var duration = lazyregexp.New(`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`)

// timeout checks and reads the timeout of an object; 0 where there is none, or a wrong one.
func (c *checker) timeout(pointer string, object map[string]any) time.Duration {
	value, there := object["timeout"]
	if !there {
		return 0
	}
	most := short(c.maxTimeout)
	if n, ok := bare(value); ok {
		hint := `write it with its unit, such as "30s"`
		if f, err := strconv.ParseFloat(n, 64); err == nil && f > 0 && f < 1000 {
			hint = fmt.Sprintf("write %q for seconds", n+"s")
		} else if err == nil && f >= 1000 && f <= math.MaxInt32 {
			hint = fmt.Sprintf("write %q for milliseconds", n+"ms")
		}
		c.error(pointer, ruleTimeout, fmt.Sprintf("the timeout %s has no unit", cut(n)), hint)
		return 0
	}
	s, ok := value.(string)
	if !ok {
		return 0
	}
	d, err := time.ParseDuration(s)
	switch {
	case err == nil && d < 0:
		c.error(pointer, ruleTimeout, fmt.Sprintf("the timeout %q is negative", cut(s)), `write how long a call may take, such as "30s"`)
	case err == nil && d == 0:
		c.error(pointer, ruleTimeout, fmt.Sprintf("the timeout %q is zero: no call could end in time", cut(s)), `write how long a call may take, such as "30s"; or leave it out`)
	case duration.MatchString(s) && (err != nil || d > c.maxTimeout):
		c.error(pointer, ruleTimeout, fmt.Sprintf("the timeout %q is more than %s, the most that this host allows", cut(s), most), fmt.Sprintf("write %q or less", most))
	case !duration.MatchString(s):
		c.error(pointer, ruleTimeout, fmt.Sprintf("%q is no timeout", cut(s)), `write a number with ms, s or m, such as "500ms", "30s" or "2m"`)
	default:
		return d
	}
	return 0
}

// short writes a duration without its zero parts: 10m instead of 10m0s.
func short(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

var memory = lazyregexp.New(`^([0-9]{1,15})(B|KB|KiB|MB|MiB|GB|GiB)$`)

// memory checks and reads permissions.execution.memory; 0 where there is none, or a wrong one.
func (c *checker) memory(pointer string, object map[string]any) int64 {
	value, there := object["memory"]
	if !there {
		return 0
	}
	const hint = `write a number with KB, MB or GB, such as "256MB"`
	if n, ok := bare(value); ok {
		c.error(pointer, ruleMemory, fmt.Sprintf("the memory %s has no unit", cut(n)), hint)
		return 0
	}
	s, ok := value.(string)
	if !ok {
		return 0
	}
	parts := memory.FindStringSubmatch(s)
	if parts == nil {
		c.error(pointer, ruleMemory, fmt.Sprintf("%q is no size of memory", cut(s)), hint)
		return 0
	}
	// KB and KiB are both 1024 bytes, as limits of memory are meant everywhere.
	unit := int64(1)
	switch parts[2][0] {
	case 'K':
		unit = 1 << 10
	case 'M':
		unit = 1 << 20
	case 'G':
		unit = 1 << 30
	}
	n, err := strconv.ParseInt(parts[1], 10, 64)
	switch {
	case err != nil || n > math.MaxInt64/unit:
		c.error(pointer, ruleMemory, fmt.Sprintf("%q is more memory than there is", cut(s)), hint)
	case n == 0:
		c.error(pointer, ruleMemory, fmt.Sprintf("the memory %q is zero", cut(s)), hint)
	default:
		return n * unit
	}
	return 0
}
