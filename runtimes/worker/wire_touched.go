package worker

import (
	"github.com/toolhost/toolhost/permissions"
	pb "github.com/toolhost/toolhost/runtimes/worker/workerpb"
)

// encodeTouched writes what a call touched; nil of nil.
func encodeTouched(t *permissions.Touched) *pb.Touched {
	if t == nil {
		return nil
	}
	m := &pb.Touched{Read: encodeTexts(t.Read), Written: encodeTexts(t.Written), Env: encodeTexts(t.Env), Used: encodeTexts(t.Used), More: int64(t.More)}
	for _, d := range t.Denied {
		m.Denied = append(m.Denied, &pb.Denied{Op: []byte(d.Op), Target: []byte(d.Target), Rule: []byte(d.Rule), Reason: []byte(d.Reason)})
	}
	return m
}

// decodeTouched reads what a call touched; the grant bounds what it notes of it.
func decodeTouched(m *pb.Touched) *permissions.Touched {
	if m == nil {
		return nil
	}
	t := &permissions.Touched{Read: decodeTexts(m.GetRead()), Written: decodeTexts(m.GetWritten()), Env: decodeTexts(m.GetEnv()), Used: decodeTexts(m.GetUsed()), More: int(m.GetMore())}
	for _, d := range m.GetDenied() {
		t.Denied = append(t.Denied, permissions.Denial{Op: string(d.GetOp()), Target: string(d.GetTarget()), Rule: string(d.GetRule()), Reason: string(d.GetReason())})
	}
	return t
}

func encodeTexts(list []string) (out [][]byte) {
	for _, s := range list {
		out = append(out, []byte(s))
	}
	return out
}

func decodeTexts(list [][]byte) (out []string) {
	for _, b := range list {
		out = append(out, string(b))
	}
	return out
}
