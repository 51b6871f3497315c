package node_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestHTTPModule(t *testing.T) {
	_, host := site(t)
	_, port, _ := strings.Cut(host, ":")
	for name, c := range map[string]struct{ code, want string }{
		"get":         {`const res = await new Promise((resolve, reject) => http.get(base + '/echo?a=1', resolve).on('error', reject)); const j = JSON.parse(await text(res)); return [res.statusCode, res.statusMessage, res.headers['content-type'], res.complete, j.method, j.path, j.host === p.host]`, `[200,"OK","application/json",true,"GET","/echo?a=1",true]`},
		"post":        {`const req = http.request({ host: '127.0.0.1', port: p.port, path: '/echo', method: 'POST', headers: { 'Content-Type': 'text/plain', 'X-Test': 'q' }, auth: 'u:p' }); req.write('one '); req.end('two'); const [res] = await once(req, 'response'); const j = JSON.parse(await text(res)); return [j.method, j.body, j.x, j.auth, req.getHeader('x-test'), req.headersSent]`, `["POST","one two","q","Basic dTpw","q",true]`},
		"redirect":    {`const [res] = await once(http.get(base + '/redirect'), 'response'); res.resume(); return [res.statusCode, res.headers.location]`, `[302,"/echo"]`},
		"gzip":        {`const [res] = await once(http.get(base + '/gzip'), 'response'); return [(await text(res)).length, res.headers['content-encoding']]`, `[4000,null]`},
		"cookies":     {`const [res] = await once(http.get(base + '/cookies'), 'response'); res.resume(); return [res.headers['set-cookie'], res.rawHeaders.filter((x) => x === 'set-cookie').length]`, `[["a=1","b=2"],2]`},
		"refused":     {`const [e] = await once(http.get('http://127.0.0.1:2/'), 'error'); return [e.code, e.message]`, `["ECONNREFUSED","connect ECONNREFUSED 127.0.0.1:2"]`},
		"not granted": {`const [e] = await once(https.get('https://other.example/'), 'error'); return [e.name, e.code]`, `["PluginPermissionError","EACCES"]`},
		"timeout":     {`const req = http.get(base + '/hang', { timeout: 30 }); await once(req, 'timeout'); req.destroy(); const [e] = await once(req, 'error'); return [e.code, e.message]`, `["ECONNRESET","socket hang up"]`},
		"signal":      {`const c = new AbortController(); const req = http.get(base + '/hang', { signal: c.signal }); setTimeout(() => c.abort(), 20); const [e] = await once(req, 'error'); return [e.name, e.code]`, `["AbortError","ABORT_ERR"]`},
		"cut":         {`const [res] = await once(http.get(base + '/broken'), 'response'); return await text(res).catch((e) => [e.message, e.code])`, `["aborted","ECONNRESET"]`},
		"leave":       {`const [res] = await once(http.get(base + '/drip'), 'response'); for await (const c of res) { return String(c)[0]; }`, `0`},
		"server":      {`try { http.createServer(); } catch (e) { return e.code; }`, `ERR_UNSUPPORTED_IN_HOST`},
		"agents":      {`class Mine extends http.Agent {} return [new Mine({ keepAlive: true }).keepAlive, https.globalAgent.protocol, new https.Agent() instanceof http.Agent, http.STATUS_CODES[404], http.METHODS.includes('PATCH')]`, `[true,"https:",true,"Not Found",true]`},
		"mistakes":    {`const e = (f) => { try { f(); } catch (x) { return x.code; } }; return [e(() => http.get('ftp://a')), e(() => http.request({ path: '/a b' })), e(() => http.request({ headers: { 'a b': 'c' } })), e(() => http.request({ headers: { a: 'c\n' } })), e(() => http.request({ socketPath: '/x' }))]`, `["ERR_INVALID_PROTOCOL","ERR_UNESCAPED_CHARACTERS","ERR_INVALID_HTTP_TOKEN","ERR_INVALID_CHAR","ERR_UNSUPPORTED_IN_HOST"]`},
		"secret":      {`const [res] = await once(http.get(base + '/echo', { headers: { authorization: 'Bearer {{secret:test.key}}' } }), 'response'); return JSON.parse(await text(res)).auth`, "Bearer " + secretValue},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := online(t, `import http from 'node:http';
import https from 'node:https';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
export default async function (p) { const base = 'http://' + p.host;
`+c.code+"\n}", 20*time.Second, host, "127.0.0.1:2")
			if got := p.call(t, "run", fmt.Sprintf(`{"host": %q, "port": %s}`, host, port)); got != c.want {
				t.Errorf("got  %s\nwant %s\n%s", got, c.want, p.log)
			}
		})
	}
}
