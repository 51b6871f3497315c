package node

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/x509/pkix"
	"encoding/asn1"
	"strings"
)

// Keys encrypted with a passphrase, as PKCS #8 and RFC 8018 (PBES2) have them.

type encryptedKey struct {
	Algorithm pkix.AlgorithmIdentifier
	Data      []byte
}

type pbes2Params struct {
	Derivation, Cipher pkix.AlgorithmIdentifier
}

type pbkdf2Params struct {
	Salt   []byte
	Rounds int
	Length int                      `asn1:"optional"`
	Hash   pkix.AlgorithmIdentifier `asn1:"optional"`
}

var (
	oidPBES2  = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13}
	oidPBKDF2 = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 12}
)

// pbesHashes are the hashes by the number that ends the identifier of their HMAC.
var pbesHashes = map[int]string{7: "sha1", 8: "sha224", 9: "sha256", 10: "sha384", 11: "sha512"}

// pbesCiphers are the bytes of a key by the number that ends the identifier of AES-CBC.
var pbesCiphers = map[int]int{2: 16, 22: 24, 42: 32}

// maxKeyRounds is how many rounds of key derivation an encrypted key may ask for.
const maxKeyRounds = 10_000_000

// decryptPKCS8 decrypts a key; encrypted is false for one that is not encrypted.
func decryptPKCS8(ctx context.Context, der, passphrase []byte) (clear []byte, encrypted bool, err error) {
	var k encryptedKey
	if rest, err := asn1.Unmarshal(der, &k); err != nil || len(rest) > 0 || !k.Algorithm.Algorithm.Equal(oidPBES2) {
		return nil, false, nil // another kind of key, which the caller looks at
	}
	if passphrase == nil {
		return nil, true, &opensslError{"07880109", "common libcrypto routines", "interrupted or cancelled", "ERR_OSSL_CRYPTO_INTERRUPTED_OR_CANCELLED"} // nobody can be asked for the passphrase
	}
	unknown := cryptoError("", "ERR_UNSUPPORTED_IN_HOST", "the key is encrypted in a way that cannot be read here; use PBES2 with PBKDF2 and AES-CBC")
	var p pbes2Params
	var d pbkdf2Params
	if _, err := asn1.Unmarshal(k.Algorithm.Parameters.FullBytes, &p); err != nil || !p.Derivation.Algorithm.Equal(oidPBKDF2) {
		return nil, true, unknown
	}
	if _, err := asn1.Unmarshal(p.Derivation.Parameters.FullBytes, &d); err != nil || d.Rounds < 1 || d.Rounds > maxKeyRounds {
		return nil, true, unknown
	}
	hash := "sha1"
	if oid := d.Hash.Algorithm; len(oid) > 0 {
		hash = pbesHashes[oid[len(oid)-1]]
	}
	var iv []byte
	oid := p.Cipher.Algorithm
	if _, err := asn1.Unmarshal(p.Cipher.Parameters.FullBytes, &iv); err != nil || len(oid) == 0 || len(iv) != aes.BlockSize || len(k.Data)%aes.BlockSize != 0 || len(k.Data) == 0 {
		return nil, true, unknown
	}
	size := pbesCiphers[oid[len(oid)-1]]
	if hash == "" || size == 0 {
		return nil, true, unknown
	}
	key, err := pbkdf2(ctx, hashes[hash].make, passphrase, d.Salt, d.Rounds, size)
	if err != nil {
		return nil, true, err
	}
	c, err := newCrypt(ciphers[aesName(size)], true, key, iv)
	if err != nil {
		return nil, true, err
	}
	head, err := c.update(k.Data)
	if err != nil {
		return nil, true, err
	}
	tail, err := c.final()
	return append(head, tail...), true, err
}

func aesName(size int) string {
	return map[int]string{16: "aes-128-cbc", 24: "aes-192-cbc", 32: "aes-256-cbc"}[size]
}

// encryptPKCS8 encrypts a key with a passphrase.
func encryptPKCS8(ctx context.Context, der []byte, name string, passphrase []byte) ([]byte, error) {
	kind, ok := ciphers[strings.ToLower(name)]
	if !ok {
		return nil, cryptoError("", "ERR_CRYPTO_UNKNOWN_CIPHER", "Unknown cipher")
	}
	last := map[int]int{16: 2, 24: 22, 32: 42}[kind.key]
	if kind.mode != "cbc" || kind.block != aes.BlockSize || last == 0 {
		return nil, cryptoError("", "ERR_UNSUPPORTED_IN_HOST", "keys can be encrypted with aes-128-cbc, aes-192-cbc and aes-256-cbc here, not with %q", name)
	}
	salt, iv := make([]byte, 16), make([]byte, aes.BlockSize)
	_, _ = rand.Read(salt) // it never fails
	_, _ = rand.Read(iv)
	const rounds = 2048
	key, err := pbkdf2(ctx, hashes["sha256"].make, passphrase, salt, rounds, kind.key)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	n := aes.BlockSize - len(der)%aes.BlockSize
	padded := append([]byte(nil), der...)
	for range n {
		padded = append(padded, byte(n))
	}
	cipher.NewCBCEncrypter(block, iv).CryptBlocks(padded, padded)
	derivation, err := asn1.Marshal(pbkdf2Params{Salt: salt, Rounds: rounds, Hash: pkix.AlgorithmIdentifier{Algorithm: asn1.ObjectIdentifier{1, 2, 840, 113549, 2, 9}, Parameters: asn1.NullRawValue}})
	if err != nil {
		return nil, err
	}
	vector, err := asn1.Marshal(iv)
	if err != nil {
		return nil, err
	}
	params, err := asn1.Marshal(pbes2Params{
		Derivation: pkix.AlgorithmIdentifier{Algorithm: oidPBKDF2, Parameters: asn1.RawValue{FullBytes: derivation}},
		Cipher:     pkix.AlgorithmIdentifier{Algorithm: asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 1, last}, Parameters: asn1.RawValue{FullBytes: vector}},
	})
	if err != nil {
		return nil, err
	}
	return asn1.Marshal(encryptedKey{Algorithm: pkix.AlgorithmIdentifier{Algorithm: oidPBES2, Parameters: asn1.RawValue{FullBytes: params}}, Data: padded})
}
