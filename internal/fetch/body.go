package fetch

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"

	"github.com/toolhost/toolhost/runtimes"
)

// body is the body of a response: decompressed, counted, and closed with its grant.
type body struct {
	ctx     context.Context
	raw     io.ReadCloser
	decoded io.Reader
	host    string
	left    int64 // bytes that may still come
	limit   int64
	release func()
	secrets *filler
	closed  sync.Once
}

// maxCodings is how many times a body may be compressed.
const maxCodings = 5

func newBody(ctx context.Context, response *http.Response, f *flight) *body {
	b := &body{ctx: ctx, raw: response.Body, decoded: response.Body, host: f.url.Hostname(), left: f.client.maxBody, limit: f.client.maxBody, secrets: f.secrets}
	if f.method == http.MethodHead || response.StatusCode == http.StatusNoContent || response.StatusCode == http.StatusNotModified {
		return b
	}
	var codings []string
	for coding := range strings.SplitSeq(strings.Join(response.Header["Content-Encoding"], ","), ",") {
		if coding = strings.ToLower(strings.TrimSpace(coding)); coding != "" && coding != "identity" {
			codings = append(codings, coding)
		}
	}
	if len(codings) > maxCodings {
		b.decoded = failing{fmt.Errorf("the response is compressed %d times; %d are taken at most", len(codings), maxCodings)}
		return b
	}
	for i := len(codings) - 1; i >= 0; i-- {
		open := decoders[codings[i]]
		if open == nil {
			break // given as it is
		}
		b.decoded = &decoder{from: b.decoded, open: open}
	}
	return b
}

var decoders = map[string]func(io.Reader) (io.Reader, error){
	"gzip":   func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	"x-gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	"br":     func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
	"deflate": func(r io.Reader) (io.Reader, error) { // with zlib's header or, by servers that misread the standard, without
		buffered := bufio.NewReader(r)
		first, err := buffered.Peek(1)
		if err != nil {
			return nil, err
		}
		if first[0]&0x0f == 8 {
			return zlib.NewReader(buffered)
		}
		return flate.NewReader(buffered), nil
	},
}

// decoder decompresses; it looks at the first bytes when it is first read, so that
// nobody waits for them before.
type decoder struct {
	from io.Reader
	open func(io.Reader) (io.Reader, error)
	r    io.Reader
}

func (d *decoder) Read(p []byte) (int, error) {
	if d.r == nil {
		r, err := d.open(d.from)
		if err != nil {
			return 0, err // io.EOF of an empty body is its end
		}
		d.r = r
	}
	return d.r.Read(p)
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// Read gives what the server sent, up to the limit.
func (b *body) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1] // one more than may come shows that there is more
	}
	n, err := b.decoded.Read(p)
	if int64(n) > b.left {
		n = int(b.left)
		err = b.tooLarge()
	}
	b.left -= int64(n)
	if err == nil || err == io.EOF {
		return n, err
	}
	if b.ctx.Err() != nil {
		return n, b.ctx.Err()
	}
	return n, b.secrets.conceal(runtimes.AsNetworkError(err, b.host, 0))
}

func (b *body) tooLarge() error {
	return &runtimes.NetworkError{Code: "UND_ERR_RES_EXCEEDED_MAX_SIZE", Message: fmt.Sprintf("the response of %s has more than %d bytes, which is the most that this host takes", b.host, b.limit)}
}

// Close ends the response; what was not read of it is dropped.
func (b *body) Close() error {
	var err error
	b.closed.Do(func() {
		b.release()
		err = b.raw.Close()
	})
	return err
}
