package runtimes_test

import (
	"net/http"
	"testing"

	"github.com/toolhost/toolhost/runtimes"
)

func TestCheckPlaceholders(t *testing.T) {
	const secret = "{{secret:weather.token}}"
	in := map[string]*runtimes.Request{
		"the URL":     {URL: "https://example.com/?key=%7B%7Bsecret%3Aweather.token%7D%7D"},
		"a header":    {URL: "https://example.com/", Header: http.Header{"Authorization": {"Bearer " + secret}}},
		"the body":    {URL: "https://example.com/", Body: []byte(secret)},
		"no part":     {URL: "https://example.com/secret", Body: []byte("{{name}}")},
		"no part yet": {URL: "https://example.com/"},
	}
	for _, c := range []struct {
		args, request string
		refused       bool
	}{
		{`{"text": "{{secret:weather.token}}"}`, "the URL", true},
		{`{"list": [{"text": "a {{SECRET:x}} b"}]}`, "a header", true},
		{`{"{{secret:x}}": 1}`, "the body", true},
		{`{"text": "\u007b\u007bsecret:x}}"}`, "the body", true},
		{`{"text": "{{secret:x}}"}`, "no part", false},
		{`{"text": "{{secret:x}}"}`, "no part yet", false},
		{`{"text": "Berlin"}`, "the URL", false},
		{``, "the body", false},
	} {
		if err := runtimes.CheckPlaceholders([]byte(c.args), in[c.request]); (err != nil) != c.refused {
			t.Errorf("arguments %s, a placeholder in %s: %v", c.args, c.request, err)
		}
	}
}
