package node

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/subtle"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"strconv"
	"strings"

	"github.com/dop251/goja"
)

const (
	maxKeySize = 64 << 10 // bytes of an encoded key
	maxModulus = 16384    // bits of an RSA key, as OpenSSL has it
)

// cryptoKey is a key that script holds. Script sees nothing of it: what it may know is told
// by keyValue.
type cryptoKey struct {
	secret  []byte
	public  crypto.PublicKey  // of an asymmetric key, also of a private one
	private crypto.PrivateKey // nil for public keys
}

func (k *cryptoKey) kind() string {
	switch {
	case k.public == nil:
		return "secret"
	case k.private == nil:
		return "public"
	}
	return "private"
}

// keyValue tells script what a key is: {handle, kind, type, curve, bits, exponent, size}.
func (e *engine) keyValue(k *cryptoKey) goja.Value {
	members := map[string]any{"handle": e.vm.ToValue(k), "kind": k.kind(), "size": len(k.secret)}
	switch p := k.public.(type) {
	case *rsa.PublicKey:
		members["type"], members["bits"], members["exponent"] = "rsa", p.N.BitLen(), p.E
	case *ecdsa.PublicKey:
		members["type"], members["curve"] = "ec", curveName(p.Curve)
	case ed25519.PublicKey:
		members["type"] = "ed25519"
	case *ecdh.PublicKey:
		members["type"] = "x25519"
	}
	return e.object(members)
}

func argKey(a []goja.Value, i int) *cryptoKey {
	if i < len(a) {
		if k, ok := a[i].Export().(*cryptoKey); ok {
			return k
		}
	}
	return &cryptoKey{}
}

var errUndecodable = &opensslError{"1E08010C", "DECODER routines", "unsupported", "ERR_OSSL_UNSUPPORTED"}

// curves are the curves by the names of OpenSSL and of the web.
func curveOf(name string) elliptic.Curve {
	switch name {
	case "secp224r1", "P-224":
		return elliptic.P224()
	case "prime256v1", "P-256":
		return elliptic.P256()
	case "secp384r1", "P-384":
		return elliptic.P384()
	case "secp521r1", "P-521":
		return elliptic.P521()
	}
	return nil
}

func curveName(c elliptic.Curve) string {
	if c == elliptic.P256() {
		return "prime256v1"
	}
	return "secp" + strings.TrimPrefix(c.Params().Name, "P-") + "r1"
}

func opSecretKey(e *engine, a []goja.Value) func(context.Context) (any, error) {
	secret := bytes.Clone(e.argBytes(a, 0))
	return func(context.Context) (any, error) { return &cryptoKey{secret: secret}, nil }
}

// opReadKey is (bytes, format "pem" or "der", type or "", passphrase or undefined, whether a private one is wanted).
func opReadKey(e *engine, a []goja.Value) func(context.Context) (any, error) {
	data, format, kind, passphrase, private := e.argBytes(a, 0), argText(a, 1), argText(a, 2), e.argBytes(a, 3), a[4].ToBoolean()
	return func(ctx context.Context) (any, error) {
		if len(data) > maxKeySize {
			return nil, errUndecodable
		}
		if format == "pem" {
			block, _ := pem.Decode(data)
			if block == nil {
				return nil, errUndecodable
			}
			data = block.Bytes
			switch block.Type {
			case "PRIVATE KEY", "ENCRYPTED PRIVATE KEY":
				kind = "pkcs8"
			case "RSA PRIVATE KEY":
				kind, private = "pkcs1", true
			case "EC PRIVATE KEY":
				kind = "sec1"
			case "PUBLIC KEY", "CERTIFICATE":
				kind = strings.ToLower(block.Type)
			case "RSA PUBLIC KEY":
				kind = "rsa public"
			default:
				return nil, errUndecodable
			}
			if block.Headers["DEK-Info"] != "" {
				return nil, cryptoError("", "ERR_UNSUPPORTED_IN_HOST", "keys encrypted in the old form of PEM cannot be read here; convert it with openssl pkcs8 -topk8")
			}
		}
		k, err := parseKey(ctx, data, kind, passphrase, private)
		if err != nil {
			return nil, err
		}
		if private && k.private == nil {
			return nil, errUndecodable
		}
		if !private {
			k.private = nil
		}
		return k, checkKey(k)
	}
}

func parseKey(ctx context.Context, der []byte, kind string, passphrase []byte, private bool) (*cryptoKey, error) {
	var parsed any
	var err error
	switch {
	case kind == "pkcs8":
		if clear, encrypted, derr := decryptPKCS8(ctx, der, passphrase); derr != nil {
			return nil, derr
		} else if encrypted {
			der = clear
		}
		parsed, err = x509.ParsePKCS8PrivateKey(der)
	case kind == "pkcs1" && private:
		parsed, err = x509.ParsePKCS1PrivateKey(der)
	case kind == "pkcs1", kind == "rsa public":
		parsed, err = x509.ParsePKCS1PublicKey(der)
	case kind == "sec1":
		parsed, err = x509.ParseECPrivateKey(der)
	case kind == "certificate":
		var c *x509.Certificate
		if c, err = x509.ParseCertificate(der); err == nil {
			parsed = c.PublicKey
		}
	default:
		parsed, err = x509.ParsePKIXPublicKey(der)
	}
	if err != nil {
		return nil, errUndecodable
	}
	return newKey(parsed)
}

// newKey makes a key of what the standard library has parsed or made.
func newKey(parsed any) (*cryptoKey, error) {
	switch p := parsed.(type) {
	case *rsa.PrivateKey:
		return &cryptoKey{private: p, public: &p.PublicKey}, nil
	case *ecdsa.PrivateKey:
		return &cryptoKey{private: p, public: &p.PublicKey}, nil
	case ed25519.PrivateKey:
		return &cryptoKey{private: p, public: p.Public()}, nil
	case *ecdh.PrivateKey:
		return &cryptoKey{private: p, public: p.PublicKey()}, nil
	case *rsa.PublicKey, *ecdsa.PublicKey, ed25519.PublicKey, *ecdh.PublicKey:
		return &cryptoKey{public: p}, nil
	}
	return nil, errUndecodable
}

// checkKey refuses what takes too long to work with.
func checkKey(k *cryptoKey) error {
	if p, ok := k.public.(*rsa.PublicKey); ok && p.N.BitLen() > maxModulus {
		return &opensslError{"02000069", "rsa routines", "modulus too large", "ERR_OSSL_RSA_MODULUS_TOO_LARGE"}
	}
	return nil
}

func opPublicOf(_ *engine, a []goja.Value) func(context.Context) (any, error) {
	k := argKey(a, 0)
	return func(context.Context) (any, error) { return &cryptoKey{public: k.public}, nil }
}

// opExportKey is (key, format "pem" or "der", type, cipher or undefined, passphrase or undefined) → text or bytes.
func opExportKey(e *engine, a []goja.Value) func(context.Context) (any, error) {
	k, format, kind, name, passphrase := argKey(a, 0), argText(a, 1), argText(a, 2), argText(a, 3), e.argBytes(a, 4)
	return func(ctx context.Context) (any, error) {
		der, label, err := encodeKey(k, kind)
		if err != nil {
			return nil, err
		}
		if name != "" {
			if kind != "pkcs8" {
				return nil, cryptoError("", "ERR_UNSUPPORTED_IN_HOST", "only keys of type pkcs8 can be encrypted here")
			}
			if der, err = encryptPKCS8(ctx, der, name, passphrase); err != nil {
				return nil, err
			}
			label = "ENCRYPTED PRIVATE KEY"
		}
		if format == "pem" {
			return string(pem.EncodeToMemory(&pem.Block{Type: label, Bytes: der})), nil
		}
		return der, nil
	}
}

func encodeKey(k *cryptoKey, kind string) (der []byte, label string, err error) {
	incompatible := cryptoError("", "ERR_CRYPTO_INCOMPATIBLE_KEY_OPTIONS", "The selected key encoding %s %s.", kind,
		map[string]string{"pkcs1": "can only be used for RSA keys", "sec1": "can only be used for EC keys"}[kind])
	switch kind {
	case "pkcs8":
		der, err = x509.MarshalPKCS8PrivateKey(k.private)
		return der, "PRIVATE KEY", err
	case "spki":
		der, err = x509.MarshalPKIXPublicKey(k.public)
		return der, "PUBLIC KEY", err
	case "pkcs1":
		switch p := k.private.(type) {
		case *rsa.PrivateKey:
			return x509.MarshalPKCS1PrivateKey(p), "RSA PRIVATE KEY", nil
		case nil:
			if p, ok := k.public.(*rsa.PublicKey); ok {
				return x509.MarshalPKCS1PublicKey(p), "RSA PUBLIC KEY", nil
			}
		}
	case "sec1":
		if p, ok := k.private.(*ecdsa.PrivateKey); ok {
			der, err = x509.MarshalECPrivateKey(p)
			return der, "EC PRIVATE KEY", err
		}
	}
	return nil, "", incompatible
}

// opRawKey gives the bytes of a key that has such: the secret, the point of a public key,
// or with true the number of a private one.
func opRawKey(_ *engine, a []goja.Value) func(context.Context) (any, error) {
	k, private := argKey(a, 0), len(a) > 1 && a[1].ToBoolean()
	return func(context.Context) (any, error) {
		if k.public == nil {
			return bytes.Clone(k.secret), nil
		}
		if private {
			switch p := k.private.(type) {
			case *ecdsa.PrivateKey:
				return p.Bytes()
			case ed25519.PrivateKey:
				return bytes.Clone(p.Seed()), nil
			case *ecdh.PrivateKey:
				return p.Bytes(), nil
			}
			return nil, errNoRaw
		}
		switch p := k.public.(type) {
		case *ecdsa.PublicKey:
			return p.Bytes()
		case ed25519.PublicKey:
			return bytes.Clone(p), nil
		case *ecdh.PublicKey:
			return p.Bytes(), nil
		}
		return nil, errNoRaw
	}
}

var errNoRaw = errors.New("keys of this type have no raw form")

// opKeyFromRaw is (type or curve, bytes, whether private).
func opKeyFromRaw(e *engine, a []goja.Value) func(context.Context) (any, error) {
	name, raw, private := argText(a, 0), e.argBytes(a, 1), a[2].ToBoolean()
	return func(context.Context) (any, error) { return keyFromRaw(name, raw, private) }
}

func keyFromRaw(name string, raw []byte, private bool) (*cryptoKey, error) {
	invalid := errors.New("the bytes are no such key")
	var parsed any
	var err error
	switch c := curveOf(name); {
	case name == "ed25519" && private && len(raw) == ed25519.SeedSize:
		parsed = ed25519.NewKeyFromSeed(raw)
	case name == "ed25519" && !private && len(raw) == ed25519.PublicKeySize:
		parsed = ed25519.PublicKey(raw)
	case name == "x25519" && private:
		parsed, err = ecdh.X25519().NewPrivateKey(raw)
	case name == "x25519":
		parsed, err = ecdh.X25519().NewPublicKey(raw)
	case c == nil:
		return nil, invalid
	case private:
		size := (c.Params().N.BitLen() + 7) / 8
		if len(raw) < size { // a number may come without the zeros before it
			raw = append(make([]byte, size-len(raw)), raw...)
		}
		parsed, err = ecdsa.ParseRawPrivateKey(c, raw)
	default:
		if size := (c.Params().BitSize + 7) / 8; len(raw) == size+1 && (raw[0] == 2 || raw[0] == 3) {
			x, y := elliptic.UnmarshalCompressed(c, raw)
			if x == nil {
				return nil, invalid
			}
			raw = append(append([]byte{4}, x.FillBytes(make([]byte, size))...), y.FillBytes(make([]byte, size))...)
		}
		parsed, err = ecdsa.ParseUncompressedPublicKey(c, raw)
	}
	if err != nil || parsed == nil {
		return nil, invalid
	}
	return newKey(parsed)
}

func opEqualKeys(_ *engine, a []goja.Value) func(context.Context) (any, error) {
	k, other := argKey(a, 0), argKey(a, 1)
	return func(context.Context) (any, error) {
		if k.kind() != other.kind() {
			return false, nil
		}
		if k.public == nil {
			return subtle.ConstantTimeCompare(k.secret, other.secret) == 1, nil
		}
		if p, ok := k.private.(interface{ Equal(crypto.PrivateKey) bool }); ok {
			return p.Equal(other.private), nil
		}
		p, ok := k.public.(interface{ Equal(crypto.PublicKey) bool })
		return ok && p.Equal(other.public), nil
	}
}

// jwkInt reads a number of a JWK; nil where it has none.
func jwkInt(fields map[string][]byte, name string) *big.Int {
	b, ok := fields[name]
	if !ok || len(b) == 0 || len(b) > maxModulus/8 {
		return nil
	}
	return new(big.Int).SetBytes(b)
}

// opReadJWK is (kty, crv or "", names, values, whether private): the values are the bytes of the fields.
func opReadJWK(e *engine, a []goja.Value) func(context.Context) (any, error) {
	kind, curve, private := argText(a, 0), argText(a, 1), a[4].ToBoolean()
	fields := map[string][]byte{}
	names, values := a[2].ToObject(e.vm), a[3].ToObject(e.vm)
	for i := range int(names.Get("length").ToInteger()) {
		if b, ok := e.bytes(values.Get(strconv.Itoa(i))); ok {
			fields[names.Get(strconv.Itoa(i)).String()] = bytes.Clone(b)
		}
	}
	return func(context.Context) (any, error) {
		k, err := keyOfJWK(kind, curve, fields, private)
		if err != nil {
			return nil, cryptoError("", "ERR_CRYPTO_INVALID_JWK", "Invalid JWK %s", err)
		}
		return k, checkKey(k)
	}
}

func keyOfJWK(kind, curve string, fields map[string][]byte, private bool) (*cryptoKey, error) {
	switch kind {
	case "RSA":
		n, exponent := jwkInt(fields, "n"), jwkInt(fields, "e")
		if n == nil || exponent == nil || !exponent.IsInt64() || exponent.Int64() > 1<<31-1 || exponent.Int64() < 3 {
			return nil, errors.New("RSA key")
		}
		public := rsa.PublicKey{N: n, E: int(exponent.Int64())}
		if !private {
			return &cryptoKey{public: &public}, nil
		}
		d, p, q := jwkInt(fields, "d"), jwkInt(fields, "p"), jwkInt(fields, "q")
		if d == nil || p == nil || q == nil {
			return nil, errors.New("RSA key")
		}
		key := &rsa.PrivateKey{PublicKey: public, D: d, Primes: []*big.Int{p, q}}
		if err := key.Validate(); err != nil {
			return nil, errors.New("RSA key")
		}
		key.Precompute()
		return newKey(key)
	case "EC":
		c := curveOf(curve)
		if c == nil {
			return nil, errors.New("EC key")
		}
		if private {
			k, err := keyFromRaw(curve, fields["d"], true)
			if err != nil || len(fields["d"]) == 0 {
				return nil, errors.New("EC key")
			}
			return k, nil
		}
		k, err := keyFromRaw(curve, append(append([]byte{4}, fields["x"]...), fields["y"]...), false)
		if err != nil {
			return nil, errors.New("EC key")
		}
		return k, nil
	case "OKP":
		raw := fields["x"]
		if private {
			raw = fields["d"]
		}
		k, err := keyFromRaw(strings.ToLower(curve), raw, private)
		if err != nil {
			return nil, errors.New("OKP key")
		}
		return k, nil
	}
	return nil, errors.New("key type")
}

// jwkBytes is a field of a JWK that is written in base64.
type jwkBytes []byte

// opExportJWK gives the fields of a JWK, numbers as bytes.
func opExportJWK(_ *engine, a []goja.Value) func(context.Context) (any, error) {
	k := argKey(a, 0)
	return func(context.Context) (any, error) {
		number := func(b []byte) any { return jwkBytes(b) }
		switch p := k.public.(type) {
		case *rsa.PublicKey:
			out := map[string]any{"kty": "RSA", "n": number(p.N.Bytes()), "e": number(big.NewInt(int64(p.E)).Bytes())}
			if key, ok := k.private.(*rsa.PrivateKey); ok {
				if len(key.Primes) != 2 {
					return nil, errors.New("RSA keys with more than two primes have no JWK")
				}
				key.Precompute()
				out["d"], out["p"], out["q"] = number(key.D.Bytes()), number(key.Primes[0].Bytes()), number(key.Primes[1].Bytes())
				out["dp"], out["dq"], out["qi"] = number(key.Precomputed.Dp.Bytes()), number(key.Precomputed.Dq.Bytes()), number(key.Precomputed.Qinv.Bytes())
			}
			return out, nil
		case *ecdsa.PublicKey:
			point, err := p.Bytes()
			if err != nil {
				return nil, err
			}
			half := len(point) / 2
			out := map[string]any{"kty": "EC", "crv": p.Curve.Params().Name, "x": number(point[1 : half+1]), "y": number(point[half+1:])}
			if key, ok := k.private.(*ecdsa.PrivateKey); ok {
				d, err := key.Bytes()
				if err != nil {
					return nil, err
				}
				out["d"] = number(d)
			}
			return out, nil
		case ed25519.PublicKey:
			out := map[string]any{"kty": "OKP", "crv": "Ed25519", "x": number(bytes.Clone(p))}
			if key, ok := k.private.(ed25519.PrivateKey); ok {
				out["d"] = number(bytes.Clone(key.Seed()))
			}
			return out, nil
		case *ecdh.PublicKey:
			out := map[string]any{"kty": "OKP", "crv": "X25519", "x": number(p.Bytes())}
			if key, ok := k.private.(*ecdh.PrivateKey); ok {
				out["d"] = number(key.Bytes())
			}
			return out, nil
		}
		return map[string]any{"kty": "oct", "k": number(bytes.Clone(k.secret))}, nil
	}
}
