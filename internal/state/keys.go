package state

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// KeyFile is the name of the file in the state folder that holds the key of secrets where
// there is no keyring.
const KeyFile = "secret.key"

// The places where keys are.
const (
	placeFile    = "file"
	placeKeyring = "keyring"
)

// Keyring keeps short secrets outside the state folder, such as the operating system's. It
// may be slow, or never answer: it is waited for 2 s at most, and not asked again while a
// question is open.
type Keyring interface {
	// Get gives a secret; [ErrNoKey] where there is none of that name.
	Get(name string) (string, error)
	Set(name, secret string) error
}

// ErrNoKey says that a keyring has no secret of a name.
var ErrNoKey = errors.New("the keyring has no such key")

// keyringWait is how long a keyring may take.
const keyringWait = 2 * time.Second

// keySize makes the cipher AES-256.
const keySize = 32

// key seals and unseals. Its id tells it from every other key.
type key struct {
	id, place string
	aead      cipher.AEAD
}

// keys finds the keys of secrets.
type keys struct {
	file    string // "" where there is no folder
	keyring Keyring
	asking  chan struct{} // holds a token while the keyring is asked

	known *sync.Map // keys that were found, by id
}

func newKeys(dir string, keyring Keyring) keys {
	k := keys{keyring: keyring, asking: make(chan struct{}, 1), known: &sync.Map{}}
	if dir != "" {
		k.file = filepath.Join(dir, KeyFile)
	}
	return k
}

// newKey makes the key of some bytes.
func newKey(place string, secret []byte) (*key, error) {
	if len(secret) != keySize {
		return nil, fmt.Errorf("it has %d bytes, not %d", len(secret), keySize)
	}
	block, err := aes.NewCipher(secret)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, err
	}
	h := sha256.Sum256(append([]byte("toolhost key id\x00"), secret...))
	return &key{id: hex.EncodeToString(h[:8]), place: place, aead: aead}, nil
}

// seal seals the value of a setting. The result can be opened under the same name only.
func (k *key) seal(name string, value []byte) []byte {
	return k.aead.Seal(nil, nil, value, additional(name))
}

func (k *key) unseal(name string, sealed []byte) ([]byte, error) {
	value, err := k.aead.Open(nil, nil, sealed, additional(name))
	if err != nil {
		return nil, errors.New("it was changed outside of toolhost")
	}
	return value, nil
}

func additional(name string) []byte { return []byte("toolhost setting\x00" + name) }

// current gives the key for what is sealed now, made where there is none: one in the
// keyring where that answers, else that of the file. last is the id of the newest key that is
// in the keyring; "" for none. Keys are looked up, not remembered: what is sealed with a key
// that has gone is lost.
func (k *keys) current(ctx context.Context, last string) (*key, error) {
	if k.keyring != nil {
		if found, err := k.inKeyring(ctx, last); err == nil {
			return found, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	found, err := k.inFile()
	if errors.Is(err, fs.ErrNotExist) {
		text := base64.StdEncoding.EncodeToString(random()) + "\n"
		if err := createOnce(k.file, []byte(text)); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("making the key file %q: %w", k.file, err)
		}
		found, err = k.inFile()
	}
	return found, err
}

// inKeyring gives the key last of the keyring, or a new one where it has that no more.
func (k *keys) inKeyring(ctx context.Context, last string) (*key, error) {
	if last != "" {
		found, err := k.ask(ctx, last)
		if !errors.Is(err, ErrNoKey) {
			return found, err
		}
	}
	secret := random()
	made, err := newKey(placeKeyring, secret)
	if err != nil {
		return nil, err
	}
	_, err = k.answer(ctx, func() (string, error) {
		return "", k.keyring.Set(made.id, base64.StdEncoding.EncodeToString(secret))
	})
	return made, err
}

// find gives the key that sealed something.
func (k *keys) find(ctx context.Context, id, place string) (*key, error) {
	if found, ok := k.known.Load(id); ok {
		return found.(*key), nil
	}
	var found *key
	var err error
	switch {
	case place == placeFile:
		if found, err = k.inFile(); errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("the key file %q is gone", k.file)
		}
	case k.keyring == nil:
		err = errors.New("its key is in the keyring of the operating system, which cannot be reached from here")
	default:
		if found, err = k.ask(ctx, id); err != nil {
			err = fmt.Errorf("its key is in the keyring of the operating system: %w", err)
		}
	}
	if err == nil && found.id != id {
		err = fmt.Errorf("the key file %q holds another key", k.file)
	}
	if err != nil {
		return nil, err
	}
	k.known.Store(id, found)
	return found, nil
}

// inFile reads the key of the key file.
func (k *keys) inFile() (*key, error) {
	info, err := os.Lstat(k.file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("the key file %q is no regular file", k.file)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("the key file %q may be read by others: chmod 600 it, and set secrets anew if others use this machine", k.file)
	}
	f, err := os.OpenFile(k.file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 1024))
	if err != nil {
		return nil, fmt.Errorf("reading the key file %q: %w", k.file, err)
	}
	found, err := decodeKey(placeFile, string(text))
	if err != nil {
		return nil, fmt.Errorf("the key file %q is damaged: %w", k.file, err)
	}
	return found, nil
}

// ask gives a key of the keyring by its id.
func (k *keys) ask(ctx context.Context, id string) (*key, error) {
	text, err := k.answer(ctx, func() (string, error) { return k.keyring.Get(id) })
	if err != nil {
		return nil, err
	}
	found, err := decodeKey(placeKeyring, text)
	if err == nil && found.id != id {
		err = errors.New("another one stands there under its name")
	}
	if err != nil {
		return nil, fmt.Errorf("the key in the keyring is damaged: %w", err)
	}
	return found, nil
}

var errNoAnswer = errors.New("the keyring does not answer")

// answer asks the keyring something on a goroutine of its own: there is no way to end a
// question that it does not answer. At most one is open.
func (k *keys) answer(ctx context.Context, question func() (string, error)) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, keyringWait, errNoAnswer)
	defer cancel()
	select {
	case k.asking <- struct{}{}:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	type answer struct {
		text string
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		defer func() { <-k.asking }()
		text, err := question()
		got <- answer{text, err}
	}()
	select {
	case a := <-got:
		return a.text, a.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func decodeKey(place, text string) (*key, error) {
	secret, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return nil, errors.New("it is no base64")
	}
	return newKey(place, secret)
}

func random() []byte {
	b := make([]byte, keySize)
	_, _ = rand.Read(b) // never fails: the program ends first
	return b
}
