package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"testing/synctest"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/host"
)

// A long text is cut, and can be read to its end, by nobody but who asked for it.
func TestMaxText(t *testing.T) {
	eras(t, func(t *testing.T, stateless bool) {
		whole := strings.Repeat("aäß€😀", 1000)
		h := newHost(t, toolNamed("long", func(context.Context, *host.Call) (*host.Result, error) {
			return &host.Result{Content: []host.Content{host.Text("short"), host.Text(whole)}}, nil
		}))
		s := New(h, &Options{MaxText: 1001})
		defer s.Close()
		client := connectSDK(t, s, stateless)
		templates, err := client.ListResourceTemplates(t.Context(), nil)
		if err != nil || len(templates.ResourceTemplates) != 1 || templates.ResourceTemplates[0].URITemplate != resultTemplate {
			t.Fatalf("templates: %+v, %v", templates, err)
		}
		result, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "long"})
		if err != nil {
			t.Fatal(err)
		}
		if first := result.Content[0].(*mcp.TextContent).Text; first != "short" {
			t.Errorf("a short text became %q", first)
		}
		text := result.Content[1].(*mcp.TextContent).Text
		found := regexp.MustCompile(`(?s)^(.*)\n\[cut: (\d+) of (\d+) bytes shown; the MCP resource (\S+)\?offset=(\d+) has the rest`).FindStringSubmatch(text)
		if found == nil {
			t.Fatalf("no note: %.2000q", text)
		}
		if got := fmt.Sprint(len(found[1]), len(whole)); got != found[2]+" "+found[3] || len(found[1]) > 1001 || !utf8.ValidString(text) {
			t.Errorf("the note says %s of %s bytes; they are %s", found[2], found[3], got)
		}
		got, uri := found[1], found[4]+"?offset="+found[5]
		for range 100 {
			read, err := client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
			if err != nil {
				t.Fatal(err)
			}
			got += read.Contents[0].Text
			if len(read.Contents) == 1 {
				break
			}
			uri = read.Contents[1].URI
		}
		if got != whole {
			t.Errorf("%d bytes read, not the %d that there are", len(got), len(whole))
		}
		for query, want := range map[string]string{
			"?length=2&offset=0": "a", "?offset=1&length=1": "ä", "?offset=99999999": "", "?offset=2&length=2": "ä", "?length=0": "",
		} {
			read, err := client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: found[4] + query})
			if err != nil || read.Contents[0].Text != want {
				t.Errorf("%s: %v, %v; want %q", query, read, err, want)
			}
		}
		for _, uri := range []string{found[4] + "?offset=-1", found[4] + "?length=x", resultPrefix + "nothing", resultPrefix, "file:///etc/passwd", resultPrefix + "%zz"} {
			if read, err := client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil {
				t.Errorf("%s gives %+v", uri, read.Contents)
			}
		}
		other := connectSDK(t, s, stateless)
		if read, err := other.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: found[4]}); err == nil {
			t.Errorf("another client reads %.50q", read.Contents[0].Text)
		}
	})
}

// A part without a character is a text all the same.
func TestEmptyPart(t *testing.T) {
	eras(t, func(t *testing.T, stateless bool) {
		w := serveHTTP(t, newHost(t, kit()...), &Options{MaxText: 1000}, nil)
		session := ""
		if !stateless {
			session = w.session(t)
		}
		_, body, _ := w.ask(t, w.call(t.Context(), stateless, session, "1", "value", `{"v":"`+strings.Repeat("x", 3000)+`"}`))
		uri := regexp.MustCompile(`toolhost://result/[A-Z0-9]+`).FindString(body)
		for query, notes := range map[string]int{"?offset=3002": 0, "?offset=99999999": 0, "?length=0": 1} {
			ask := fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":%q%s}}`, uri+query, metaOf(stateless))
			header := []string{headerSession, session, headerRevision, "2025-11-25"}
			if stateless {
				header = []string{headerRevision, statelessRevision, headerMethod, "resources/read", headerName, uri + query}
			}
			_, body, _ := w.ask(t, w.request(t.Context(), "POST", ask, header...))
			_, data, _ := strings.Cut(body, "data: ")
			var answer struct {
				Result struct {
					ResultType string
					Contents   []struct{ Text *string }
				}
			}
			if err := json.Unmarshal([]byte(data), &answer); err != nil {
				t.Fatalf("%s: %v in %s", query, err, body)
			}
			contents := answer.Result.Contents
			if len(contents) != 1+notes || contents[0].Text == nil || *contents[0].Text != "" || stateless != (answer.Result.ResultType == completeResult) {
				t.Errorf("%s: %s", query, data)
			}
		}
	})
}

func TestNothingIsCutByDefault(t *testing.T) {
	s := New(newHost(t, kit()...), nil)
	defer s.Close()
	client := connectSDK(t, s, false)
	long := strings.Repeat("x", 900_000)
	result, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "value", Arguments: map[string]any{"v": long}})
	if err != nil {
		t.Fatal(err)
	}
	if raw, _ := json.Marshal(long); result.Content[0].(*mcp.TextContent).Text != string(raw) {
		t.Error("a text was changed")
	}
	if caps := client.InitializeResult().Capabilities; caps.Resources != nil {
		t.Error("resources are offered without need")
	}
}

func TestKeptTextsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKeptTexts()
		first := k.keep("a", "first")
		for range 10 {
			k.keep("a", strings.Repeat("x", maxKeptBytes/4))
		}
		if _, there := k.text("a", first); there || k.bytes > maxKeptBytes {
			t.Errorf("%d bytes are kept, the first text among them: %v", k.bytes, there)
		}
		for range 2 * maxKept {
			k.keep("b", "x")
		}
		if len(k.byID) != maxKept || k.order.Len() != maxKept {
			t.Errorf("%d texts are kept", len(k.byID))
		}
		last := k.keep("b", "last")
		if _, there := k.text("a", last); there {
			t.Error("another agent gets it")
		}
		time.Sleep(keptFor)
		if text, _ := k.text("b", last); text != "last" {
			t.Error("it is gone too early")
		}
		time.Sleep(time.Nanosecond)
		if _, there := k.text("b", last); there || len(k.byID) != 0 || k.bytes != 0 {
			t.Errorf("%d texts of %d bytes are kept for ever", len(k.byID), k.bytes)
		}
	})
}
