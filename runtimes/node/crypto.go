package node

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"hash"
	"slices"

	"github.com/dop251/goja"
)

// cryptoOp is an operation of node:crypto. It reads its arguments on the loop and gives
// the work, which must not touch the VM, and ends with ctx where it takes long.
type cryptoOp func(e *engine, a []goja.Value) func(ctx context.Context) (any, error)

// cryptoOps are the operations by name. The table is not changed.
var cryptoOps = map[string]cryptoOp{
	"pbkdf2": opPBKDF2, "scrypt": opScrypt, "hkdf": opHKDF,
	"secretKey": opSecretKey, "readKey": opReadKey, "readJWK": opReadJWK, "publicOf": opPublicOf, "exportKey": opExportKey, "exportJWK": opExportJWK, "rawKey": opRawKey,
	"keyFromRaw": opKeyFromRaw, "equalKeys": opEqualKeys, "generate": opGenerate,
	"sign": opSign, "verify": opVerify, "encryptRSA": opEncryptRSA, "decryptRSA": opDecryptRSA, "privateEncrypt": opPrivateEncrypt, "publicDecrypt": opPublicDecrypt, "agree": opAgree,
	"wrapAES": opWrapAES, "unwrapAES": opUnwrapAES,
}

// opensslError is an error as OpenSSL words it: "error:1C800064:Provider routines::bad decrypt".
type opensslError struct {
	number, library, reason, code string
}

func (e *opensslError) Error() string {
	return fmt.Sprintf("error:%s:%s::%s", e.number, e.library, e.reason)
}

func cryptoError(class, code, format string, args ...any) error {
	return &scriptError{class: class, code: code, message: fmt.Sprintf(format, args...)}
}

func invalidDigest(name string) error {
	return cryptoError("TypeError", "ERR_CRYPTO_INVALID_DIGEST", "Invalid digest: %s", name)
}

// cryptoErrorValue is errorValue for what the operations of node:crypto give.
func (e *engine) cryptoErrorValue(err error) goja.Value {
	var o *opensslError
	if !errors.As(err, &o) {
		return e.errorValue(err)
	}
	made := e.makeError("", o.Error())
	_ = made.Set("library", o.library) // a fresh error takes any field
	_ = made.Set("reason", o.reason)
	_ = made.Set("code", o.code)
	return made
}

// cryptoResult turns what an operation gave into a value of the VM.
func (e *engine) cryptoResult(v any) goja.Value {
	switch v := v.(type) {
	case nil:
		return goja.Undefined()
	case []byte:
		return e.vm.ToValue(e.vm.NewArrayBuffer(v))
	case *cryptoKey:
		return e.keyValue(v)
	case []*cryptoKey:
		list := make([]any, len(v))
		for i, key := range v {
			list[i] = e.keyValue(key)
		}
		return e.vm.NewArray(list...)
	case map[string]any:
		for name, field := range v {
			if b, ok := field.(jwkBytes); ok {
				v[name] = e.vm.NewArrayBuffer(b)
			}
		}
		return e.object(v)
	}
	return e.vm.ToValue(v)
}

// loadCryptoHost gives what the libraries of node:crypto call.
func loadCryptoHost(e *engine) goja.Value {
	return e.object(map[string]any{
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
		"hash":        e.openHash,
		"hashNames":   func(goja.FunctionCall) goja.Value { return e.vm.ToValue(hashNames()) },
		"cipher":      e.openCipher,
		"cipherInfo":  e.cipherInfo,
		"cipherNames": func(goja.FunctionCall) goja.Value { return e.vm.ToValue(cipherNames()) },
		// (operation, arguments…) → result
		"sync": func(c goja.FunctionCall) goja.Value {
			v, err := cryptoOps[c.Argument(0).String()](e, c.Arguments[1:])(e.callContext())
			if err != nil {
				panic(e.cryptoErrorValue(err))
			}
			return e.cryptoResult(v)
		},
		// (callback(error, result), operation, arguments…)
		"start": func(c goja.FunctionCall) goja.Value {
			done := e.captureContext(c.Argument(0))
			// The engine takes the list of arguments back when this function returns.
			work := cryptoOps[c.Argument(1).String()](e, slices.Clone(c.Arguments[2:]))
			here := e.here()
			e.loop.start(func(ctx context.Context) func() error {
				v, err := work(ctx)
				if err != nil {
					return here(func() error { return e.macrotask(done, e.cryptoErrorValue(err)) })
				}
				return func() error { return e.macrotask(done, goja.Null(), e.cryptoResult(v)) }
			})
			return goja.Undefined()
		},
	})
}

func (e *engine) argBytes(a []goja.Value, i int) []byte {
	if i >= len(a) || optional(a[i]) == nil {
		return nil
	}
	return slices.Clone(e.mustBytes(a[i])) // script may change it while an operation runs
}

func argText(a []goja.Value, i int) string {
	if i >= len(a) || optional(a[i]) == nil {
		return ""
	}
	return a[i].String()
}

func argInt(a []goja.Value, i int) int {
	if i >= len(a) || optional(a[i]) == nil {
		return 0
	}
	return int(a[i].ToInteger())
}

// hmacHash finds the hash of an operation that has no use for one of variable length.
func hmacHash(name string) (func() hash.Hash, error) {
	h, ok := hashes[hashName(name)]
	if !ok || h.variable {
		return nil, invalidDigest(name)
	}
	return h.make, nil
}
