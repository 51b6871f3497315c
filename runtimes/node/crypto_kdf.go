package node

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"encoding/binary"
	"hash"
	"math/bits"

	"github.com/dop251/goja"
	//lint:ignore SA1019 scrypt is made of its core.
	"golang.org/x/crypto/salsa20/salsa"
)

// looksEvery is how many rounds a key derivation makes between two looks at its context.
const looksEvery = 1024

// opPBKDF2 is (password, salt, iterations, length, digest).
func opPBKDF2(e *engine, a []goja.Value) func(context.Context) (any, error) {
	password, salt, rounds, length, digest := e.argBytes(a, 0), e.argBytes(a, 1), argInt(a, 2), argInt(a, 3), argText(a, 4)
	return func(ctx context.Context) (any, error) {
		h, err := hmacHash(digest)
		if err != nil {
			return nil, err
		}
		if length > maxBytes {
			return nil, tooLong(maxBytes)
		}
		return pbkdf2(ctx, h, password, salt, rounds, length)
	}
}

// pbkdf2 is RFC 8018's. The one of the standard library cannot be ended.
func pbkdf2(ctx context.Context, h func() hash.Hash, password, salt []byte, rounds, length int) ([]byte, error) {
	mac := hmac.New(h, password)
	size := mac.Size()
	out := make([]byte, 0, length+size)
	u := make([]byte, 0, size)
	done := 0
	for block := uint32(1); len(out) < length; block++ {
		mac.Reset()
		_, _ = mac.Write(salt) // a hash never fails
		_, _ = mac.Write(binary.BigEndian.AppendUint32(nil, block))
		u = mac.Sum(u[:0])
		from := len(out)
		out = append(out, u...)
		t := out[from:]
		for i := 1; ; i++ {
			if done++; done%looksEvery == 0 && ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if i >= rounds {
				break
			}
			mac.Reset()
			_, _ = mac.Write(u)
			u = mac.Sum(u[:0])
			for j, b := range u {
				t[j] ^= b
			}
		}
	}
	return out[:length], nil
}

// opHKDF is (digest, key, salt, info, length).
func opHKDF(e *engine, a []goja.Value) func(context.Context) (any, error) {
	digest, key, salt, info, length := argText(a, 0), e.argBytes(a, 1), e.argBytes(a, 2), e.argBytes(a, 3), argInt(a, 4)
	return func(context.Context) (any, error) {
		h, err := hmacHash(digest)
		if err != nil {
			return nil, err
		}
		if length > 255*h().Size() {
			return nil, cryptoError("RangeError", "ERR_CRYPTO_INVALID_KEYLEN", "Invalid key length")
		}
		return hkdf.Key(h, key, salt, string(info), length)
	}
}

// opScrypt is (password, salt, length, N, r, p, most bytes of memory).
func opScrypt(e *engine, a []goja.Value) func(context.Context) (any, error) {
	password, salt, length := e.argBytes(a, 0), e.argBytes(a, 1), argInt(a, 2)
	n, r, p := a[3].ToFloat(), a[4].ToFloat(), a[5].ToFloat()
	most := min(a[6].ToFloat(), maxBytes)
	return func(ctx context.Context) (any, error) {
		if n < 2 || n >= 1<<32 || bits.OnesCount64(uint64(n)) != 1 || r < 1 || p < 1 || r*p >= 1<<30 || 128*r/8 < 64 && n >= float64(uint64(1)<<(uint(128*r/8))) {
			return nil, cryptoError("RangeError", "ERR_CRYPTO_INVALID_SCRYPT_PARAMS", "Invalid scrypt params")
		}
		if 128*n*r+128*r*p+128*r > most {
			return nil, cryptoError("RangeError", "ERR_CRYPTO_INVALID_SCRYPT_PARAMS", "Invalid scrypt params: error:030000AC:digital envelope routines::memory limit exceeded")
		}
		if length > maxBytes {
			return nil, tooLong(maxBytes)
		}
		return scrypt(ctx, password, salt, int(n), int(r), int(p), length)
	}
}

// scrypt is RFC 7914's. It ends with ctx, which the one of x/crypto does not.
func scrypt(ctx context.Context, password, salt []byte, n, r, p, length int) ([]byte, error) {
	h := hashes["sha256"].make
	b, err := pbkdf2(ctx, h, password, salt, 1, p*128*r)
	if err != nil {
		return nil, err
	}
	v, y := make([]byte, n*128*r), make([]byte, 128*r)
	for i := range p {
		if err := romix(ctx, b[i*128*r:(i+1)*128*r], n, v, y); err != nil {
			return nil, err
		}
	}
	return pbkdf2(ctx, h, password, b, 1, length)
}

// romix mixes x with itself; v has room for n copies of it, y for one.
func romix(ctx context.Context, x []byte, n int, v, y []byte) error {
	size := len(x)
	for i := range n {
		copy(v[i*size:], x)
		blockMix(x, y)
		if i%looksEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	for i := range n {
		j := int(binary.LittleEndian.Uint64(x[size-64:]) & uint64(n-1))
		xorWords(x, v[j*size:(j+1)*size])
		blockMix(x, y)
		if i%looksEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// blockMix replaces x by its mix, with y as room.
func blockMix(x, y []byte) {
	var last [64]byte
	copy(last[:], x[len(x)-64:])
	half := len(x) / 2
	for i := 0; i < len(x); i += 64 {
		xorWords(last[:], x[i:i+64])
		salsa.Core208(&last, &last)
		at := i / 128 * 64
		if i/64%2 == 1 {
			at += half
		}
		copy(y[at:], last[:])
	}
	copy(x, y)
}

func xorWords(to, from []byte) {
	for i := 0; i < len(to); i += 8 {
		binary.LittleEndian.PutUint64(to[i:], binary.LittleEndian.Uint64(to[i:])^binary.LittleEndian.Uint64(from[i:]))
	}
}
