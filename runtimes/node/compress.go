package node

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"io"
	"iter"
	"sync"

	"github.com/andybalholm/brotli"
)

// zipFormat is what node:zlib packs or unpacks.
type zipFormat string

const (
	formatGzip    zipFormat = "gzip"
	formatZlib    zipFormat = "deflate"
	formatRaw     zipFormat = "deflate-raw"
	formatAny     zipFormat = "any" // gzip or zlib, unpacking only
	formatBrotli  zipFormat = "brotli"
	zipPiece                = 256 << 10 // of input that is packed in one go
	maxChunkSize            = 1 << 20   // of output that is given in one go
	brotliQuality           = brotli.BestCompression
)

// zipOptions say how to pack or unpack.
type zipOptions struct {
	format     zipFormat
	unpack     bool
	level      int // of flate, or the quality of brotli
	window     int // bits of brotli's window, or the most that an unpacker of zlib takes; 0 for the default
	dictionary []byte
	chunk      int // bytes of output that an unpacker gives at most in one go
}

// zipFlush says what a write ends with, in the order of Z_NO_FLUSH, Z_SYNC_FLUSH and Z_FINISH.
type zipFlush int

const (
	zipGoOn zipFlush = iota
	zipSync
	zipFinish
)

// zipError is an error of zlib or brotli as Node tells it.
type zipError struct {
	code    string
	errno   int
	message string
}

func (e *zipError) Error() string { return e.message }

func badData(message string) error { return &zipError{"Z_DATA_ERROR", -3, message} }

// zipper packs or unpacks a stream. It is used by one goroutine at a time.
type zipper interface {
	// feed gives input, which belongs to the zipper from then on. last says that no more
	// will come; an unpacker then takes what ends too early if the flush is no finish.
	feed(in []byte, flush zipFlush, last bool)
	// step gives some output. done says that the input is used up; out may be empty.
	step() (out []byte, done bool, err error)
	// consumed is how many bytes of input were used.
	consumed() int64
	// stop frees what the zipper holds.
	stop()
}

func newZipper(o zipOptions) (zipper, error) {
	if o.unpack {
		return newUnpacker(o), nil
	}
	p := &packer{}
	var err error
	switch o.format {
	case formatGzip:
		var w *gzip.Writer
		if w, err = gzip.NewWriterLevel(&p.out, o.level); err == nil {
			w.OS = 3 // Unix, as zlib writes it
			p.w = w
		}
	case formatZlib:
		p.w, err = zlib.NewWriterLevelDict(&p.out, o.level, o.dictionary)
	case formatRaw:
		p.w, err = flate.NewWriterDict(&p.out, o.level, o.dictionary)
	case formatBrotli:
		p.w = brotli.NewWriterOptions(&p.out, brotli.WriterOptions{Quality: o.level, LGWin: o.window})
	}
	return p, err
}

// packer packs piece by piece.
type packer struct {
	w interface {
		io.WriteCloser
		Flush() error
	}
	out   bytes.Buffer
	in    []byte
	flush zipFlush
	used  int64
	over  bool
}

var _ zipper = (*packer)(nil)

func (p *packer) feed(in []byte, flush zipFlush, _ bool) { p.in, p.flush = in, flush }
func (p *packer) consumed() int64                        { return p.used }
func (p *packer) stop()                                  {}

func (p *packer) step() (out []byte, done bool, err error) {
	if p.over {
		return nil, true, nil
	}
	n := min(len(p.in), zipPiece)
	if n > 0 {
		_, err = p.w.Write(p.in[:n])
		p.in = p.in[n:]
		p.used += int64(n)
	}
	if done = len(p.in) == 0; done && err == nil {
		switch p.flush {
		case zipSync:
			err = p.w.Flush()
		case zipFinish:
			p.over = true
			err = p.w.Close()
		}
	}
	out = bytes.Clone(p.out.Bytes())
	p.out.Reset()
	return out, done, err
}

// unpacker unpacks as a coroutine: the readers of the formats ask for input when they
// need some, and it comes when it comes.
type unpacker struct {
	options zipOptions
	in      []byte
	used    int64
	last    bool // no more input will come
	lenient bool // what ends too early is taken as it is
	buf     []byte
	filled  int // of buf, not yielded yet
	yield   func([]byte, error) bool
	next    func() ([]byte, error, bool)
	halt    func()
}

var _ zipper = (*unpacker)(nil)

func newUnpacker(o zipOptions) *unpacker {
	u := &unpacker{options: o, buf: make([]byte, o.chunk)}
	u.next, u.halt = iter.Pull2(func(yield func([]byte, error) bool) {
		u.yield = yield
		err := u.run()
		if u.lenient && errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil
		}
		if errors.Is(err, errZipStopped) || !u.emit() {
			return
		}
		if err != nil {
			yield(nil, unpackError(err))
		}
	})
	return u
}

var errZipStopped = errors.New("unpacking was stopped")

func (u *unpacker) feed(in []byte, flush zipFlush, last bool) {
	u.in, u.last, u.lenient = in, last || flush == zipFinish, flush != zipFinish
}
func (u *unpacker) consumed() int64 { return u.used }
func (u *unpacker) stop()           { u.halt() }

func (u *unpacker) step() (out []byte, done bool, err error) {
	b, err, ok := u.next()
	if !ok || b == nil {
		return nil, true, err
	}
	return bytes.Clone(b), false, nil
}

// emit gives what buf holds.
func (u *unpacker) emit() bool {
	n := u.filled
	u.filled = 0
	return n == 0 || u.yield(u.buf[:n], nil)
}

// need waits for input.
func (u *unpacker) need() error {
	for len(u.in) == 0 {
		if u.last {
			return io.EOF
		}
		if !u.emit() || !u.yield(nil, nil) {
			return errZipStopped
		}
	}
	return nil
}

// ReadByte and Read let the readers of the formats take exactly what they need.
func (u *unpacker) ReadByte() (byte, error) {
	if len(u.in) == 0 {
		if err := u.need(); err != nil {
			return 0, err
		}
	}
	b := u.in[0]
	u.in = u.in[1:]
	u.used++
	return b, nil
}

func (u *unpacker) Read(p []byte) (int, error) {
	if err := u.need(); err != nil {
		return 0, err
	}
	n := copy(p, u.in)
	u.in = u.in[n:]
	u.used += int64(n)
	return n, nil
}

// drain yields what a reader of a format gives until its end.
func (u *unpacker) drain(r io.Reader, see func([]byte)) error {
	for {
		at := u.filled
		n, err := r.Read(u.buf[at:])
		if see != nil {
			see(u.buf[at : at+n])
		}
		if u.filled != at { // what was there was yielded while the reader waited for input
			copy(u.buf, u.buf[at:at+n])
		}
		u.filled += n
		if u.filled == len(u.buf) && !u.emit() {
			return errZipStopped
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// unpackError words an error of the readers as zlib does.
func unpackError(err error) error {
	var own *zipError
	var corrupt flate.CorruptInputError
	switch {
	case errors.As(err, &own):
		return own
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return &zipError{"Z_BUF_ERROR", -5, "unexpected end of file"}
	case errors.As(err, &corrupt):
		return badData("invalid compressed data")
	}
	return err
}

// zipAll packs or unpacks all of in. It fails when the output is longer than most.
func zipAll(ctx context.Context, o zipOptions, in []byte, flush zipFlush, most int) (out []byte, used int64, err error) {
	z, err := newZipper(o)
	if err != nil {
		return nil, 0, err
	}
	defer z.stop()
	z.feed(in, flush, true)
	for {
		piece, done, err := z.step()
		if err != nil {
			return nil, 0, err
		}
		if len(out)+len(piece) > most {
			return nil, 0, tooLong(most)
		}
		out = append(out, piece...)
		if done {
			return out, z.consumed(), nil
		}
		if ctx.Err() != nil {
			return nil, 0, context.Cause(ctx)
		}
	}
}

// zipStream is a zipper that script holds. It ends with the engine at the latest.
type zipStream struct {
	mu     sync.Mutex
	z      zipper // nil once it was closed
	closed func() // called once
}

func (s *zipStream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.z != nil {
		s.z.stop()
		s.z = nil
		s.closed()
	}
}
