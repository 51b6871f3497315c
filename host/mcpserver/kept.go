package mcpserver

import (
	"container/list"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolhost/toolhost/host"
)

const (
	// maxKept and maxKeptBytes bound the texts that are kept because they were cut; the
	// oldest goes. keptFor is how long one is kept.
	maxKept      = 256
	maxKeptBytes = 32 << 20
	keptFor      = 30 * time.Minute

	resultPrefix   = "toolhost://result/"
	resultTemplate = resultPrefix + "{callId}{?offset,length}"
)

// keptTexts holds the texts of results that were longer than a client is to get at once.
type keptTexts struct {
	mu    sync.Mutex
	byID  map[string]*list.Element // of keptText
	order *list.List               // the oldest first
	bytes int
}

type keptText struct {
	id, agent, text string
	until           time.Time
}

func newKeptTexts() *keptTexts {
	return &keptTexts{byID: map[string]*list.Element{}, order: list.New()}
}

// keep keeps a text for an agent, and gives its id.
func (k *keptTexts) keep(agent, text string) string {
	t := keptText{rand.Text(), agent, text, time.Now().Add(keptFor)}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.byID[t.id] = k.order.PushBack(t)
	k.bytes += len(text)
	for len(k.byID) > maxKept || k.bytes > maxKeptBytes && len(k.byID) > 1 {
		k.drop(k.order.Front())
	}
	k.expire()
	return t.id
}

// text gives a text that was kept for that agent.
func (k *keptTexts) text(agent, id string) (string, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.expire()
	e := k.byID[id]
	if e == nil || e.Value.(keptText).agent != agent {
		return "", false
	}
	return e.Value.(keptText).text, true
}

// expire drops what has been kept for long enough. k.mu is held.
func (k *keptTexts) expire() {
	for e := k.order.Front(); e != nil && time.Now().After(e.Value.(keptText).until); e = k.order.Front() {
		k.drop(e)
	}
}

func (k *keptTexts) drop(e *list.Element) {
	t := k.order.Remove(e).(keptText)
	delete(k.byID, t.id)
	k.bytes -= len(t.text)
}

// cutTexts cuts the text blocks of a result that are longer than Options.MaxText, and
// keeps them whole for their owner.
func (s *Server) cutTexts(owner string, result *host.Result) *host.Result {
	if s.maxText <= 0 {
		return result
	}
	var out []host.Content
	for i, c := range result.Content {
		text := c.Text()
		if len(text) <= s.maxText {
			continue
		}
		if out == nil {
			out = append(out, result.Content...)
		}
		shown := text[:boundary(text, s.maxText)]
		uri := resultPrefix + s.kept.keep(owner, text)
		out[i] = host.Text(fmt.Sprintf("%s\n[cut: %d of %d bytes shown; the MCP resource %s?offset=%d has the rest for %d minutes]",
			shown, len(shown), len(text), uri, len(shown), int(keptFor.Minutes())))
	}
	if out == nil {
		return result
	}
	changed := *result // the host's observers may look at the first one still
	changed.Content = out
	return &changed
}

// owner says whose a kept text is. Requests without a session share theirs: who does not
// know the id, which is as hard to guess as a password, gets nothing.
func owner(ctx context.Context, agentID, resultType string) string {
	_, stdio := ctx.Value(connKey{}).(*lineConn)
	if !stdio && resultType != "" {
		return ""
	}
	return agentID
}

// boundary gives the last place at or before n where a character begins.
func boundary(text string, n int) int {
	if n >= len(text) {
		return len(text)
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// readKept answers resources/read.
func (s *Server) readKept(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	u, err := url.Parse(req.Params.URI)
	if err != nil || !strings.HasPrefix(req.Params.URI, resultPrefix) {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	text, there := s.kept.text(owner(ctx, req.Session.ID(), resultType(req)), strings.TrimPrefix(u.Path, "/"))
	if !there {
		return nil, mcp.ResourceNotFoundError(req.Params.URI)
	}
	offset, err := number(u.Query(), "offset", 0)
	if err != nil {
		return nil, err
	}
	length, err := number(u.Query(), "length", s.maxText)
	if err != nil {
		return nil, err
	}
	from := boundary(text, offset)
	to := boundary(text, from+min(length, s.maxText, len(text)-from))
	if to == from && from < len(text) && length > 0 { // at least one character
		_, size := utf8.DecodeRuneInString(text[from:])
		to = from + size
	}
	base := resultPrefix + strings.TrimPrefix(u.Path, "/")
	result := &mcp.ReadResourceResult{
		Cacheable: mcp.Cacheable{CacheScope: "private"},
		Contents:  []*mcp.ResourceContents{{URI: req.Params.URI, MIMEType: "text/plain", Text: text[from:to]}},
	}
	if to < len(text) {
		next := fmt.Sprintf("%s?offset=%d", base, to)
		result.Contents = append(result.Contents, &mcp.ResourceContents{
			URI: next, MIMEType: "text/plain",
			Text: fmt.Sprintf("[bytes %d to %d of %d; read on at %s]", from, to, len(text), next),
		})
	}
	return result, nil
}

// emptyPart is a result whose text is empty, which the SDK would leave out: clients would find
// contents that are neither text nor bytes.
type emptyPart struct {
	*mcp.ReadResourceResult
	resultType string
}

// MarshalJSON implements [json.Marshaler].
func (r emptyPart) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(r.ReadResourceResult)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	if contents, ok := fields["contents"].([]any); ok {
		if first, ok := contents[0].(map[string]any); ok {
			first["text"] = ""
		}
	}
	if r.resultType != "" { // the SDK sets it in results of its own type only
		fields["resultType"] = r.resultType
	}
	return json.Marshal(fields)
}

// number reads a parameter of a resource's address.
func number(query url.Values, name string, fallback int) (int, error) {
	text := query.Get(name)
	if text == "" {
		return fallback, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf("%s must be a count of bytes, not %q", name, cut(text, 50))}
	}
	return n, nil
}

// offerKept lets clients know that texts can be read on.
func (s *Server) offerKept() {
	s.mcp.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "result", Title: "Rest of a result", URITemplate: resultTemplate, MIMEType: "text/plain",
		Description: "A result of a tool that was longer than its client is given at once. The note where it was cut has the address; offset and length count bytes.",
	}, s.readKept)
}
