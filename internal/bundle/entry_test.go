package bundle

import (
	"bytes"
	"crypto/sha256"
	"reflect"
	"testing"
)

func someEntry() *kept {
	return &kept{
		Inputs:  []Input{{Path: "a.js", Sum: sha256.Sum256([]byte("a"))}, {Path: "日本/b.js"}},
		Sights:  []sight{{".", stamp{1, 2, 3, 4, 5}}, {"日本/b.js", stamp{Inode: 1 << 63}}},
		Answers: []told{{question{"a.js", false}, "file"}, {question{"", true}, ""}},
		Scripts: []keptScript{{Name: "a", Code: "one\x00two", Async: true, MapText: []byte("{}")}, {Name: "", MapPack: bytes.Repeat([]byte{7}, 300)}},
	}
}

func TestEntryRoundTrip(t *testing.T) {
	for _, k := range []*kept{someEntry(), {}} {
		var got kept
		if err := got.decode(k.encode()); err != nil || !reflect.DeepEqual(&got, k) {
			t.Errorf("%+v, %v; want %+v", got, err, k)
		}
	}
	whole := someEntry().encode()
	for n := range whole {
		var got kept
		if got.decode(whole[:n]) == nil {
			t.Errorf("the first %d of %d bytes count as an entry", n, len(whole))
		}
	}
	if (&kept{}).decode(append(whole, 0)) == nil {
		t.Error("an entry with something behind it counts as one")
	}
}

// FuzzEntry: no bytes panic or take memory that they do not have, and what is an entry is
// written as it was read.
func FuzzEntry(f *testing.F) {
	f.Add(someEntry().encode())
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		var k, again kept
		if k.decode(data) != nil {
			return
		}
		if err := again.decode(k.encode()); err != nil || !reflect.DeepEqual(k, again) {
			t.Errorf("%+v, %v; want %+v", again, err, k)
		}
	})
}
