package runtimes

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"syscall"
)

// NetworkError says why a host could not be reached or has stopped answering, in the
// words of Node. It holds nothing but texts and numbers, so that it can be sent on.
type NetworkError struct {
	Code     string // "ECONNREFUSED", "ENOTFOUND", "CERT_HAS_EXPIRED", …; may be empty
	Syscall  string // "connect", "getaddrinfo", "read", …; may be empty
	Message  string
	Errno    int    // negative, as in Node; 0 where there is none
	Hostname string // of a name that was not found
	Address  string // that could not be connected to
	Port     int
}

func (e *NetworkError) Error() string { return e.Message }

// AsNetworkError words an error of a connection to a host and port as Node does. What is
// no error of the network (a denial, the end of ctx) it gives as it is.
func AsNetworkError(err error, host string, port int) error {
	var known *NetworkError
	var name *net.DNSError
	var op *net.OpError
	var number syscall.Errno
	switch {
	case err == nil, errors.As(err, &known):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &name):
		code, number := "ENOTFOUND", -3008
		if name.IsTemporary || name.IsTimeout {
			code, number = "EAI_AGAIN", -3001
		}
		return &NetworkError{Code: code, Errno: number, Syscall: "getaddrinfo", Hostname: host, Message: "getaddrinfo " + code + " " + host}
	case errors.As(err, &op) && (op.Op == "dial" || op.Op == "connect"):
		e := &NetworkError{Syscall: "connect", Address: host, Port: port}
		if tcp, ok := op.Addr.(*net.TCPAddr); ok && tcp != nil {
			e.Address, e.Port = tcp.IP.String(), tcp.Port
		}
		switch {
		case errors.As(err, &number):
			e.Code, e.Errno = errnoName(number), -int(number)
		case op.Timeout():
			e.Code, e.Errno = "ETIMEDOUT", -int(syscall.ETIMEDOUT)
		default:
			return err
		}
		e.Message = fmt.Sprintf("connect %s %s", e.Code, net.JoinHostPort(e.Address, strconv.Itoa(e.Port)))
		return e
	case errors.As(err, &number):
		e := &NetworkError{Code: errnoName(number), Errno: -int(number), Syscall: "read"}
		if op != nil {
			e.Syscall = op.Op
		}
		e.Message = e.Syscall + " " + e.Code
		return e
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed):
		return &NetworkError{Code: "UND_ERR_SOCKET", Message: "other side closed"}
	}
	if e := tlsError(err, host); e != nil {
		return e
	}
	return err
}

func tlsError(err error, host string) *NetworkError {
	var invalid x509.CertificateInvalidError
	var wrongName x509.HostnameError
	var unknown x509.UnknownAuthorityError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return &NetworkError{Code: "CERT_HAS_EXPIRED", Message: "certificate has expired"}
	case errors.As(err, &wrongName):
		return &NetworkError{Code: "ERR_TLS_CERT_ALTNAME_INVALID", Message: fmt.Sprintf("Hostname/IP does not match certificate's altnames: %s", wrongName.Error())}
	case errors.As(err, &unknown):
		if c := unknown.Cert; c != nil && c.Issuer.String() == c.Subject.String() {
			return &NetworkError{Code: "DEPTH_ZERO_SELF_SIGNED_CERT", Message: "self-signed certificate"}
		}
		return &NetworkError{Code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE", Message: "unable to verify the first certificate"}
	case errors.As(err, &record):
		return &NetworkError{Code: "EPROTO", Syscall: "write", Message: "write EPROTO: " + host + " does not answer with TLS"}
	case errors.As(err, &alert):
		return &NetworkError{Code: "EPROTO", Syscall: "write", Message: "write EPROTO: " + alert.Error()}
	}
	var verification *tls.CertificateVerificationError
	if errors.As(err, &verification) {
		return &NetworkError{Code: "ERR_TLS_CERT_INVALID", Message: verification.Err.Error()}
	}
	return nil
}

// errnoName gives the name of an error of the system that connections have.
func errnoName(n syscall.Errno) string {
	switch n {
	case syscall.ECONNREFUSED:
		return "ECONNREFUSED"
	case syscall.ECONNRESET:
		return "ECONNRESET"
	case syscall.ECONNABORTED:
		return "ECONNABORTED"
	case syscall.EHOSTUNREACH:
		return "EHOSTUNREACH"
	case syscall.ENETUNREACH:
		return "ENETUNREACH"
	case syscall.EADDRNOTAVAIL:
		return "EADDRNOTAVAIL"
	case syscall.ETIMEDOUT:
		return "ETIMEDOUT"
	case syscall.EPIPE:
		return "EPIPE"
	case syscall.EACCES:
		return "EACCES"
	case syscall.EMFILE:
		return "EMFILE"
	}
	return "E" + strconv.Itoa(int(n))
}
