package calllog

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// secretValue stands in every text that must lose it.
const secretValue = "S3CR3T+val/ue=42"

func TestText(t *testing.T) {
	pem := "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc\ndef\n-----END RSA PRIVATE KEY-----"
	for text, want := range map[string]string{
		"":           "",
		"plain text": "plain text",
		"the value is " + secretValue + ", twice " + secretValue:     "the value is [redacted], twice [redacted]",
		"https://x.example/?k=" + url.QueryEscape(secretValue):       "https://x.example/?k=[redacted]",
		hex.EncodeToString([]byte(secretValue)):                      "[redacted]",
		"Authorization: Bearer abcdefgh12345":                        "Authorization: Bearer [redacted]",
		"curl -H 'authorization: basic dXNlcjpwYXNz'":                "curl -H 'authorization: basic [redacted]'",
		"basic information about tokens":                             "basic [redacted] about tokens",
		"AKIAIOSFODNN7EXAMPLE":                                       "[redacted]",
		"key ghp_0123456789abcdefghijABCDEFGHIJ0123 end":             "key [redacted] end",
		"xoxb-123456789012-abcdefghij":                               "[redacted]",
		"sk-proj-abcdefghijklmnopqrstuvwxyz":                         "[redacted]",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-DEF_1":             "[redacted]",
		"before\n" + pem + "\nafter":                                 "before\n[redacted]\nafter",
		"-----BEGIN PRIVATE KEY-----\nMIIEcut":                       "[redacted]",
		"postgres://user:pa55@db.example/x":                          "postgres://[redacted]@db.example/x",
		"https://example.com/a@b":                                    "https://example.com/a@b",
		"DB_PASSWORD=hunter2 next":                                   "DB_PASSWORD=[redacted] next",
		`{"password":"hunter2","n":1}`:                               `{"password":"[redacted]","n":1}`,
		`{\"apiKey\": \"hunter2\"}`:                                  `{\"apiKey\": \"[redacted]\"}`,
		"password: hunter2":                                          "password: [redacted]",
		"api_key = 'a b c'":                                          "api_key = '[redacted]'",
		"max_tokens: 100":                                            "max_tokens: 100",
		"password: null":                                             "password: null",
		"curl --password hunter2 -x":                                 "curl --password [redacted] -x",
		"run --api-key 'a b' --token-file f --max-tokens 100":        "run --api-key [redacted] --token-file f --max-tokens 100",
		"https://x.example/f?a=1&sig=abc%2Fdef&X-Amz-Signature=0a1b": "https://x.example/f?a=1&sig=[redacted]&X-Amz-Signature=[redacted]",
		"Cookie: a=b; session=hunter2\nHost: x":                      "Cookie: [redacted]\nHost: x",
		"<db><password>hunter2</password></db>":                      "<db><password>[redacted]</password></db>",
		"DB_PASS=hunter2 TESTS_PASS: 12":                             "DB_PASS=[redacted] TESTS_PASS: 12",
		"the token is the word":                                      "the token is the word",
		"https://hooks.slack.com/services/T0/B0/xyz":                 "https://hooks.slack.com/services/[redacted]",
	} {
		if got := NewRedactor([]string{secretValue, "abc"}).Text(text); got != want {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
}

// TestEncodedSecrets looks for a secret in base64 behind every number of bytes.
func TestEncodedSecrets(t *testing.T) {
	r := NewRedactor([]string{secretValue})
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
		for _, before := range []string{"", "u", "us", "use", "user:"} {
			for _, after := range []string{"", ":", "xy"} {
				text := encoding.EncodeToString([]byte(before + secretValue + after))
				got := r.Text(text)
				if !strings.Contains(got, Redacted) || len(strings.ReplaceAll(got, Redacted, "")) > len(before)*2+len(after)*2+6 {
					t.Errorf("%q %q: %s became %s", before, after, text, got)
				}
			}
		}
	}
}

func TestJSON(t *testing.T) {
	for name, c := range map[string]struct{ schema, in, want string }{
		"plain":         {"", `{"b":1.50,"a":[true,false,null,"x"],"a":2}`, `{"b":1.50,"a":[true,false,null,"x"],"a":2}`},
		"key":           {"", `{"user":"u","Api-Key":"k","deep":[{"client_secret":{"a":1}}]}`, `{"user":"u","Api-Key":"[redacted]","deep":[{"client_secret":"[redacted]"}]}`},
		"counts":        {"", `{"max_tokens":5,"tokens":[1,2],"password":"","key":"k"}`, `{"max_tokens":5,"tokens":[1,2],"password":"","key":"k"}`},
		"number":        {"", `{"pin":1234,"n":987654}`, `{"pin":"[redacted]","n":"[redacted]"}`},
		"secret in key": {"", `{"` + secretValue + `":1}`, `{"[redacted]":1}`},
		"pair":          {"", `{"headers":[{"name":"Authorization","value":"k"},{"value":{"a":[7]},"Key":"API_KEY"},{"name":"Accept","value":"*/*"}]}`, `{"headers":[{"name":"Authorization","value":"[redacted]"},{"value":"[redacted]","Key":"API_KEY"},{"name":"Accept","value":"*/*"}]}`},
		"empty pair":    {"", `{"name":"token","value":""}`, `{"name":"token","value":""}`},
		"flag":          {"", `{"args":["login","--password","hunter2","-v","x","--token=abc"]}`, `{"args":["login","--password","[redacted]","-v","x","--token=[redacted]"]}`},
		"last word":     {"", `{"db_pass":"x","userPwd":"y","compass":"n","bypass":"z"}`, `{"db_pass":"[redacted]","userPwd":"[redacted]","compass":"n","bypass":"z"}`},
		"text":          {"", `{"body":"Bearer abcdefgh12345"}`, `{"body":"Bearer [redacted]"}`},
		"write only":    {`{"properties":{"a":{"type":"string","writeOnly":true},"b":{}}}`, `{"a":"x","b":"y"}`, `{"a":"[redacted]","b":"y"}`},
		"format":        {`{"properties":{"a":{"items":{"format":"password"}}}}`, `{"a":["x","y"]}`, `{"a":["[redacted]","[redacted]"]}`},
		"reference":     {`{"$defs":{"s":{"writeOnly":true}},"properties":{"a":{"allOf":[{"$ref":"#/$defs/s"}]}}}`, `{"a":{"deep":1}}`, `{"a":"[redacted]"}`},
		"circle":        {`{"properties":{"a":{"$ref":"#"},"p":{"writeOnly":true}},"anyOf":[{"$ref":"#"}]}`, `{"a":{"a":{"p":"x"}}}`, `{"a":{"a":{"p":"[redacted]"}}}`},
		"additional":    {`{"additionalProperties":{"writeOnly":true}}`, `{"z":"x"}`, `{"z":"[redacted]"}`},
		"items":         {`{"properties":{"a":{"prefixItems":[{},{"writeOnly":true}]}}}`, `{"a":["x","y"]}`, `{"a":["x","[redacted]"]}`},
		"root":          {`{"writeOnly":true}`, `{"z":"x"}`, `"[redacted]"`},
	} {
		got, redacted, ok := NewRedactor([]string{secretValue, "987654"}).JSON([]byte(c.in), findMarks([]byte(c.schema)))
		if string(got) != c.want || !ok || redacted != (c.in != c.want) {
			t.Errorf("%s: %s %v %v, want %s", name, got, redacted, ok, c.want)
		}
	}
	if _, _, ok := NewRedactor(nil).JSON([]byte(`{"a":`), nil); ok {
		t.Error("half a value is taken for JSON")
	}
}

// TestBounded looks that no secret is left in part where a text is cut.
func TestBounded(t *testing.T) {
	r := NewRedactor([]string{secretValue})
	for at := 80; at < 120; at++ {
		text := strings.Repeat("é", at/2) + secretValue + strings.Repeat("z", 10_000)
		got, isCut := r.bounded(text, 100)
		if !isCut || len(got) > 100 || !utf8.ValidString(got) || strings.Contains(got, secretValue[:2]) {
			t.Errorf("%d: %q %v", at, got, isCut)
		}
	}
}

// FuzzRedact looks that whatever surrounds a secret, in JSON or in a text, it does not get
// through, and that JSON stays JSON.
func FuzzRedact(f *testing.F) {
	f.Add("a", "b")
	f.Add(`{"x":"`, `"}`)
	f.Add("-----BEGIN PRIVATE KEY-----", "https://a:b@c")
	f.Add(strings.Repeat("S3CR3T+", 3), "val/ue")
	r := NewRedactor([]string{secretValue})
	f.Fuzz(func(t *testing.T, before, after string) {
		text := before + secretValue + after
		if got := r.Text(text); strings.Contains(got, secretValue) {
			t.Errorf("%q became %q", text, got)
		}
		raw, err := json.Marshal(map[string]any{"v": text, text: 1})
		if err != nil {
			t.Fatal(err)
		}
		got, redacted, ok := r.JSON(raw, nil)
		if !ok || !redacted || !json.Valid(got) {
			t.Errorf("%q became %q", raw, got)
		}
		var back map[string]any
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatal(err)
		}
		for k, v := range back {
			if s, _ := v.(string); strings.Contains(k+s, secretValue) {
				t.Errorf("%q became %q", raw, got)
			}
		}
		if out, _, ok := r.JSON([]byte(before), nil); ok && !json.Valid(out) {
			t.Errorf("%q became %q", before, out)
		}
	})
}

// TestCutSecret: what was cut in the middle of a secret has no beginning of it.
func TestCutSecret(t *testing.T) {
	r := NewRedactor([]string{secretValue})
	for text, want := range map[string]string{
		"at " + secretValue[:9]:                   "at " + Redacted,
		"at " + url.QueryEscape(secretValue)[:12]: "at " + Redacted,
		"at " + secretValue[:3]:                   "at " + secretValue[:3],
		"at last":                                 "at last", "": "",
	} {
		if got := r.end(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// TestPairIsRemembered: a value that was taken out for its neighbour goes from the result, too.
func TestPairIsRemembered(t *testing.T) {
	_, hidden, redacted, _ := NewRedactor(nil).rewrite([]byte(`{"a":[{"value":["hunter2",77777],"name":"api_token"}],"args":["--secret","s3cr3t"]}`), nil)
	if !redacted || !slices.Equal(hidden, []string{"hunter2", "77777", "s3cr3t"}) {
		t.Errorf("%q", hidden)
	}
}
