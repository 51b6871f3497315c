package node

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"crypto/subtle"
	"encoding"
	"fmt"
	"hash"

	"github.com/dop251/goja"
)

// hashes are the hash functions by Node's names.
var hashes = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha224": sha256.New224, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New,
	"sha512-224": sha512.New512_224, "sha512-256": sha512.New512_256,
	"sha3-256": func() hash.Hash { return sha3.New256() }, "sha3-384": func() hash.Hash { return sha3.New384() }, "sha3-512": func() hash.Hash { return sha3.New512() },
}

func loadCrypto(e *engine) goja.Value {
	return cryptoLibrary.load(e, e.object(map[string]any{
		// (bytes): fills them with random ones
		"random": func(c goja.FunctionCall) goja.Value {
			_, _ = rand.Read(e.mustBytes(c.Argument(0))) // it never fails
			return goja.Undefined()
		},
		"uuid": func(goja.FunctionCall) goja.Value {
			var u [16]byte
			_, _ = rand.Read(u[:])
			u[6], u[8] = u[6]&0x0f|0x40, u[8]&0x3f|0x80
			return e.vm.ToValue(fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:]))
		},
		"equal": func(c goja.FunctionCall) goja.Value {
			return e.vm.ToValue(subtle.ConstantTimeCompare(e.mustBytes(c.Argument(0)), e.mustBytes(c.Argument(1))) == 1)
		},
		// (algorithm, key or undefined) → {update, digest, copy}, or undefined for an unknown algorithm
		"hash": func(c goja.FunctionCall) goja.Value {
			make, ok := hashes[c.Argument(0).String()]
			if !ok {
				return goja.Undefined()
			}
			if key := optional(c.Argument(1)); key != nil {
				return e.hasher(hmac.New(make, e.mustBytes(key)), make)
			}
			return e.hasher(make(), make)
		},
		"names": func() goja.Value {
			o := e.vm.NewObject()
			for name := range hashes {
				_ = o.Set(name, true) // a plain object
			}
			return o
		}(),
	}))
}

func (e *engine) hasher(h hash.Hash, make func() hash.Hash) goja.Value {
	return e.object(map[string]any{
		"update": func(c goja.FunctionCall) goja.Value {
			_, _ = h.Write(e.mustBytes(c.Argument(0))) // a hash never fails
			return goja.Undefined()
		},
		"digest": func(goja.FunctionCall) goja.Value { return e.vm.ToValue(e.vm.NewArrayBuffer(h.Sum(nil))) },
		"copy": func(goja.FunctionCall) goja.Value {
			state, ok := h.(encoding.BinaryMarshaler)
			if !ok {
				return goja.Undefined()
			}
			saved, err := state.MarshalBinary()
			if err != nil {
				return goja.Undefined()
			}
			other := make()
			if err := other.(encoding.BinaryUnmarshaler).UnmarshalBinary(saved); err != nil {
				return goja.Undefined()
			}
			return e.hasher(other, make)
		},
	})
}
