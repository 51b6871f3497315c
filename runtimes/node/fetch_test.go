package node_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/fetch"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/node"
)

const secretValue = "s3cret-value-9"

// online opens a plugin whose only file is a handler, and which may reach hosts. Its secret
// setting test.key is secretValue.
func online(t *testing.T, source string, timeout time.Duration, hosts ...string) *plugin {
	t.Helper()
	client := fetch.New(nil)
	t.Cleanup(client.Close)
	spec, log := write(t, map[string]string{"run.mjs": source})
	policy := permissions.HostPolicy{Static: hosts}
	spec.Policy.Fetch, spec.Policy.Net = policy, policy
	network := client.For(func(_ context.Context, key string) (string, bool, error) { return secretValue, key == "test.key", nil })
	spec.Services = runtimes.Services{Network: network}.Guard(spec.Policy)
	return serve(t, node.New(nil), spec, log, map[string]time.Duration{"run": timeout})
}

// site answers as a site for tests does. It gives its URL and its host.
func site(t *testing.T) (base, host string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"method": r.Method, "path": r.RequestURI, "type": r.Header.Get("Content-Type"), "x": r.Header.Get("X-Test"), "agent": r.UserAgent(), "auth": r.Header.Get("Authorization"), "body": string(body), "host": r.Host})
	})
	mux.HandleFunc("/gzip", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, strings.Repeat("zip ", 1000))
		_ = z.Close()
	})
	mux.HandleFunc("/status/404", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such thing", 404) })
	mux.HandleFunc("/empty", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) })
	mux.HandleFunc("/redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/echo", http.StatusFound) })
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
	})
	mux.HandleFunc("/cookies", func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Set-Cookie"] = []string{"a=1", "b=2"}
		w.Header()["X-Latin"] = []string{"\xe9"}
	})
	mux.HandleFunc("/drip", func(w http.ResponseWriter, r *http.Request) { // never ends
		for i := 0; r.Context().Err() == nil; i++ {
			if _, err := fmt.Fprintf(w, "%d\n", i); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			if i == 2 {
				<-r.Context().Done()
			}
		}
	})
	mux.HandleFunc("/hang", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/broken", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "half")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	mux.HandleFunc("/big", func(w http.ResponseWriter, _ *http.Request) {
		line := strings.Repeat("x", 1<<16)
		for range 1100 {
			if _, err := io.WriteString(w, line); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/megabytes", func(w http.ResponseWriter, _ *http.Request) {
		for range 80 {
			_, _ = io.WriteString(w, strings.Repeat("0123456789abcdef", 4096))
		}
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL, strings.TrimPrefix(s.URL, "http://")
}

func TestFetch(t *testing.T) {
	base, host := site(t)
	for name, c := range map[string]struct{ code, want string }{
		"get":           {`const r = await fetch(base + '/echo'); return [r.status, r.ok, r.type, r.url === base + '/echo', r.headers.get('content-type'), (await r.json()).method]`, `[200,true,"basic",true,"application/json","GET"]`},
		"ctx.fetch":     {`return (await (await ctx.fetch(base + '/echo?a=1#b', { method: 'post', body: 'hé', headers: { 'X-Test': 'é' } })).json())`, `{"agent":"toolhost","auth":"","body":"hé","host":"HOST","method":"POST","path":"/echo?a=1","type":"text/plain;charset=UTF-8","x":"�"}`},
		"URL, Request":  {`return [(await fetch(new URL('/echo', base))).status, await (await fetch(new Request(base + '/echo', { method: 'PUT', body: new URLSearchParams({ q: '1 2' }) }))).json().then((j) => [j.method, j.type, j.body])]`, `[200,["PUT","application/x-www-form-urlencoded;charset=UTF-8","q=1+2"]]`},
		"stream up":     {`const body = new ReadableStream({ start(c) { c.enqueue(Buffer.from('one ')); c.enqueue(Buffer.from('two')); c.close(); } }); return (await (await fetch(base + '/echo', { method: 'POST', body, duplex: 'half' })).json()).body`, `one two`},
		"form":          {`const f = new FormData(); f.append('a', '1'); f.append('f', new File(['data'], 'x.txt')); const j = await (await fetch(base + '/echo', { method: 'POST', body: f })).json(); return [j.type.split(';')[0], j.body.includes('filename="x.txt"')]`, `["multipart/form-data",true]`},
		"gzip":          {`const r = await fetch(base + '/gzip'); return [(await r.text()).length, r.headers.get('content-encoding')]`, `[4000,"gzip"]`},
		"404":           {`const r = await fetch(base + '/status/404'); return [r.status, r.ok, r.statusText, await r.text()]`, `[404,false,"Not Found","no such thing\n"]`},
		"204":           {`const r = await fetch(base + '/empty'); return [r.status, r.body, await r.text()]`, `[204,null,""]`},
		"HEAD":          {`const r = await fetch(base + '/echo', { method: 'HEAD' }); return [r.status, r.body, await r.text()]`, `[200,null,""]`},
		"redirect":      {`const r = await fetch(base + '/redirect'); return [r.redirected, r.url === base + '/echo', r.status]`, `[true,true,200]`},
		"manual":        {`const r = await fetch(base + '/redirect', { redirect: 'manual' }); return [r.status, r.headers.get('location'), r.redirected]`, `[302,"/echo",false]`},
		"error":         {`return await fetch(base + '/redirect', { redirect: 'error' }).catch((e) => [e.name, e.message, e.cause.message])`, `["TypeError","fetch failed","unexpected redirect"]`},
		"away":          {`return await fetch(base + '/away').catch((e) => [e.name, e.code, e.target])`, `["PluginPermissionError","EACCES","169.254.169.254"]`},
		"headers":       {`const r = await fetch(base + '/cookies'); let e; try { r.headers.set('a', 'b'); } catch (x) { e = x; } return [r.headers.getSetCookie(), r.headers.get('x-latin'), e.message]`, `[["a=1","b=2"],"é","immutable"]`},
		"clone":         {`const r = await fetch(base + '/gzip'), c = r.clone(); return [(await r.text()).length, (await c.arrayBuffer()).byteLength]`, `[4000,4000]`},
		"stream":        {`const r = await fetch(base + '/megabytes'); let n = 0, chunks = 0; for await (const c of r.body) { n += c.length; chunks++; } return [n, chunks > 1, r.bodyUsed]`, `[5242880,true,true]`},
		"bytes":         {`const r = await fetch(base + '/megabytes'); const b = Buffer.from(await r.arrayBuffer()); return [b.length, b.toString('latin1', 5242870)]`, `[5242880,"6789abcdef"]`},
		"cancel":        {`const r = await fetch(base + '/drip'); const reader = r.body.getReader(); const first = Buffer.from((await reader.read()).value).toString(); await reader.cancel(); return first[0]`, `0`},
		"abort":         {`const c = new AbortController(); setTimeout(() => c.abort(), 20); return await fetch(base + '/hang', { signal: c.signal }).catch((e) => [e.name, e.message, e.code])`, `["AbortError","This operation was aborted",20]`},
		"abort body":    {`const c = new AbortController(); const r = await fetch(base + '/drip', { signal: c.signal }); setTimeout(() => c.abort(new Error('mine')), 20); return await r.text().catch((e) => e.message)`, `mine`},
		"abort stream":  {`const c = new AbortController(); const r = await fetch(base + '/drip', { signal: c.signal }); setTimeout(() => c.abort(new Error('mine')), 20); try { for await (const x of r.body); } catch (e) { return e.message; }`, `mine`},
		"timeout":       {`return await fetch(base + '/hang', { signal: AbortSignal.timeout(20) }).catch((e) => [e.name, e.code])`, `["TimeoutError",23]`},
		"any":           {`const c = new AbortController(); setTimeout(() => c.abort(7), 20); return await fetch(base + '/hang', { signal: AbortSignal.any([c.signal, AbortSignal.timeout(5000)]) }).catch((e) => e)`, `7`},
		"broken":        {`const r = await fetch(base + '/broken'); return await r.text().catch((e) => [e.name, e.message, e.cause.code])`, `["TypeError","terminated","UND_ERR_SOCKET"]`},
		"too big":       {`const r = await fetch(base + '/big'); return await r.text().catch((e) => [e.name, e.message.includes('more than 67108864 bytes')])`, `["TypeError",true]`},
		"not granted":   {`return await fetch('https://other.example/x?token=1').catch((e) => [e.name, e.code, e.message.includes('"fetch": {"static": ["other.example"]}')])`, `["PluginPermissionError","EACCES",true]`},
		"refused":       {`return await fetch('http://127.0.0.1:2/').catch((e) => [e.name, e.message, e.cause.code, e.cause.syscall, e.cause.address, e.cause.port, e.cause.message])`, `["TypeError","fetch failed","ECONNREFUSED","connect","127.0.0.1",2,"connect ECONNREFUSED 127.0.0.1:2"]`},
		"bad URL":       {`return await fetch('nope').catch((e) => [e.name, e.message, e.cause.code])`, `["TypeError","Failed to parse URL from nope","ERR_INVALID_URL"]`},
		"file":          {`return await fetch('file:///etc/passwd').catch((e) => [e.name, e.cause.message.includes('node:fs')])`, `["TypeError",true]`},
		"secret":        {`const r = await fetch(base + '/echo?k={{secret:test.key}}', { method: 'POST', body: JSON.stringify({ k: '{{secret:test.key}}' }), headers: { Authorization: 'Bearer {{secret:test.key}}', 'Content-Type': 'application/json' } }); const j = await r.json(); return [j.path, j.auth, j.body, r.url.includes('{{secret:test.key}}')]`, `["/echo?k=SECRET","Bearer SECRET","{\"k\":\"SECRET\"}",true]`},
		"secret in URL": {`const u = new URL(base + '/echo'); u.searchParams.set('k', '{{secret:test.key}}'); u.pathname = '/echo'; return (await (await fetch(u)).json()).path`, `/echo?k=SECRET`},
		"no secret":     {`return await fetch(base + '/echo', { headers: { a: '{{secret:test.other}}' } }).catch((e) => [e.name, e.message.includes('{{secret:test.other}} names no secret')])`, `["TypeError",true]`},
		"many":          {`return (await Promise.all(Array.from({ length: 100 }, (_, i) => fetch(base + '/echo?' + i).then((r) => r.json())))).every((j, i) => j.path.endsWith('?' + i))`, `true`},
		"unread":        {`for (let i = 0; i < 20; i++) await fetch(base + '/drip'); return 'ok'`, `ok`},
		"integrity":     {`return await fetch(base + '/gzip', { integrity: 'sha256-AAAA' }).catch((e) => e.cause.message)`, `integrity mismatch`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := online(t, "export default async function (params, ctx) { const base = "+fmt.Sprintf("%q", base)+";\n"+c.code+"\n}", 20*time.Second, host, "127.0.0.1:2")
			want := strings.NewReplacer("SECRET", secretValue, "HOST", host).Replace(c.want)
			if got := p.call(t, "run", "{}"); got != want {
				t.Errorf("got  %s\nwant %s\n%s", got, want, p.log)
			}
			if strings.Contains(p.log.String(), secretValue) {
				t.Errorf("the log holds the secret: %s", p.log)
			}
		})
	}
}

func TestFetchKeepsSecretsFromArguments(t *testing.T) {
	base, host := site(t)
	p := online(t, `export default async ({ text }) => { const r = await fetch('`+base+`/echo', { method: 'POST', body: text, headers: { Authorization: '{{secret:test.key}}' } }); return (await r.json()).body; }`, 20*time.Second, host)
	if got := p.call(t, "run", `{"text": "hello, a secret: none"}`); got != "hello, a secret: none" {
		t.Error(got)
	}
	for _, args := range []string{`{"text": "{{secret:test.key}}"}`, `{"text": "\u007b{secret\u003atest.key}}"}`, `{"text": "%7B%7bSECRET%3Atest.key%7D%7D"}`} {
		if got := p.call(t, "run", args); !strings.HasPrefix(got, "! nothing was sent: the arguments of this call hold a placeholder") {
			t.Errorf("%s: %s", args, got)
		}
	}
}

func TestFetchEndsWithTheCall(t *testing.T) {
	base, host := site(t)
	p := online(t, `export default async ({ path }) => { const r = await fetch('`+base+`' + path); return await r.text(); }`, 100*time.Millisecond, host)
	for _, path := range []string{"/hang", "/drip"} {
		before := time.Now()
		if got := p.call(t, "run", `{"path": "`+path+`"}`); !strings.HasPrefix(got, "! ") {
			t.Errorf("%s: %s", path, got)
		}
		if took := time.Since(before); took > 5*time.Second {
			t.Errorf("%s: %v", path, took)
		}
	}
}

func TestFetchWithoutNetwork(t *testing.T) {
	spec, log := write(t, map[string]string{"run.mjs": `export default async ({ url }, ctx) => await ctx.fetch(url).catch((e) => [e.name, e.code, e.message]);`})
	spec.Policy.Fetch.Static = []string{"api.example.com"}
	p := serve(t, node.New(nil), spec, log, nil)
	if got := p.call(t, "run", `{"url": "https://api.example.com/x"}`); !strings.Contains(got, "ERR_UNSUPPORTED_IN_HOST") {
		t.Error(got)
	}
	if got := p.call(t, "run", `{"url": "https://other.example.com/x"}`); !strings.Contains(got, "PluginPermissionError") || !strings.Contains(got, `[\"other.example.com\"]`) {
		t.Error(got)
	}
}

func TestNoNetworkWhileModulesLoad(t *testing.T) {
	base, host := site(t)
	client := fetch.New(nil)
	t.Cleanup(client.Close)
	spec, log := write(t, map[string]string{"run.mjs": `import net from 'node:net';
const r = await fetch('` + base + `/echo').catch((e) => e);
const e = await new Promise((resolve) => net.connect(1, '127.0.0.1').on('error', resolve));
console.log(r.message, e.message);
export default () => r.status;`})
	spec.Policy.Fetch.Static = []string{host}
	spec.Services = runtimes.Services{Network: client.For(nil)}.Guard(spec.Policy)
	p := serve(t, node.New(nil), spec, log, nil)
	if n := strings.Count(log.String(), "no call runs while a module loads"); n != 2 {
		t.Errorf("%s", log)
	}
	if got := p.call(t, "run", "{}"); got != "200" {
		t.Error(got)
	}
}
