package node

import (
	"compress/flate"
	"encoding/binary"
	"errors"
	"hash/adler32"
	"hash/crc32"
	"io"
	"strings"

	"github.com/andybalholm/brotli"
)

// run unpacks until the end of the data.
func (u *unpacker) run() error {
	switch u.options.format {
	case formatGzip:
		return u.gzipMembers()
	case formatZlib:
		return u.zlibData()
	case formatBrotli:
		return u.brotliData()
	case formatAny:
		return u.anyData()
	}
	return u.flateData(nil, u.options.dictionary)
}

// anyData looks at how the data begins.
func (u *unpacker) anyData() error {
	var head []byte
	for _, magic := range []byte{0x1f, 0x8b} {
		b, err := u.ReadByte()
		if err != nil {
			return err
		}
		head = append(head, b)
		if b != magic {
			break
		}
	}
	gzipped := len(head) == 2 && head[1] == 0x8b
	u.in = append(head, u.in...)
	u.used -= int64(len(head))
	if gzipped {
		return u.gzipMembers()
	}
	return u.zlibData()
}

// flateData unpacks deflated data.
func (u *unpacker) flateData(see func([]byte), dictionary []byte) error {
	start := u.used
	first := &firstByte{unpacker: u}
	r := flate.NewReaderDict(first, dictionary)
	err := u.drain(r, see)
	var corrupt flate.CorruptInputError
	if errors.As(err, &corrupt) {
		// What is no deflated data at all is told as zlib tells it.
		switch kind := first.b >> 1 & 3; {
		case kind == 3 && u.used-start == 1:
			return badData("invalid block type")
		case kind == 0 && u.used-start == 5:
			return badData("invalid stored block lengths")
		}
	}
	return err
}

// firstByte remembers the first byte that was read.
type firstByte struct {
	*unpacker
	seen bool
	b    byte
}

func (f *firstByte) ReadByte() (byte, error) {
	b, err := f.unpacker.ReadByte()
	if !f.seen && err == nil {
		f.seen, f.b = true, b
	}
	return b, err
}

// bytes reads n bytes.
func (u *unpacker) bytes(n int) ([]byte, error) {
	b := make([]byte, n)
	for i := range b {
		var err error
		if b[i], err = u.ReadByte(); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// gzipMembers unpacks one member after the other. Zeros after one are padding.
func (u *unpacker) gzipMembers() error {
	for {
		if err := u.gzipMember(); err != nil {
			return err
		}
		if len(u.in) == 0 && !u.last {
			if err := u.need(); err != nil && !errors.Is(err, io.EOF) {
				return err
			}
		}
		if len(u.in) == 0 || u.in[0] == 0 {
			return nil
		}
	}
}

func (u *unpacker) gzipMember() error {
	head, err := u.bytes(2)
	if err != nil {
		return err
	}
	if head[0] != 0x1f || head[1] != 0x8b {
		return badData("incorrect header check")
	}
	if head, err = u.bytes(2); err != nil {
		return err
	}
	flags := head[1]
	if head[0] != 8 {
		return badData("unknown compression method")
	}
	if flags&0xe0 != 0 {
		return badData("unknown header flags set")
	}
	if _, err = u.bytes(6); err != nil { // time, flags, system
		return err
	}
	if flags&4 != 0 {
		size, err := u.bytes(2)
		if err != nil {
			return err
		}
		if _, err = u.bytes(int(binary.LittleEndian.Uint16(size))); err != nil {
			return err
		}
	}
	for _, text := range []byte{8, 16} { // name, comment
		for flags&text != 0 {
			b, err := u.ReadByte()
			if err != nil {
				return err
			}
			if b == 0 {
				break
			}
		}
	}
	if flags&2 != 0 {
		if _, err = u.bytes(2); err != nil {
			return err
		}
	}
	sum, size := crc32.NewIEEE(), uint32(0)
	if err := u.flateData(func(b []byte) { _, _ = sum.Write(b); size += uint32(len(b)) }, nil); err != nil {
		return err
	}
	tail, err := u.bytes(8)
	switch {
	case err != nil:
		return err
	case binary.LittleEndian.Uint32(tail) != sum.Sum32():
		return badData("incorrect data check")
	case binary.LittleEndian.Uint32(tail[4:]) != size:
		return badData("incorrect length check")
	}
	return nil
}

func (u *unpacker) zlibData() error {
	head, err := u.bytes(2)
	if err != nil {
		return err
	}
	window := int(head[0]>>4) + 8
	switch {
	case binary.BigEndian.Uint16(head)%31 != 0:
		return badData("incorrect header check")
	case head[0]&15 != 8:
		return badData("unknown compression method")
	case window > 15 || u.options.window > 0 && window > u.options.window:
		return badData("invalid window size")
	}
	var dictionary []byte
	if head[1]&0x20 != 0 {
		id, err := u.bytes(4)
		switch {
		case err != nil:
			return err
		case u.options.dictionary == nil:
			return &zipError{"Z_NEED_DICT", 2, "Missing dictionary"}
		case adler32.Checksum(u.options.dictionary) != binary.BigEndian.Uint32(id):
			return &zipError{"Z_NEED_DICT", 2, "Bad dictionary"}
		}
		dictionary = u.options.dictionary
	}
	sum := adler32.New()
	if err := u.flateData(func(b []byte) { _, _ = sum.Write(b) }, dictionary); err != nil {
		return err
	}
	tail, err := u.bytes(4)
	switch {
	case err != nil:
		return err
	case binary.BigEndian.Uint32(tail) != sum.Sum32():
		return badData("incorrect data check")
	}
	return nil
}

func (u *unpacker) brotliData() error {
	err := u.drain(brotli.NewReader(u), nil)
	if err == nil || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errZipStopped) {
		return err
	}
	name := strings.TrimPrefix(err.Error(), "brotli: ")
	if errno, known := brotliErrors[name]; known {
		return &zipError{"ERR__ERROR_FORMAT_" + name, errno, "Decompression failed"}
	}
	if name == "excessive input" { // what comes after the end is passed over
		return nil
	}
	return &zipError{"ERR__ERROR_FORMAT", -31, "Decompression failed"}
}

// brotliErrors are the numbers that Node gives for what is wrong with brotli data.
var brotliErrors = map[string]int{
	"EXUBERANT_NIBBLE": -1, "RESERVED": -2, "EXUBERANT_META_NIBBLE": -3, "SIMPLE_HUFFMAN_ALPHABET": -4, "SIMPLE_HUFFMAN_SAME": -5, "CL_SPACE": -6, "HUFFMAN_SPACE": -7,
	"CONTEXT_MAP_REPEAT": -8, "BLOCK_LENGTH_1": -9, "BLOCK_LENGTH_2": -10, "TRANSFORM": -11, "DICTIONARY": -12, "WINDOW_BITS": -13, "PADDING_1": -14, "PADDING_2": -15, "DISTANCE": -16,
}
