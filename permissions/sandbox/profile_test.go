package sandbox

import (
	"os"
	"path/filepath"
	"testing"
)

// The profiles for macOS are compared as text: there is no such system to try them on.
func TestProfile(t *testing.T) {
	for name, rules := range map[string]*Rules{
		"zero": {},
		"all": {
			System: true, Read: []string{"/r/a b"}, List: []string{"/l"}, Write: []string{"/w"}, Private: []string{"/p"}, Exec: []string{"/x"}, Sockets: "/s",
			exact: exact{
				files: []string{`/f/"quoted".txt`}, trees: []string{"/t"}, folders: []string{`/d/back\slash`}, unlisted: []string{"/u"},
				writable: []string{"/f/w.txt"}, run: []string{"/plugin"},
			},
		},
	} {
		temp := ""
		if name == "all" {
			temp = "/private/tmp/toolhost-tmp-1"
		}
		got := profile("/opt/bin/tool", temp, rules)
		file := filepath.Join("testdata", "profile", name+".sb")
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: got\n%s", file, got)
		}
	}
}
