package node_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/runtimes/node"
)

func TestRefuseRisky(t *testing.T) {
	for name, tt := range map[string]struct{ code, want string }{
		"plain":            {handler("return params.text.repeat(3)"), ""},
		"names":            {handler("return globalThis['Ar' + 'ray'].name"), ""},
		"direct eval":      {handler("return eval(params.text)"), "evaluates texts"},
		"eval by a name":   {handler("const e = eval; return e(params.text)"), "evaluates texts"},
		"function of text": {handler("return new Function(params.text)()"), "makes functions"},
	} {
		t.Run(name, func(t *testing.T) {
			spec, _ := write(t, map[string]string{"tool.js": tt.code})
			instance, err := node.New(&node.Options{RefuseRisky: true}).Open(t.Context(), spec)
			if err == nil {
				if err := instance.Close(t.Context()); err != nil {
					t.Error(err)
				}
			}
			var risk *node.RiskError
			switch {
			case tt.want == "" && err != nil, tt.want != "" && !errors.As(err, &risk):
				t.Errorf("got %v", err)
			case risk != nil && (len(risk.Hazards) != 1 || !strings.Contains(risk.Error(), tt.want)):
				t.Errorf("got %q", risk)
			}
		})
	}
}

// A plugin that is refused for its risks has not run: its modules could be the attack.
func TestRefuseRiskyRunsNothing(t *testing.T) {
	spec, log := write(t, map[string]string{"tool.js": "console.log('evaluated');\n" + handler("return eval('1')")})
	_, err := node.New(&node.Options{RefuseRisky: true}).Open(t.Context(), spec)
	var risk *node.RiskError
	if !errors.As(err, &risk) || strings.Contains(log.String(), "evaluated") {
		t.Errorf("got %v, log %s", err, log)
	}
}
