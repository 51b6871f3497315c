package node_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"
)

// listen serves connections on the loopback address and gives its port.
func listen(t *testing.T, serve func(c net.Conn)) (port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); serve(c) }()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

// certificate makes one for localhost, signed by itself.
func certificate(t *testing.T) (pair tls.Certificate, text string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(7), Subject: pkix.Name{CommonName: "localhost", Organization: []string{"Test"}}, DNSNames: []string{"localhost"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// smtp speaks enough of SMTP for a dialogue with STARTTLS.
func smtp(c net.Conn, pair tls.Certificate) {
	r := bufio.NewReader(c)
	fmt.Fprint(c, "220 test ESMTP\r\n")
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		switch word, _, _ := strings.Cut(strings.TrimSpace(line), " "); strings.ToUpper(word) {
		case "EHLO":
			fmt.Fprint(c, "250-test\r\n250 STARTTLS\r\n")
		case "STARTTLS":
			fmt.Fprint(c, "220 go ahead\r\n")
			secured := tls.Server(c, &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"smtp"}})
			if secured.Handshake() != nil {
				return
			}
			c, r = secured, bufio.NewReader(secured)
		case "DATA":
			fmt.Fprint(c, "354 send\r\n")
			var n int
			for line != ".\r\n" {
				if line, err = r.ReadString('\n'); err != nil {
					return
				}
				n += len(line)
			}
			fmt.Fprintf(c, "250 took %d\r\n", n)
		case "QUIT":
			fmt.Fprint(c, "221 bye\r\n")
			return
		default:
			fmt.Fprintf(c, "250 %s\r\n", strings.TrimSpace(line))
		}
	}
}

const netPrelude = `
import net from 'node:net';
import tls from 'node:tls';
const once = (emitter, name) => new Promise((resolve, reject) => { emitter.once(name, (...args) => resolve(args.length > 1 ? args : args[0])); if (name !== 'error') emitter.once('error', reject); });
`

func TestNet(t *testing.T) {
	pair, ca := certificate(t)
	echo := listen(t, func(c net.Conn) { _, _ = io.Copy(c, c) })
	greet := listen(t, func(c net.Conn) { fmt.Fprint(c, "hello") })
	silent := listen(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	flood := listen(t, func(c net.Conn) {
		for range 64 {
			_, _ = c.Write(make([]byte, 1<<16))
		}
	})
	mail := listen(t, func(c net.Conn) { smtp(c, pair) })
	secure := listen(t, func(c net.Conn) {
		s := tls.Server(c, &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "test"}})
		defer s.Close()
		_, _ = io.Copy(s, s)
	})
	reset := listen(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 1))
		_ = c.(*net.TCPConn).SetLinger(0)
	})
	for name, c := range map[string]struct{ code, want string }{
		"echo":        {`const s = net.connect(p.echo, 'localhost'); s.setEncoding('utf8'); s.write('early '); await once(s, 'connect'); s.end('late'); let all = ''; s.on('data', (d) => { all += d; }); await once(s, 'close'); return [all, s.bytesRead, s.bytesWritten, s.destroyed]`, `["early late",10,10,true]`},
		"options":     {`const s = net.createConnection({ port: p.echo, host: '127.0.0.1' }, () => {}); await once(s, 'ready'); const r = [s.remoteAddress, s.remotePort === p.echo, s.remoteFamily, s.address().port > 0, s.readyState, s.pending, s.connecting]; s.destroy(); const hadError = await once(s, 'close'); return [...r, hadError, s.readyState]`, `["127.0.0.1",true,"IPv4",true,"open",false,false,false,"closed"]`},
		"end":         {`const s = net.connect(p.greet); const list = []; for (const name of ['connect', 'ready', 'data', 'end', 'finish', 'close']) s.on(name, () => list.push(name)); await once(s, 'close'); return list`, `["connect","ready","data","end","finish","close"]`},
		"half open":   {`const s = net.connect({ port: p.greet, allowHalfOpen: true }); s.resume(); await once(s, 'end'); const w = s.writable; s.end(); await once(s, 'close'); return w`, `true`},
		"pipe":        {`const { PassThrough } = await import('node:stream'); const s = net.connect(p.flood); let n = 0; for await (const chunk of s.pipe(new PassThrough())) n += chunk.length; return n`, `4194304`},
		"iterate":     {`const s = net.connect(p.greet); let all = ''; for await (const c of s) all += c; return all`, `hello`},
		"big write":   {`const s = net.connect(p.echo); const data = Buffer.alloc(1 << 20, 'ab'); s.end(data); const parts = []; for await (const c of s) parts.push(c); return Buffer.concat(parts).equals(data)`, `true`},
		"timeout":     {`const s = net.connect(p.silent); s.setTimeout(30); await once(s, 'timeout'); s.destroy(); return s.timeout`, `30`},
		"refused":     {`const s = net.connect(2, '127.0.0.1'); const closed = new Promise((r) => s.on('close', r)); const e = await once(s, 'error'); const hadError = await closed; return [e.message, e.code, e.syscall, e.address, e.port, e.errno < 0, hadError]`, `["connect ECONNREFUSED 127.0.0.1:2","ECONNREFUSED","connect","127.0.0.1",2,true,true]`},
		"reset":       {`const s = net.connect(p.reset); s.write('x'); s.resume(); const e = await once(s, 'error'); return [e.code, e.syscall]`, `["ECONNRESET","read"]`},
		"not granted": {`const s = net.connect(443, 'other.example'); const e = await once(s, 'error'); return [e.name, e.code, e.message.includes('"net": {"static": ["other.example:443"]}')]`, `["PluginPermissionError","EACCES",true]`},
		"metadata":    {`const s = net.connect(80, '169.254.169.254'); const e = await once(s, 'error'); return e.name`, `PluginPermissionError`},
		"odd address": {`const s = net.connect(p.echo, '0x7f.1'); const e = await once(s, 'error'); return e.name`, `PluginPermissionError`},
		"path":        {`try { net.connect('/run/docker.sock') } catch (e) { return e.code }`, `ERR_UNSUPPORTED_IN_HOST`},
		"bad port":    {`try { net.connect(70000) } catch (e) { return [e.code, e.message] }`, `["ERR_SOCKET_BAD_PORT","Port should be >= 0 and < 65536. Received type number (70000)."]`},
		"server":      {`try { net.createServer() } catch (e) { return e.code }`, `ERR_UNSUPPORTED_IN_HOST`},
		"isIP":        {`return [net.isIP('1.2.3.4'), net.isIP('::1'), net.isIP('x'), net.isIPv4('1.2.3.4'), net.Socket() instanceof net.Socket, class extends net.Socket {}.name]`, `[4,6,0,true,true,""]`},
		"many":        {`const list = []; try { for (let i = 0; i < 100; i++) { const s = net.connect(p.silent); s.on('error', () => {}); list.push(s); } } catch (e) { for (const s of list) s.destroy(); return [list.length, e.code] }`, `[24,"ERR_OUT_OF_RANGE"]`},
		"tls":         {`const s = tls.connect({ port: p.secure, host: 'localhost', ca: p.ca, ALPNProtocols: ['x', 'test'] }); await once(s, 'secureConnect'); s.setEncoding('utf8'); s.end('hi'); let all = ''; for await (const c of s) all += c; return [all, s.authorized, s.encrypted, s.alpnProtocol, s.getProtocol(), s.servername, s.getPeerCertificate().subject.CN, s.getPeerCertificate().subjectaltname]`, `["hi",true,true,"test","TLSv1.3","localhost","localhost","DNS:localhost"]`},
		"tls, port":   {`const s = tls.connect(p.secure, 'localhost', { ca: [p.ca] }, () => s.end('cb')); let all = ''; for await (const c of s) all += c; return all`, `cb`},
		"self-signed": {`const s = tls.connect(p.secure, 'localhost'); const e = await once(s, 'error'); return [e.code, e.message]`, `["DEPTH_ZERO_SELF_SIGNED_CERT","self-signed certificate"]`},
		"insecure":    {`const s = tls.connect({ port: p.secure, rejectUnauthorized: false }); await once(s, 'secureConnect'); const r = [s.authorized, s.authorizationError]; s.destroy(); return r`, `[false,"DEPTH_ZERO_SELF_SIGNED_CERT"]`},
		"wrong name":  {`const s = tls.connect({ port: p.secure, ca: p.ca, servername: 'other.example' }); const e = await once(s, 'error'); return e.code`, `ERR_TLS_CERT_ALTNAME_INVALID`},
		"own check":   {`const s = tls.connect({ port: p.secure, ca: p.ca, checkServerIdentity: (name, cert) => new Error(name + ' ' + cert.subject.CN) }); const e = await once(s, 'error'); return e.message`, `localhost localhost`},
		"no TLS":      {`const s = tls.connect({ port: p.greet }); const e = await once(s, 'error'); return e.code`, `EPROTO`},
		"tls denied":  {`const s = tls.connect(993, 'other.example'); const e = await once(s, 'error'); return e.name`, `PluginPermissionError`},
		"dns":         {`const dns = await import('node:dns'); const { promises } = dns; const e = await promises.resolveMx('a.example').catch((e) => [e.code, e.syscall]); const one = await new Promise((r) => dns.lookup('a.example', (err, address, family) => r([err, address, family]))); return [one, await promises.lookup('::1', { all: true }), e, (await import('node:dns/promises')).lookup === promises.lookup]`, `[[null,"a.example",4],[{"address":"::1","family":6}],["ENOTIMP","queryMx"],true]`},
		"identity":    {`const cert = { subject: { CN: 'a.example' }, subjectaltname: 'DNS:*.b.example, IP Address:10.0.0.1' }; return [tls.checkServerIdentity('x.b.example', cert), tls.checkServerIdentity('10.0.0.1', cert), tls.checkServerIdentity('a.example', cert).code, tls.checkServerIdentity('x.y.b.example', cert).reason]`, `[null,null,"ERR_TLS_CERT_ALTNAME_INVALID","Host: x.y.b.example. is not in the cert's altnames: DNS:*.b.example, IP Address:10.0.0.1"]`},
		"STARTTLS": {`
let socket = net.connect(p.mail, 'localhost'), buffer = '', wake = null;
const feed = (s) => s.on('data', (d) => { buffer += d; wake?.(); });
feed(socket);
const reply = async () => { for (;;) { const m = /^(?:\d{3}-.*\r\n)*\d{3} .*\r\n/.exec(buffer); if (m) { buffer = buffer.slice(m[0].length); return m[0].trim().split('\r\n').pop(); } await new Promise((r) => { wake = r; }); } };
const say = async (text) => { socket.write(text + '\r\n'); return await reply(); };
const log = [await reply(), await say('EHLO me'), await say('STARTTLS')];
socket.removeAllListeners('data');
socket = tls.connect({ socket, servername: 'localhost', ca: p.ca, ALPNProtocols: ['smtp'] });
feed(socket);
await once(socket, 'secureConnect');
log.push(socket.authorized, socket.alpnProtocol, await say('EHLO me'), await say('MAIL FROM:<a@b>'), await say('DATA'), await say('Subject: hi\r\n\r\nbody\r\n.'), 0);
const closed = new Promise((r) => socket.on('close', r));
log[log.length - 1] = await say('QUIT');
await closed;
return log`, `["220 test ESMTP","250 STARTTLS","220 go ahead",true,"smtp","250 STARTTLS","250 MAIL FROM:\u003ca@b\u003e","354 send","250 took 24","221 bye"]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := online(t, netPrelude+"export default async function (p) {\n"+c.code+"\n}", 20*time.Second, "localhost", "127.0.0.1")
			args, err := json.Marshal(map[string]any{"echo": echo, "greet": greet, "silent": silent, "flood": flood, "mail": mail, "secure": secure, "reset": reset, "ca": ca})
			if err != nil {
				t.Fatal(err)
			}
			want := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(c.want)
			if got := p.call(t, "run", string(args)); got != want {
				t.Errorf("got  %s\nwant %s\n%s", got, want, p.log)
			}
		})
	}
}

func TestNetEndsWithTheCall(t *testing.T) {
	over := make(chan error, 1)
	port := listen(t, func(c net.Conn) {
		_, err := io.Copy(io.Discard, c)
		over <- err
	})
	p := online(t, netPrelude+`export default async ({ port, wait }) => { const s = net.connect(port, '127.0.0.1'); s.on('error', () => {}); await once(s, 'connect'); if (wait) await once(s, 'close'); return 'done'; }`, 2*time.Second, "127.0.0.1")
	for _, c := range []struct {
		wait bool
		want string
	}{{false, "done"}, {true, "! "}} {
		if got := p.call(t, "run", fmt.Sprintf(`{"port": %d, "wait": %v}`, port, c.wait)); !strings.HasPrefix(got, c.want) {
			t.Error(got)
		}
		select {
		case <-over:
		case <-time.After(10 * time.Second):
			t.Fatal("the connection outlives its call")
		}
	}
}
