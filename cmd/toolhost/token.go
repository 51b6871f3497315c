package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	// tokenName is the token's file in the state folder.
	tokenName = "http-token"
	// minToken and maxToken bound the length of a token that the user has chosen.
	minToken = 16
	maxToken = 4096
)

// httpToken gives the token that clients must send and the file that holds it: the one that
// --token-file names, else the one of the state folder, which is made where there is none.
func (p *program) httpToken() (path, token string, err error) {
	if path = p.flags.http.TokenFile; path != "" {
		token, err = readToken(path)
		if err != nil {
			return "", "", usagef("a token is a line of at least 16 printable characters without spaces, in a file that only you can read", "reading the token: %w", err)
		}
		return path, token, nil
	}
	if p.flags.state == "" {
		return "", "", usagef("name a state folder with --state, or a token with --token-file", "there is no state folder to keep a token in")
	}
	path = filepath.Join(p.flags.state, tokenName)
	token, err = readToken(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeToken(path); err == nil {
			token, err = readToken(path)
		}
	}
	if err != nil {
		return "", "", &failure{code: exitFailed, err: fmt.Errorf("the token for HTTP: %w", err), hint: "remove " + path + ": a new token is made then, which clients have to be given"}
	}
	return path, token, nil
}

// readToken reads a token from a file that nobody but its owner can read.
func readToken(path string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not hold the program
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is no file", path)
	case info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("others can read or write %s (its mode is %#o); run: chmod 600 %s", path, info.Mode().Perm(), path)
	case info.Size() > maxToken:
		return "", fmt.Errorf("%s is larger than %d bytes", path, maxToken)
	}
	raw := make([]byte, maxToken+1)
	n := 0
	for n < len(raw) && err == nil {
		var read int
		read, err = f.Read(raw[n:])
		n += read
	}
	token := strings.TrimSpace(string(raw[:n]))
	switch {
	case n > maxToken:
		return "", fmt.Errorf("%s is larger than %d bytes", path, maxToken)
	case len(token) < minToken:
		return "", fmt.Errorf("the token in %s has %d characters; at least %d are needed", path, len(token), minToken)
	case strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "", fmt.Errorf("the token in %s has characters that cannot stand in a header", path)
	}
	return token, nil
}

// makeToken makes a file with a random token. It is there whole or not at all, and never
// takes the place of one that is there: two programs that start at once share one token.
func makeToken(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+tokenName+"-") // for its owner only
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(rand.Text() + rand.Text() + "\n")
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
