package state

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/zalando/go-keyring"
)

// OSKeyring gives the keyring of the operating system; nil where there is none.
func OSKeyring() Keyring {
	if runtime.GOOS != "darwin" && runtime.GOOS != "windows" && !hasSessionBus() {
		return nil
	}
	return osKeyring{}
}

// hasSessionBus reports whether there is a session bus, behind which the keyring is. Where
// there is none it must not be asked for: the library would start one, and leave it behind.
func hasSessionBus() bool {
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	_, err := os.Stat(filepath.Join("/run/user", strconv.Itoa(os.Getuid()), "bus"))
	return err == nil
}

// osKeyring is the operating system's keyring; everything stands there under one service.
type osKeyring struct{}

const keyringService = "toolhost"

func (osKeyring) Get(name string) (string, error) {
	secret, err := keyring.Get(keyringService, name)
	if errors.Is(err, keyring.ErrNotFound) {
		return "", ErrNoKey
	}
	return secret, err
}

func (osKeyring) Set(name, secret string) error {
	return keyring.Set(keyringService, name, secret)
}

var _ Keyring = osKeyring{}
