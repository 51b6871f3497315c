package permissions

import (
	"slices"
	"testing"
)

// What a grant names is enough to make it anew elsewhere.
func TestRegrant(t *testing.T) {
	top := lay(t, map[string]string{"a.txt": "a", "b.txt": "b", "link.txt": "-> a.txt", "dir/c.txt": "c", "plugin/own.txt": "own"})
	policy := &Policy{Root: top + "/plugin", FS: FSPolicy{Read: Access{Parameter: true}}}
	first := grant(t, policy, top, Argument{Value: "link.txt", Marked: true}, Argument{Value: "dir", Marked: true})
	if got := first.Named(); !slices.Equal(got, []string{"a.txt", "dir", "link.txt"}) {
		t.Fatalf("got %q", got)
	}
	again := policy.Regrant(first.Folder(), first.Named())
	defer again.Revoke()
	for _, name := range []string{"a.txt", "b.txt", "link.txt", "dir/c.txt", "dir/d.txt", "plugin/own.txt", "../x", "/etc/hostname"} {
		one, oneErr := readText(first.FS(), name)
		two, twoErr := readText(again.FS(), name)
		if one != two || outcome(oneErr) != outcome(twoErr) {
			t.Errorf("%s: %q, %v became %q, %v", name, one, oneErr, two, twoErr)
		}
	}
	if got := (*Grant)(nil).Named(); got != nil {
		t.Errorf("no grant names %q", got)
	}
	if _, err := readText((*Policy)(nil).Regrant(top, []string{"."}).FS(), "a.txt"); err == nil {
		t.Error("no policy grants a file")
	}
}
