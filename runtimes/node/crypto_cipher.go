package node

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"crypto/subtle"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"golang.org/x/crypto/chacha20"
	"golang.org/x/crypto/chacha20poly1305"
)

// cipherKind is a cipher of node:crypto.
type cipherKind struct {
	name  string
	mode  string // "cbc", "ctr", "ecb", "gcm", "stream" (chacha20-poly1305)
	key   int    // bytes
	iv    int    // bytes; 0 for none
	nid   int
	block int
}

// ciphers are the ciphers by their names in lower case.
var ciphers = func() map[string]cipherKind {
	all := map[string]cipherKind{}
	nids := map[string][3]int{"ecb": {418, 422, 426}, "cbc": {419, 423, 427}, "ctr": {904, 905, 906}, "gcm": {895, 898, 901}}
	for i, bits := range []string{"128", "192", "256"} {
		for mode, nid := range nids {
			k := cipherKind{name: "aes-" + bits + "-" + mode, mode: mode, key: 16 + 8*i, iv: 16, nid: nid[i], block: 16}
			switch mode {
			case "ecb":
				k.iv = 0
			case "gcm":
				k.name, k.iv, k.block = "id-aes"+bits+"-gcm", 12, 1
				all["id-aes"+bits+"-gcm"] = k
			case "ctr":
				k.block = 1
			case "cbc":
				all["aes"+bits] = k
			}
			all["aes-"+bits+"-"+mode] = k
		}
	}
	all["chacha20-poly1305"] = cipherKind{name: "chacha20-poly1305", mode: "stream", key: 32, iv: 12, nid: 1018, block: 1}
	all["des-ede3-cbc"] = cipherKind{name: "des-ede3-cbc", mode: "cbc", key: 24, iv: 8, nid: 44, block: 8}
	return all
}()

func cipherNames() []string {
	var names []string
	for name := range ciphers {
		names = append(names, strings.Replace(name, "-gcm", "-GCM", btoi(strings.HasPrefix(name, "id-"))))
	}
	slices.Sort(names)
	return names
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// authenticated reports whether a cipher makes a tag.
func (k cipherKind) authenticated() bool { return k.mode == "gcm" || k.mode == "stream" }

// crypt is a running cipher. Those that make a tag keep the plain text, over which the tag
// is made at the end: the standard library makes both in one go only.
type crypt struct {
	kind    cipherKind
	decrypt bool
	block   cipher.Block
	mode    cipher.BlockMode // of cbc and ecb
	stream  cipher.Stream    // of the others
	aead    cipher.AEAD      // of those that make a tag
	nonce   []byte
	aad     []byte
	plain   []byte // what was encrypted or decrypted so far, where a tag is made
	rest    []byte // less than a block, or the block that may be the padding
	padding bool
	tag     []byte // that was given, or was made
}

var errUnauthentic = &scriptError{message: "Unsupported state or unable to authenticate data"}

func newCrypt(kind cipherKind, decrypt bool, key, iv []byte) (*crypt, error) {
	c := &crypt{kind: kind, decrypt: decrypt, nonce: iv, padding: true}
	if len(key) != kind.key {
		return nil, cryptoError("RangeError", "ERR_CRYPTO_INVALID_KEYLEN", "Invalid key length")
	}
	badIV := cryptoError("TypeError", "ERR_CRYPTO_INVALID_IV", "Invalid initialization vector")
	switch {
	case kind.mode == "gcm" && len(iv) == 0, kind.mode == "stream" && (len(iv) == 0 || len(iv) > kind.iv), kind.mode != "gcm" && kind.mode != "stream" && len(iv) != kind.iv:
		return nil, badIV
	}
	var err error
	if kind.mode == "stream" {
		c.nonce = append(make([]byte, kind.iv-len(iv)), iv...) // a short one counts as one with zeros before it
		if c.aead, err = chacha20poly1305.New(key); err != nil {
			return nil, err
		}
		s, err := chacha20.NewUnauthenticatedCipher(key, c.nonce)
		if err != nil {
			return nil, err
		}
		s.SetCounter(1)
		c.stream = s
		return c, nil
	}
	if kind.name == "des-ede3-cbc" {
		c.block, err = des.NewTripleDESCipher(key)
	} else {
		c.block, err = aes.NewCipher(key)
	}
	if err != nil {
		return nil, err
	}
	switch kind.mode {
	case "cbc":
		if decrypt {
			c.mode = cipher.NewCBCDecrypter(c.block, iv)
		} else {
			c.mode = cipher.NewCBCEncrypter(c.block, iv)
		}
	case "ecb":
		c.mode = &ecb{c.block, decrypt}
	case "ctr":
		c.stream = cipher.NewCTR(c.block, iv)
	case "gcm":
		if c.aead, err = cipher.NewGCMWithNonceSize(c.block, len(iv)); err != nil {
			return nil, badIV
		}
		c.stream = newGCMStream(c.block, c.aead, iv)
	}
	return c, nil
}

// ecb is a block mode without any chaining.
type ecb struct {
	block   cipher.Block
	decrypt bool
}

func (m *ecb) BlockSize() int { return m.block.BlockSize() }
func (m *ecb) CryptBlocks(dst, src []byte) {
	for size := m.block.BlockSize(); len(src) > 0; src, dst = src[size:], dst[size:] {
		if m.decrypt {
			m.block.Decrypt(dst, src)
		} else {
			m.block.Encrypt(dst, src)
		}
	}
}

// gcmStream is the key stream of GCM. Of its counter only the last 32 bits count.
type gcmStream struct {
	block   cipher.Block
	counter [16]byte
	stream  cipher.Stream
	left    uint64 // bytes until the 32 bits begin again
}

func newGCMStream(block cipher.Block, aead cipher.AEAD, iv []byte) *gcmStream {
	s := &gcmStream{block: block}
	// The tag of nothing is the first block of the key stream, so this is where it begins,
	// for a nonce of any length.
	block.Decrypt(s.counter[:], aead.Seal(nil, iv, nil, nil))
	s.begin(binary.BigEndian.Uint32(s.counter[12:]) + 1)
	return s
}

func (s *gcmStream) begin(count uint32) {
	binary.BigEndian.PutUint32(s.counter[12:], count)
	s.stream = cipher.NewCTR(s.block, s.counter[:])
	s.left = (1<<32 - uint64(count)) * 16
}

func (s *gcmStream) XORKeyStream(dst, src []byte) {
	for len(src) > 0 {
		if s.left == 0 {
			s.begin(0)
		}
		n := int(min(uint64(len(src)), s.left))
		s.stream.XORKeyStream(dst[:n], src[:n])
		s.left -= uint64(n)
		dst, src = dst[n:], src[n:]
	}
}

func (c *crypt) update(in []byte) ([]byte, error) {
	if c.stream != nil {
		out := make([]byte, len(in))
		c.stream.XORKeyStream(out, in)
		if c.aead != nil {
			if len(c.plain)+len(in) > maxBytes {
				return nil, tooLong(maxBytes)
			}
			if c.decrypt {
				c.plain = append(c.plain, out...)
			} else {
				c.plain = append(c.plain, in...)
			}
		}
		return out, nil
	}
	size := c.mode.BlockSize()
	all := append(c.rest, in...)
	n := len(all) / size * size
	if c.decrypt && c.padding && n == len(all) && n > 0 {
		n -= size // it may be the padding
	}
	out := make([]byte, n)
	c.mode.CryptBlocks(out, all[:n])
	c.rest = bytes.Clone(all[n:])
	return out, nil
}

func (c *crypt) final() ([]byte, error) {
	if c.aead != nil {
		sealed := c.aead.Seal(nil, c.nonce, c.plain, c.aad)
		tag := sealed[len(sealed)-c.aead.Overhead():]
		c.plain = nil
		if !c.decrypt {
			c.tag = tag
			return nil, nil
		}
		if len(c.tag) == 0 || subtle.ConstantTimeCompare(tag[:len(c.tag)], c.tag) != 1 {
			return nil, errUnauthentic
		}
		return nil, nil
	}
	if c.stream != nil {
		return nil, nil
	}
	size := c.mode.BlockSize()
	wrongLength := &opensslError{"1C80006B", "Provider routines", "wrong final block length", "ERR_OSSL_WRONG_FINAL_BLOCK_LENGTH"}
	if !c.padding {
		if len(c.rest) > 0 {
			return nil, wrongLength
		}
		return nil, nil
	}
	if !c.decrypt {
		n := size - len(c.rest)
		block := append(c.rest, bytes.Repeat([]byte{byte(n)}, n)...)
		c.mode.CryptBlocks(block, block)
		return block, nil
	}
	if len(c.rest) != size {
		return nil, wrongLength
	}
	block := make([]byte, size)
	c.mode.CryptBlocks(block, c.rest)
	n := int(block[size-1])
	if n == 0 || n > size || !bytes.Equal(block[size-n:], bytes.Repeat([]byte{byte(n)}, n)) {
		return nil, &opensslError{"1C800064", "Provider routines", "bad decrypt", "ERR_OSSL_BAD_DECRYPT"}
	}
	return block[:size-n], nil
}

// openCipher is (name, decrypt, key, iv) → {update, final, aad, tag, setTag, padding, authenticated, …},
// or undefined for an unknown cipher.
func (e *engine) openCipher(call goja.FunctionCall) goja.Value {
	kind, ok := ciphers[strings.ToLower(call.Argument(0).String())]
	if !ok {
		return goja.Undefined()
	}
	var iv []byte
	if v := optional(call.Argument(3)); v != nil {
		iv = bytes.Clone(e.mustBytes(v))
	}
	c, err := newCrypt(kind, call.Argument(1).ToBoolean(), e.mustBytes(call.Argument(2)), iv)
	if err != nil {
		panic(e.cryptoErrorValue(err))
	}
	give := func(b []byte, err error) goja.Value {
		if err != nil {
			panic(e.cryptoErrorValue(err))
		}
		return e.vm.ToValue(e.vm.NewArrayBuffer(b))
	}
	return e.object(map[string]any{
		"mode":          kind.mode,
		"authenticated": kind.authenticated(),
		"update":        func(a goja.FunctionCall) goja.Value { return give(c.update(e.mustBytes(a.Argument(0)))) },
		"final":         func(goja.FunctionCall) goja.Value { return give(c.final()) },
		"aad": func(a goja.FunctionCall) goja.Value {
			c.aad = append(c.aad, e.mustBytes(a.Argument(0))...)
			return goja.Undefined()
		},
		"tag": func(goja.FunctionCall) goja.Value { return give(bytes.Clone(c.tag), nil) },
		"setTag": func(a goja.FunctionCall) goja.Value {
			c.tag = bytes.Clone(e.mustBytes(a.Argument(0)))
			return goja.Undefined()
		},
		"padding": func(a goja.FunctionCall) goja.Value {
			c.padding = a.Argument(0).ToBoolean()
			return goja.Undefined()
		},
	})
}

// cipherInfo is (name or number) → [mode, name, nid, block size, length of iv, length of key], or undefined.
func (e *engine) cipherInfo(c goja.FunctionCall) goja.Value {
	kind, ok := ciphers[strings.ToLower(c.Argument(0).String())]
	for _, k := range ciphers {
		if !ok && int64(k.nid) == c.Argument(0).ToInteger() {
			kind, ok = k, true
		}
	}
	if !ok {
		return goja.Undefined()
	}
	return e.vm.NewArray(kind.mode, kind.name, kind.nid, kind.block, kind.iv, kind.key)
}
