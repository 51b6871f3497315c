package node

import (
	"crypto"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"hash"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/dop251/goja"
	"golang.org/x/crypto/blake2b"
	"golang.org/x/crypto/blake2s"
	//lint:ignore SA1019 Node has it, and old checksums are made with it.
	"golang.org/x/crypto/ripemd160"
)

// hashFunction is a hash function of node:crypto.
type hashFunction struct {
	make     func() hash.Hash
	id       crypto.Hash // for signatures; 0 where none can be made with it
	variable bool        // its output is as long as wanted
	aliases  []string
}

func withoutKey(make func(key []byte) (hash.Hash, error)) func() hash.Hash {
	return func() hash.Hash {
		h, err := make(nil)
		if err != nil {
			panic(err) // only a key that is too long fails
		}
		return h
	}
}

// hashes are the hash functions by Node's names, in lower case.
var hashes = map[string]hashFunction{
	"md5":        {make: md5.New, id: crypto.MD5, aliases: []string{"RSA-MD5", "md5WithRSAEncryption", "ssl3-md5"}},
	"sha1":       {make: sha1.New, id: crypto.SHA1, aliases: []string{"RSA-SHA1", "RSA-SHA1-2", "sha1WithRSAEncryption", "ssl3-sha1"}},
	"sha224":     {make: sha256.New224, id: crypto.SHA224, aliases: []string{"RSA-SHA224", "sha224WithRSAEncryption"}},
	"sha256":     {make: sha256.New, id: crypto.SHA256, aliases: []string{"RSA-SHA256", "sha256WithRSAEncryption"}},
	"sha384":     {make: sha512.New384, id: crypto.SHA384, aliases: []string{"RSA-SHA384", "sha384WithRSAEncryption"}},
	"sha512":     {make: sha512.New, id: crypto.SHA512, aliases: []string{"RSA-SHA512", "sha512WithRSAEncryption"}},
	"sha512-224": {make: sha512.New512_224, id: crypto.SHA512_224, aliases: []string{"RSA-SHA512/224", "sha512-224WithRSAEncryption"}},
	"sha512-256": {make: sha512.New512_256, id: crypto.SHA512_256, aliases: []string{"RSA-SHA512/256", "sha512-256WithRSAEncryption"}},
	"sha3-224":   {make: func() hash.Hash { return sha3.New224() }, id: crypto.SHA3_224, aliases: []string{"RSA-SHA3-224", "id-rsassa-pkcs1-v1_5-with-sha3-224"}},
	"sha3-256":   {make: func() hash.Hash { return sha3.New256() }, id: crypto.SHA3_256, aliases: []string{"RSA-SHA3-256", "id-rsassa-pkcs1-v1_5-with-sha3-256"}},
	"sha3-384":   {make: func() hash.Hash { return sha3.New384() }, id: crypto.SHA3_384, aliases: []string{"RSA-SHA3-384", "id-rsassa-pkcs1-v1_5-with-sha3-384"}},
	"sha3-512":   {make: func() hash.Hash { return sha3.New512() }, id: crypto.SHA3_512, aliases: []string{"RSA-SHA3-512", "id-rsassa-pkcs1-v1_5-with-sha3-512"}},
	"shake128":   {make: func() hash.Hash { return &shake{sha3.NewSHAKE128(), sha3.NewSHAKE128, 16} }, variable: true},
	"shake256":   {make: func() hash.Hash { return &shake{sha3.NewSHAKE256(), sha3.NewSHAKE256, 32} }, variable: true},
	"ripemd160":  {make: ripemd160.New, id: crypto.RIPEMD160, aliases: []string{"RSA-RIPEMD160", "ripemd", "ripemd160WithRSA", "rmd160"}},
	"blake2b512": {make: withoutKey(blake2b.New512)},
	"blake2s256": {make: withoutKey(blake2s.New256)},
}

// hashAliases gives the name in hashes of the other names, in lower case.
var hashAliases = func() map[string]string {
	all := map[string]string{}
	for name, h := range hashes {
		for _, alias := range h.aliases {
			all[strings.ToLower(alias)] = name
		}
	}
	return all
}()

// hashName gives the name in hashes that a name of script means.
func hashName(name string) string {
	name = strings.ToLower(name)
	if known, ok := hashAliases[name]; ok {
		return known
	}
	if rest, ok := strings.CutPrefix(name, "sha-"); ok && len(rest) == 3 || name == "sha-1" { // as the web writes it
		return "sha" + rest
	}
	return name
}

func hashNames() []string {
	var names []string
	for name, h := range hashes {
		names = append(append(names, name), h.aliases...)
	}
	slices.Sort(names)
	return names
}

// shake is a hash whose output is as long as wanted; size is how long it is otherwise.
type shake struct {
	*sha3.SHAKE
	make func() *sha3.SHAKE
	size int
}

func (s *shake) Size() int           { return s.size }
func (s *shake) Sum(b []byte) []byte { return append(b, s.read(s.size)...) }

// copy gives another one with the same state.
func (s *shake) copy() *shake {
	other := s.make()
	saved, err := s.MarshalBinary()
	if err == nil {
		err = other.UnmarshalBinary(saved)
	}
	if err != nil {
		panic(err) // its own state is always right
	}
	return &shake{other, s.make, s.size}
}

// read gives n bytes of output, and leaves the state as it is.
func (s *shake) read(n int) []byte {
	out := make([]byte, n)
	_, _ = io.ReadFull(s.copy().SHAKE, out) // it never ends
	return out
}

// cloneHash copies the state of a hash; nil where that cannot be done.
func cloneHash(h hash.Hash) hash.Hash {
	switch h := h.(type) {
	case *shake:
		return h.copy()
	case hash.Cloner:
		if other, err := h.Clone(); err == nil {
			return other
		}
	}
	// The others hold nothing but numbers, so that a copy of the struct is a copy of the state.
	v := reflect.ValueOf(h)
	if v.Kind() != reflect.Pointer {
		return nil
	}
	other := reflect.New(v.Elem().Type())
	other.Elem().Set(v.Elem())
	made, _ := other.Interface().(hash.Hash)
	return made
}

// openHash is (algorithm, key or undefined, output length or undefined) → {update, digest, copy},
// or undefined for an unknown algorithm.
func (e *engine) openHash(c goja.FunctionCall) goja.Value {
	h, ok := hashes[hashName(c.Argument(0).String())]
	if !ok {
		return goja.Undefined()
	}
	if key := optional(c.Argument(1)); key != nil {
		if h.variable {
			return goja.Undefined()
		}
		return e.hasher(hmac.New(h.make, e.mustBytes(key)), 0)
	}
	made, length := h.make(), 0
	if v := optional(c.Argument(2)); v != nil {
		length = int(v.ToInteger())
		if !h.variable && length != made.Size() {
			panic(e.cryptoErrorValue(&opensslError{"030000B2", "digital envelope routines", "not XOF or invalid length", "ERR_OSSL_EVP_NOT_XOF_OR_INVALID_LENGTH"}))
		}
		if length > maxBytes {
			panic(e.errorValue(tooLong(maxBytes)))
		}
		if s, ok := made.(*shake); ok && length == 0 {
			s.size = 0
		}
	}
	return e.hasher(made, length)
}

func (e *engine) hasher(h hash.Hash, length int) goja.Value {
	return e.object(map[string]any{
		"update": func(c goja.FunctionCall) goja.Value {
			_, _ = h.Write(e.mustBytes(c.Argument(0))) // a hash never fails
			return goja.Undefined()
		},
		"digest": func(goja.FunctionCall) goja.Value {
			if s, ok := h.(*shake); ok && length > 0 {
				return e.vm.ToValue(e.vm.NewArrayBuffer(s.read(length)))
			}
			return e.vm.ToValue(e.vm.NewArrayBuffer(h.Sum(nil)))
		},
		"copy": func(c goja.FunctionCall) goja.Value { // (output length or undefined)
			other := cloneHash(h)
			if other == nil {
				panic(e.newError("Error", "ERR_UNSUPPORTED_IN_HOST", "the state of this hash cannot be copied here"))
			}
			n := length
			if v := optional(c.Argument(0)); v != nil {
				n = int(v.ToInteger())
			}
			return e.hasher(other, n)
		},
	})
}
