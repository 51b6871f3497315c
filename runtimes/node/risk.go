package node

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolhost/toolhost/internal/lazyregexp"
)

// RiskError says that a plugin was not opened since its code may do what nothing could
// stop in this process. A runtime in a process of its own may open it; [Options].RefuseRisky
// has it given.
type RiskError struct {
	Plugin  string
	Hazards []string // what the code may do, each as a short phrase, sorted
}

func (e *RiskError) Error() string {
	return fmt.Sprintf("the code of plugin %q %s, which cannot be held inside this process", e.Plugin, strings.Join(e.Hazards, " and "))
}

// hazards are what code shows that this process could not hold. The guards are installed
// by the text of a plugin's code, and limits of operators are written into it; neither
// reaches a text that is made at run time and evaluated where it stands.
var hazards = []struct {
	word string // has to be there, and is found sooner
	use  *lazyregexp.Regexp
	what string
}{
	{"eval", lazyregexp.New(`\beval\b`), "evaluates texts as code (eval)"},
	{"Function", lazyregexp.New(`\bFunction\s*\(`), "makes functions of texts (Function)"},
}

// risks gives the hazards in the code of a plugin's modules.
func risks(code string) []string {
	var found []string
	for _, h := range hazards {
		if strings.Contains(code, h.word) && h.use.MatchString(code) {
			found = append(found, h.what)
		}
	}
	slices.Sort(found)
	return found
}
