package node

import (
	"bytes"
	"context"
	"crypto"
	"crypto/aes"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/subtle"
	"encoding/asn1"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"

	"github.com/dop251/goja"
)

// Paddings of RSA, as OpenSSL numbers them.
const (
	paddingPKCS1 = 1
	paddingOAEP  = 4
	paddingPSS   = 6
)

// maxGeneratedModulus is how many bits an RSA key may have that is made here. Making one takes
// seconds that nothing can end.
const maxGeneratedModulus = 4096

// opGenerate is (type, bits, curve) → [public, private].
func opGenerate(_ *engine, a []goja.Value) func(context.Context) (any, error) {
	kind, bits, curve := argText(a, 0), argInt(a, 1), argText(a, 2)
	return func(context.Context) (any, error) {
		var made any
		var err error
		switch kind {
		case "rsa":
			if bits > maxGeneratedModulus {
				return nil, cryptoError("RangeError", "ERR_OUT_OF_RANGE", "RSA keys of more than %d bits are not made here: it takes longer than a call has", maxGeneratedModulus)
			}
			if bits < 1024 {
				return nil, cryptoError("RangeError", "ERR_OUT_OF_RANGE", "RSA keys of less than 1024 bits are not made here: they protect nothing")
			}
			made, err = rsa.GenerateKey(rand.Reader, bits)
		case "ec":
			c := curveOf(curve)
			if c == nil {
				return nil, cryptoError("TypeError", "ERR_CRYPTO_INVALID_CURVE", "Invalid EC curve name")
			}
			made, err = ecdsa.GenerateKey(c, rand.Reader)
		case "ed25519":
			_, made, err = ed25519.GenerateKey(rand.Reader)
		case "x25519":
			made, err = ecdh.X25519().GenerateKey(rand.Reader)
		default:
			return nil, cryptoError("TypeError", "ERR_UNSUPPORTED_IN_HOST", "keys of type %q are not made here; there are rsa, ec, ed25519 and x25519", kind)
		}
		if err != nil {
			return nil, fmt.Errorf("making a key: %w", err)
		}
		k, err := newKey(made)
		if err != nil {
			return nil, err
		}
		return []*cryptoKey{{public: k.public}, k}, nil
	}
}

// signing is what opSign and opVerify take: (digest or "", data, key, padding, salt length, IEEE form).
type signing struct {
	digest  string
	data    []byte
	key     *cryptoKey
	padding int
	salt    int
	ieee    bool
}

func (e *engine) signing(a []goja.Value) signing {
	return signing{argText(a, 0), e.argBytes(a, 1), argKey(a, 2), argInt(a, 3), argInt(a, 4), a[5].ToBoolean()}
}

// hashed gives the digest of the data.
func (s signing) hashed() (crypto.Hash, []byte, error) {
	name := s.digest
	if name == "" {
		name = "sha256" // what Node takes for keys of these types
	}
	h, ok := hashes[hashName(name)]
	if !ok || h.variable || h.id == 0 {
		return 0, nil, invalidDigest(name)
	}
	sum := h.make()
	_, _ = sum.Write(s.data) // a hash never fails
	return h.id, sum.Sum(nil), nil
}

// pss turns Node's length of a salt, where -1 is that of the digest and -2 any, into Go's.
func (s signing) pss(id crypto.Hash) (*rsa.PSSOptions, error) {
	o := &rsa.PSSOptions{Hash: id, SaltLength: s.salt}
	switch s.salt {
	case -2:
		o.SaltLength = rsa.PSSSaltLengthAuto
	case -1:
		o.SaltLength = rsa.PSSSaltLengthEqualsHash
	case 0:
		return nil, cryptoError("", "ERR_UNSUPPORTED_IN_HOST", "PSS without a salt is not available here")
	}
	return o, nil
}

var errNoSigning = cryptoError("", "ERR_OSSL_EVP_OPERATION_NOT_SUPPORTED_FOR_THIS_KEYTYPE", "error:03000096:digital envelope routines::operation not supported for this keytype")

func opSign(e *engine, a []goja.Value) func(context.Context) (any, error) {
	s := e.signing(a)
	return func(context.Context) (any, error) {
		switch k := s.key.private.(type) {
		case ed25519.PrivateKey:
			if s.digest != "" {
				return nil, cryptoError("", "ERR_OSSL_INVALID_DIGEST", "error:1C800080:Provider routines::invalid digest")
			}
			return ed25519.Sign(k, s.data), nil
		case *ecdsa.PrivateKey:
			_, sum, err := s.hashed()
			if err != nil {
				return nil, err
			}
			der, err := ecdsa.SignASN1(rand.Reader, k, sum)
			if err != nil || !s.ieee {
				return der, err
			}
			return toIEEE(der, k.Curve.Params().N)
		case *rsa.PrivateKey:
			id, sum, err := s.hashed()
			if err != nil {
				return nil, err
			}
			if s.padding == paddingPSS {
				o, err := s.pss(id)
				if err != nil {
					return nil, err
				}
				return rsa.SignPSS(rand.Reader, k, id, sum, o)
			}
			if s.padding != paddingPKCS1 {
				return nil, errPadding
			}
			return rsa.SignPKCS1v15(nil, k, id, sum)
		}
		return nil, errNoSigning
	}
}

// opVerify is as opSign, and the signature.
func opVerify(e *engine, a []goja.Value) func(context.Context) (any, error) {
	s, signature := e.signing(a), e.argBytes(a, 6)
	return func(context.Context) (any, error) {
		switch k := s.key.public.(type) {
		case ed25519.PublicKey:
			return ed25519.Verify(k, s.data, signature), nil
		case *ecdsa.PublicKey:
			_, sum, err := s.hashed()
			if err != nil {
				return nil, err
			}
			if s.ieee {
				if signature = fromIEEE(signature, k.Curve.Params().N); signature == nil {
					return false, nil
				}
			}
			return ecdsa.VerifyASN1(k, sum, signature), nil
		case *rsa.PublicKey:
			id, sum, err := s.hashed()
			if err != nil {
				return nil, err
			}
			if s.padding == paddingPSS {
				o, err := s.pss(id)
				if err != nil {
					return nil, err
				}
				return rsa.VerifyPSS(k, id, sum, signature, o) == nil, nil
			}
			if s.padding != paddingPKCS1 {
				return nil, errPadding
			}
			return rsa.VerifyPKCS1v15(k, id, sum, signature) == nil, nil
		}
		return nil, errNoSigning
	}
}

type ecdsaSignature struct{ R, S *big.Int }

// toIEEE writes the two numbers of a signature one after the other, each as long as the order of the curve.
func toIEEE(der []byte, order *big.Int) ([]byte, error) {
	var s ecdsaSignature
	if _, err := asn1.Unmarshal(der, &s); err != nil {
		return nil, err
	}
	size := (order.BitLen() + 7) / 8
	out := make([]byte, 2*size)
	s.R.FillBytes(out[:size])
	s.S.FillBytes(out[size:])
	return out, nil
}

func fromIEEE(b []byte, order *big.Int) []byte {
	size := (order.BitLen() + 7) / 8
	if len(b) != 2*size {
		return nil
	}
	der, err := asn1.Marshal(ecdsaSignature{new(big.Int).SetBytes(b[:size]), new(big.Int).SetBytes(b[size:])})
	if err != nil {
		return nil
	}
	return der
}

var (
	errPadding    = cryptoError("", "ERR_UNSUPPORTED_IN_HOST", "this padding of RSA is not available here; there are RSA_PKCS1_PADDING, RSA_PKCS1_OAEP_PADDING and RSA_PKCS1_PSS_PADDING")
	errTooLarge   = &opensslError{"0200006E", "rsa routines", "data too large for key size", "ERR_OSSL_RSA_DATA_TOO_LARGE_FOR_KEY_SIZE"}
	errOAEP       = &opensslError{"02000079", "rsa routines", "oaep decoding error", "ERR_OSSL_RSA_OAEP_DECODING_ERROR"}
	errNotRSA     = cryptoError("", "ERR_OSSL_EVP_OPERATION_NOT_SUPPORTED_FOR_THIS_KEYTYPE", "error:03000096:digital envelope routines::operation not supported for this keytype")
	errPublicData = &opensslError{"02000072", "rsa routines", "padding check failed", "ERR_OSSL_RSA_PADDING_CHECK_FAILED"}
)

// opEncryptRSA is (key, data, padding, hash, label).
func opEncryptRSA(e *engine, a []goja.Value) func(context.Context) (any, error) {
	k, data, padding, digest, label := argKey(a, 0), e.argBytes(a, 1), argInt(a, 2), argText(a, 3), e.argBytes(a, 4)
	return func(context.Context) (any, error) {
		public, ok := k.public.(*rsa.PublicKey)
		if !ok {
			return nil, errNotRSA
		}
		var out []byte
		var err error
		switch padding {
		case paddingOAEP:
			h, herr := hmacHash(digest)
			if herr != nil {
				return nil, herr
			}
			out, err = rsa.EncryptOAEP(h(), rand.Reader, public, data, label)
		case paddingPKCS1:
			//lint:ignore SA1019 Script asks for it by its name.
			out, err = rsa.EncryptPKCS1v15(rand.Reader, public, data)
		default:
			return nil, errPadding
		}
		if errors.Is(err, rsa.ErrMessageTooLong) {
			return nil, errTooLarge
		}
		return out, err
	}
}

// opDecryptRSA is (key, data, hash, label); the padding is OAEP.
func opDecryptRSA(e *engine, a []goja.Value) func(context.Context) (any, error) {
	k, data, digest, label := argKey(a, 0), e.argBytes(a, 1), argText(a, 2), e.argBytes(a, 3)
	return func(context.Context) (any, error) {
		private, ok := k.private.(*rsa.PrivateKey)
		if !ok {
			return nil, errNotRSA
		}
		h, err := hmacHash(digest)
		if err != nil {
			return nil, err
		}
		out, err := rsa.DecryptOAEP(h(), nil, private, data, label)
		if err != nil {
			return nil, errOAEP
		}
		return out, nil
	}
}

// opPrivateEncrypt is (key, data): what a signature is made of, without a hash.
func opPrivateEncrypt(e *engine, a []goja.Value) func(context.Context) (any, error) {
	k, data := argKey(a, 0), e.argBytes(a, 1)
	return func(context.Context) (any, error) {
		private, ok := k.private.(*rsa.PrivateKey)
		if !ok {
			return nil, errNotRSA
		}
		out, err := rsa.SignPKCS1v15(nil, private, 0, data)
		if errors.Is(err, rsa.ErrMessageTooLong) {
			return nil, errTooLarge
		}
		return out, err
	}
}

// opPublicDecrypt is (key, data): gives back what opPrivateEncrypt was given.
func opPublicDecrypt(e *engine, a []goja.Value) func(context.Context) (any, error) {
	k, data := argKey(a, 0), e.argBytes(a, 1)
	return func(context.Context) (any, error) {
		public, ok := k.public.(*rsa.PublicKey)
		if !ok {
			return nil, errNotRSA
		}
		c := new(big.Int).SetBytes(data)
		if c.Cmp(public.N) >= 0 {
			return nil, errTooLarge
		}
		block := c.Exp(c, big.NewInt(int64(public.E)), public.N).FillBytes(make([]byte, public.Size()))
		end := bytes.IndexByte(block[2:], 0) + 2
		if block[0] != 0 || block[1] != 1 || end < 10 || bytes.Count(block[2:end], []byte{0xff}) != end-2 {
			return nil, errPublicData
		}
		return block[end+1:], nil
	}
}

// opAgree is (private key, public key): the secret that both sides get.
func opAgree(_ *engine, a []goja.Value) func(context.Context) (any, error) {
	mine, theirs := argKey(a, 0), argKey(a, 1)
	return func(context.Context) (any, error) {
		private, ok := mine.private.(*ecdh.PrivateKey)
		if k, isEC := mine.private.(*ecdsa.PrivateKey); isEC {
			var err error
			if private, err = k.ECDH(); err != nil {
				return nil, err
			}
			ok = true
		}
		public, known := theirs.public.(*ecdh.PublicKey)
		if k, isEC := theirs.public.(*ecdsa.PublicKey); isEC {
			var err error
			if public, err = k.ECDH(); err != nil {
				return nil, err
			}
			known = true
		}
		if !ok || !known || private.Curve() != public.Curve() {
			return nil, &opensslError{"03000099", "digital envelope routines", "different parameters", "ERR_OSSL_EVP_DIFFERENT_PARAMETERS"}
		}
		return private.ECDH(public)
	}
}

// wrapStart is what a wrapped key begins with (RFC 3394).
const wrapStart = 0xa6a6a6a6a6a6a6a6

// opWrapAES is (key, data).
func opWrapAES(e *engine, a []goja.Value) func(context.Context) (any, error) {
	k, data := argKey(a, 0), e.argBytes(a, 1)
	return func(context.Context) (any, error) {
		block, err := aes.NewCipher(k.secret)
		if err != nil {
			return nil, err
		}
		n := len(data) / 8
		if n < 2 || len(data)%8 != 0 {
			return nil, errors.New("what is wrapped must be a multiple of 8 bytes, and 16 at least")
		}
		out := append(binary.BigEndian.AppendUint64(nil, wrapStart), data...)
		var b [16]byte
		for j := range 6 {
			for i := 1; i <= n; i++ {
				copy(b[:8], out[:8])
				copy(b[8:], out[8*i:])
				block.Encrypt(b[:], b[:])
				binary.BigEndian.PutUint64(out, binary.BigEndian.Uint64(b[:])^uint64(n*j+i))
				copy(out[8*i:8*i+8], b[8:])
			}
		}
		return out, nil
	}
}

// opUnwrapAES is (key, data).
func opUnwrapAES(e *engine, a []goja.Value) func(context.Context) (any, error) {
	k, data := argKey(a, 0), e.argBytes(a, 1)
	return func(context.Context) (any, error) {
		block, err := aes.NewCipher(k.secret)
		if err != nil {
			return nil, err
		}
		n := len(data)/8 - 1
		if n < 2 || len(data)%8 != 0 {
			return nil, errors.New("this is no wrapped key")
		}
		var b [16]byte
		for j := 5; j >= 0; j-- {
			for i := n; i >= 1; i-- {
				binary.BigEndian.PutUint64(b[:], binary.BigEndian.Uint64(data)^uint64(n*j+i))
				copy(b[8:], data[8*i:8*i+8])
				block.Decrypt(b[:], b[:])
				copy(data, b[:8])
				copy(data[8*i:8*i+8], b[8:])
			}
		}
		if subtle.ConstantTimeCompare(data[:8], binary.BigEndian.AppendUint64(nil, wrapStart)) != 1 {
			return nil, errors.New("this is no wrapped key, or not of this one")
		}
		return data[8:], nil
	}
}
