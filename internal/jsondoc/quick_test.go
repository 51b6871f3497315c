package jsondoc

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// FuzzQuick checks that a good text is read the same in both ways: value, places, duplicates.
func FuzzQuick(f *testing.F) {
	for _, text := range []string{
		`null`, ` [ ] `, `{ }`, `{"a":1,"b":[true,false,null,-1.5e+3,"x"],"a":{"c":{}}}`, "\t[\r\n1 , 2 ]\n", `{"a/b~c":{"d\"e":"\ud83d\ude00\ud800\\"}}`,
		`{"":{"":[[],[{}]]},"":0}`, `"\u0041\n"`, `0`, `-0.0E-7`, "{\"\u00e4\u2028\":\"\u00e4\"}", strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth),
		`{` + strings.Repeat(`"a":1,`, fewMembers) + `"b":2}`, `{"0":[1],"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":10,"k":11,"l":12,"m":13,"n":14,"o":15,"p":16,"a":17}`,
		strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1), strings.Repeat(`{"a":0,"a":`, MaxDepth+2) + "1" + strings.Repeat("}", MaxDepth+2),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !json.Valid([]byte(text)) || invalidUTF8([]byte(text)) >= 0 {
			return
		}
		one, other := &Document{src: []byte(text), root: &entry{key: -1}}, &Document{src: []byte(text), root: &entry{key: -1}}
		err := other.read()
		if one.readQuick() != (err == nil) {
			t.Fatalf("one of the two refuses %q: %v", text, err)
		}
		if err == nil && !reflect.DeepEqual(one, other) {
			t.Fatalf("%q is read as %#v and as %#v", text, one, other)
		}
		value, whole := Value([]byte(text))
		if whole != (err == nil) || whole && !reflect.DeepEqual(value, one.Value) {
			t.Fatalf("the value of %q is %#v, %v", text, value, whole)
		}
		if object, ok := value.(map[string]any); ok && whole {
			var names []string
			for name, text := range Members([]byte(text)) {
				names = append(names, name)
				if part, _ := Value(text); !json.Valid(text) || len(one.Duplicates) == 0 && !reflect.DeepEqual(part, object[name]) {
					t.Fatalf("the member %q is %q", name, text)
				}
			}
			if len(one.Duplicates) == 0 && !slices.Equal(names, one.Keys("")) {
				t.Fatalf("the members of %q are %q", text, names)
			}
		}
	})
}
