package host_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/host"
)

func TestContentFromJSON(t *testing.T) {
	for _, c := range []struct{ raw, kind, text, wrong string }{
		{`{"type":"text","text":"zażółć\u2028"}`, "text", "zażółć\u2028", ""},
		{` {"text": "x", "type": "text", "_meta": {"a": 1}} `, "text", "x", ""},
		{`{"type":"image","data":"AAEC","mimeType":"image/png"}`, "image", "", ""},
		{`{"type":"resource_link","uri":"file:///a","name":"a"}`, "resource_link", "", ""},
		{`{"type":"image","data":"AAEC"}`, "", "", "mimeType is missing"},
		{`{"type":"text","text":1}`, "", "", "text is"},
		{`{"type":"other"}`, "", "", "unknown type"},
		{`"text"`, "", "", "not an object"},
	} {
		var got host.Content
		err := json.Unmarshal([]byte(c.raw), &got)
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: got %v, want %q", c.raw, err, c.wrong)
			}
			continue
		}
		if err != nil || got.Type() != c.kind || got.Text() != c.text {
			t.Errorf("%s: got %s %q, %v", c.raw, got.Type(), got.Text(), err)
		}
		again, err := json.Marshal(got)
		var want, have any
		if err != nil || json.Unmarshal([]byte(c.raw), &want) != nil || json.Unmarshal(again, &have) != nil {
			t.Errorf("%s: %s, %v", c.raw, again, err)
		}
	}
	var c host.Content
	if err := c.UnmarshalJSON([]byte(`{"type":"text","text":"a\ud83d b\ud83d\ude00"}`)); err != nil || c.Text() != "a\ufffd b😀" {
		t.Errorf("half a pair gives %q, %v", c.Text(), err)
	} else if raw, _ := json.Marshal(c); strings.Contains(string(raw), `\ud83d b`) {
		t.Errorf("half a pair goes out: %s", raw)
	}
	if err := c.UnmarshalJSON([]byte(`{"type"`)); err == nil {
		t.Error("half a block was taken")
	}
}
