package mcpserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// directParams are params of calls that the server answers itself, without their last brace.
var directParams = []string{
	`{"name":"echo","arguments":{"a":"<é\u2028\ud83d\ude00>","n":12345678901234567890}`,
	`{"name":"echo"`,
	`{"name":"echo","arguments":{}`,
	`{"name":"echo","arguments":null`,
	`{"name":"ech\u006f","arguments":{"a":{"b":[1,{"c":null}]}}`,
	`{"name":"echo","arguments":[1]`,
	`{"name":"echo","arguments":{"a":1},"name":"fail"`,
	`{"name":"fail"`,
	`{"name":"panic"`,
	`{"name":"nothing"`,
	`{"name":"agent"`,
	`{"name":"structured"`,
	`{"name":"malformed"`,
	`{"name":"unsound"`,
	`{"name":"value","arguments":{"v":{"content":[{"type":"image","data":"AA==","mimeType":"image/png"}],"isError":true,"_meta":{"x":1}}}`,
	`{"name":"tell"`,
	`{"name":"talk","arguments":{"steps":2}`,
	`{"na\u006de":"echo","argum\u0065nts":{"a":1}`,
	`{"name":"echo","arguments":{"a":1,"a":2}`,
	`{"name":"echo","arguments":{"a":1},"arguments":{"b":"\u0000"}`,
	`{"name":"echo","arguments":{"\ud800":"\udfff"}`,
	`{"name":"echo","arguments":{"\ud800":1,"\ud801":2}`,
	`{"name":"echo","arguments":{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`,
	`{"name":"echo","arguments":"x"`,
	"{ \"name\" :\t\"echo\" , \"arguments\" : { \"a\" : -0 } ",
	`{"name":"ecco"`,
	`{"name":""`,
}

// sdkMeta is a member of _meta that leaves a call to the SDK, and changes nothing else.
const sdkMeta = `"io.modelcontextprotocol/x":1`

func plainRequest(t *testing.T, params string) {
	t.Helper()
	id, err := jsonrpc.MakeID("x")
	if err != nil {
		t.Fatal(err)
	}
	if parseCall(&jsonrpc.Request{ID: id, Method: methodCall, Params: json.RawMessage(params)}) == nil {
		t.Errorf("the call is left to the SDK: %s", params)
	}
}

// answers gives what a body or a line says, without what differs from call to call.
func answers(t *testing.T, text string) (list []map[string]any) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "data: ")
		if !strings.HasPrefix(line, "{") {
			continue
		}
		m := sound(t, line+"\n")
		delete(m, "id")
		list = append(list, m)
	}
	return list
}

// A call is answered in the same way whoever answers it.
func TestDirectCalls(t *testing.T) {
	t.Run("stdio", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			c := newClient(t, newHost(t, kit()...), nil)
			c.send(initialize)
			c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			c.take()
			ask := func(params string) []map[string]any {
				c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%s}`, params))
				return answers(t, strings.Join(waitLines(c), ""))
			}
			for _, params := range directParams {
				for _, meta := range []string{"", `"progressToken":"p"`} {
					plainRequest(t, params+`,"_meta":{`+meta+`}}`)
					ours, theirs := ask(params+`,"_meta":{`+meta+`}}`), ask(params+`,"_meta":{`+strings.TrimPrefix(meta+","+sdkMeta, ",")+`}}`)
					if !reflect.DeepEqual(ours, theirs) {
						t.Errorf("%s %s:\n%v\n%v", params, meta, ours, theirs)
					}
				}
			}
		})
	})
	eras(t, func(t *testing.T, stateless bool) {
		w := serveHTTP(t, newHost(t, kit()...), nil, nil)
		session, reserved := "", ""
		if stateless {
			reserved = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"roots":{}},`
		} else {
			session = w.session(t)
		}
		type answer struct {
			status         int
			content, cache string
			messages       []map[string]any
		}
		ask := func(params, meta string) answer {
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%s,"_meta":{%s}}}`, params, meta)
			r := w.request(t.Context(), "POST", body, headerSession, session, headerRevision, "2025-11-25")
			if stateless {
				var named struct{ Name string }
				if err := json.Unmarshal([]byte(params+"}"), &named); err != nil {
					t.Fatal(err)
				}
				r = w.request(t.Context(), "POST", body, headerRevision, statelessRevision, headerMethod, methodCall, headerName, named.Name)
			}
			status, text, header := w.ask(t, r)
			return answer{status, header.Get("Content-Type"), header.Get("Cache-Control"), answers(t, text)}
		}
		for _, params := range directParams {
			for _, token := range []string{`"x":0`, `"progressToken":7`} {
				ours, theirs := ask(params, reserved+token), ask(params, reserved+token+","+sdkMeta)
				if !reflect.DeepEqual(ours, theirs) {
					t.Errorf("%s %s:\n%v\n%v", params, token, ours, theirs)
				}
			}
		}
		if stateless {
			r := w.request(t.Context(), "POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":7}}}`,
				headerRevision, statelessRevision, headerMethod, methodCall, headerName, "echo")
			if status, body, _ := w.ask(t, r); status != http.StatusBadRequest {
				t.Errorf("capabilities that are none: %d %s", status, body)
			}
		}
	})
}

// waitLines gives the lines of a call that takes some time.
func waitLines(c *client) (lines []string) {
	for {
		lines = append(lines, c.take()...)
		for _, line := range lines {
			if strings.Contains(line, `"result"`) || strings.Contains(line, `"error"`) {
				return lines
			}
		}
	}
}

// What a call allocates on its way is bounded: reading it, making it and writing its answer.
func TestDirectCallAllocates(t *testing.T) {
	s := New(newHost(t, kit()...), nil)
	defer s.Close()
	line := []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"twenty bytes of text"}}}`)
	const most = 110 // 83 measured, 90 under the race detector
	got := testing.AllocsPerRun(50, func() {
		msg, id, _ := parseLine(line)
		c := parseCall(msg.(*jsonrpc.Request))
		if answer := string(s.answer(t.Context(), id, c)); !strings.Contains(answer, "twenty bytes of text") {
			t.Fatal(answer)
		}
	})
	if got > most {
		t.Errorf("%v allocations, at most %d are expected", got, most)
	}
}
