package node

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/big"
	"strings"

	"github.com/dop251/goja"
)

// loadBuffer makes the Buffer library. The codecs and searches run in Go, since loops
// over bytes are some hundred times slower in script.
func loadBuffer(e *engine) goja.Value {
	host := e.object(map[string]any{
		"codec": e.internal("encoding_host"),
		"compare": func(c goja.FunctionCall) goja.Value {
			return e.vm.ToValue(bytes.Compare(e.mustBytes(c.Argument(0)), e.mustBytes(c.Argument(1))))
		},
		"search": func(c goja.FunctionCall) goja.Value { // (bytes, needle, from, backwards, step) → index
			return e.vm.ToValue(searchBytes(e.mustBytes(c.Argument(0)), e.mustBytes(c.Argument(1)),
				int(c.Argument(2).ToInteger()), c.Argument(3).ToBoolean(), int(c.Argument(4).ToInteger())))
		},
		"fill": func(c goja.FunctionCall) goja.Value { // (bytes, pattern, start, end)
			b, pattern := e.mustBytes(c.Argument(0)), e.mustBytes(c.Argument(1))
			b = b[c.Argument(2).ToInteger():c.Argument(3).ToInteger()]
			for n := copy(b, pattern); n > 0 && n < len(b); n *= 2 {
				copy(b[n:], b[:n])
			}
			return goja.Undefined()
		},
		"swap": func(c goja.FunctionCall) goja.Value { // (bytes, size)
			b, size := e.mustBytes(c.Argument(0)), int(c.Argument(1).ToInteger())
			for i := 0; i+size <= len(b); i += size {
				for j := range size / 2 {
					b[i+j], b[i+size-1-j] = b[i+size-1-j], b[i+j]
				}
			}
			return goja.Undefined()
		},
		"read":  e.readNumber,
		"write": e.writeNumber,
		"alias": func(c goja.FunctionCall) goja.Value { // (prototype, names): what has a name with UInt has it with Uint, too
			o := c.Argument(0).ToObject(e.vm)
			for name := range strings.FieldsSeq(c.Argument(1).String()) {
				_ = o.DefineDataProperty(strings.Replace(name, "UInt", "Uint", 1), o.Get(name), goja.FLAG_TRUE, goja.FLAG_TRUE, goja.FLAG_FALSE) // a plain object
			}
			return goja.Undefined()
		},
	})
	v := bufferLibrary.load(e, host)
	o := v.ToObject(e.vm)
	f, _ := goja.AssertFunction(o.Get("fromArrayBuffer"))
	e.api.newBuffer = f
	return v
}

// searchBytes finds needle in b at or after from (backwards: at or before it). Step is
// 2 for UTF-16, whose characters start at even places.
func searchBytes(b, needle []byte, from int, backwards bool, step int) int {
	if backwards {
		for i := min(from, len(b)-len(needle)); i >= 0; {
			j := bytes.LastIndex(b[:i+len(needle)], needle)
			if j < 0 || j%step == 0 {
				return j
			}
			i = j - 1
		}
		return -1
	}
	for from <= len(b)-len(needle) {
		j := bytes.Index(b[from:], needle)
		if j < 0 {
			return -1
		}
		if from += j; from%step == 0 {
			return from
		}
		from++
	}
	return -1
}

// Kinds of numbers in a Buffer, as buffer.js names them.
const (
	kindUint = iota
	kindInt
	kindBigUint
	kindBigInt
	kindFloat
)

// readNumber is (bytes, kind, little-endian, offset, size) → number. The offset was checked.
func (e *engine) readNumber(c goja.FunctionCall) goja.Value {
	kind, little := c.Argument(1).ToInteger(), c.Argument(2).ToBoolean()
	offset, size := int(c.Argument(3).ToInteger()), int(c.Argument(4).ToInteger())
	b := e.mustBytes(c.Argument(0))
	u := loadBits(b[offset:offset+size], little)
	signed := int64(u<<(64-8*size)) >> (64 - 8*size)
	switch kind {
	case kindInt:
		return e.vm.ToValue(signed)
	case kindBigUint:
		return e.vm.ToValue(new(big.Int).SetUint64(u))
	case kindBigInt:
		return e.vm.ToValue(big.NewInt(signed))
	case kindFloat:
		if size == 4 {
			return e.vm.ToValue(float64(math.Float32frombits(uint32(u))))
		}
		return e.vm.ToValue(math.Float64frombits(u))
	}
	return e.vm.ToValue(int64(u))
}

// writeNumber is (bytes, kind, little-endian, offset, size, value). Offset and range were checked.
func (e *engine) writeNumber(c goja.FunctionCall) goja.Value {
	kind, little := c.Argument(1).ToInteger(), c.Argument(2).ToBoolean()
	offset, size := int(c.Argument(3).ToInteger()), int(c.Argument(4).ToInteger())
	v := c.Argument(5)
	var u uint64
	switch kind {
	case kindBigUint, kindBigInt:
		if n, ok := v.Export().(*big.Int); ok {
			if u = n.Uint64(); n.Sign() < 0 {
				u = uint64(n.Int64())
			}
		}
	case kindFloat:
		if size == 4 {
			u = uint64(math.Float32bits(float32(v.ToFloat())))
		} else {
			u = math.Float64bits(v.ToFloat())
		}
	default:
		u = uint64(v.ToInteger())
	}
	storeBits(e.mustBytes(c.Argument(0))[offset:offset+size], u, little)
	return e.vm.ToValue(offset + size)
}

func loadBits(b []byte, little bool) (u uint64) {
	var full [8]byte
	if little {
		copy(full[:], b)
		return binary.LittleEndian.Uint64(full[:])
	}
	copy(full[8-len(b):], b)
	return binary.BigEndian.Uint64(full[:])
}

func storeBits(b []byte, u uint64, little bool) {
	var full [8]byte
	if little {
		binary.LittleEndian.PutUint64(full[:], u)
		copy(b, full[:])
		return
	}
	binary.BigEndian.PutUint64(full[:], u)
	copy(b, full[8-len(b):])
}
