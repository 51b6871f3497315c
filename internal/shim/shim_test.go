package shim

import (
	"reflect"
	"testing"
)

func TestEncode(t *testing.T) {
	p := &Policy{
		Path: "/bin/true", Argv: []string{"true", ""}, Env: []string{"A=b\n\x00", "ü=ö"}, Keep: 3, Ruleset: -1, Status: 4, Host: 5, User: 1000, Group: 100, Socket: -1, Port: 3128,
		Hidden: []string{"/a"}, Empty: "/b", Filter: "\x00\xff", Limits: []Limit{{1, 2}, {3, 1 << 63}}, OwnProc: 12, Probe: true,
	}
	got, err := Decode(p.Encode())
	if err != nil || !reflect.DeepEqual(got, p) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add((&Policy{Path: "/bin/true", Argv: []string{"true"}}).Encode())
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Decode(text)
		if err != nil {
			return
		}
		again, err := Decode(p.Encode())
		if err != nil || !reflect.DeepEqual(again, p) {
			t.Errorf("%+v became %+v, %v", p, again, err)
		}
	})
}
