package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if err := run(t.Context(), []string{"--plugins", "../commonjs", "--folder", "../node-modules"}, &stdout, &stderr); err != nil {
		t.Fatal(err)
	}
	want := `orders_open (host shop)
json_value (plugin example-commonjs)

orders_open {"customer": "Ada"} (failed: false)
2 open orders
17: two lamps
21: a desk

json_value {"path": "package.json", "pointer": "/dependencies"} (failed: false)
{
  "tiny-slug": "1.0.0"
}

json_value {"path": "../../go.mod"} (failed: true)
`
	got := stdout.String()
	if !strings.HasPrefix(got, want) || !strings.Contains(got[len(want):], "/path") {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if stderr.Len() > 0 {
		t.Errorf("stderr has\n%s", stderr.String())
	}
}

func TestRunWithoutPlugins(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if err := run(t.Context(), []string{"--plugins", "../nothing"}, &stdout, &stderr); err == nil {
		t.Error("a folder that is missing is no error")
	}
}
