package node

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"testing"
	"time"
)

func FuzzUnpack(f *testing.F) {
	for _, format := range []zipFormat{formatGzip, formatZlib, formatRaw, formatBrotli} {
		level := flate.DefaultCompression
		if format == formatBrotli {
			level = 1
		}
		packed, _, err := zipAll(context.Background(), zipOptions{format: format, level: level}, []byte("some text some text"), zipFinish, maxBytes)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(format), packed, uint8(3))
		f.Add(string(format), packed[:len(packed)/2], uint8(1))
	}
	// Whether the data comes at once or in pieces must not matter, and nothing may panic.
	f.Fuzz(func(t *testing.T, format string, data []byte, piece uint8) {
		if format != string(formatGzip) && format != string(formatZlib) && format != string(formatRaw) && format != string(formatBrotli) && format != string(formatAny) {
			return
		}
		o := zipOptions{format: zipFormat(format), unpack: true, chunk: 1 << 10}
		const most = 1 << 20
		whole, _, wholeErr := zipAll(t.Context(), o, data, zipFinish, most)
		u := newUnpacker(o)
		defer u.stop()
		var parts []byte
		var err error
		for rest, size := data, max(int(piece), 1); err == nil && len(parts) <= most; {
			n := min(size, len(rest))
			last := n == len(rest)
			flush := zipGoOn
			if last {
				flush = zipFinish
			}
			u.feed(bytes.Clone(rest[:n]), flush, last)
			rest = rest[n:]
			for done := false; !done && err == nil && len(parts) <= most; {
				var b []byte
				b, done, err = u.step()
				parts = append(parts, b...)
			}
			if last {
				break
			}
		}
		if (err == nil && len(parts) <= most) != (wholeErr == nil) || wholeErr == nil && !bytes.Equal(parts, whole) {
			t.Errorf("%s: at once %d bytes, %v; in pieces of %d %d bytes, %v", format, len(whole), wholeErr, piece, len(parts), err)
		}
	})
}

// TestZipBomb unpacks what is a thousand times longer than allowed, and ends with the call.
func TestZipBomb(t *testing.T) {
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	if _, err := io.CopyN(w, zeros{}, 64<<20); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	o := zipOptions{format: formatGzip, unpack: true, chunk: 16 << 10}
	var long *scriptError
	if _, _, err := zipAll(t.Context(), o, bomb.Bytes(), zipFinish, 64<<10); !errors.As(err, &long) || long.code != "ERR_BUFFER_TOO_LARGE" || long.class != "RangeError" {
		t.Errorf("a bomb: %v", err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errCallEnded)
	if _, _, err := zipAll(ctx, o, bomb.Bytes(), zipFinish, maxBytes); !errors.Is(err, errCallEnded) {
		t.Errorf("after the call: %v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestDerivationEnds checks that keys are no longer derived when the call has ended.
func TestDerivationEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := pbkdf2(ctx, hashes["sha512"].make, []byte("a"), []byte("b"), 1<<31-1, 64); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("pbkdf2: %v", err)
	}
	if _, err := scrypt(ctx, []byte("a"), []byte("b"), 1<<14, 8, 1<<10, 64); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("scrypt: %v", err)
	}
}
