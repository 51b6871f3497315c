package worker

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"strings"

	pb "github.com/toolhost/toolhost/runtimes/worker/workerpb"
)

const (
	// maxLogText is how long a message or a value in the log may be, in bytes.
	maxLogText = 64 << 10
	// maxLogAttributes is how many values one line of the log may have.
	maxLogAttributes = 32
)

// forwarder is a log handler in the worker that gives every record to the host.
type forwarder struct {
	least  slog.Level
	send   func(*pb.Log)
	own    []*pb.Attribute
	prefix string // of keys, from groups
}

var _ slog.Handler = (*forwarder)(nil)

func (f *forwarder) Enabled(_ context.Context, level slog.Level) bool { return level >= f.least }

func (f *forwarder) Handle(_ context.Context, r slog.Record) error {
	m := &pb.Log{Level: int64(r.Level), Message: cutText(r.Message), Attributes: append([]*pb.Attribute(nil), f.own...)}
	r.Attrs(func(a slog.Attr) bool {
		m.Attributes = appendAttribute(m.Attributes, f.prefix, a)
		return true
	})
	f.send(m)
	return nil
}

func (f *forwarder) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *f
	with.own = append([]*pb.Attribute(nil), f.own...)
	for _, a := range attrs {
		with.own = appendAttribute(with.own, f.prefix, a)
	}
	return &with
}

func (f *forwarder) WithGroup(name string) slog.Handler {
	if name == "" {
		return f
	}
	with := *f
	with.prefix += name + "."
	return &with
}

func appendAttribute(list []*pb.Attribute, prefix string, a slog.Attr) []*pb.Attribute {
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		if a.Key != "" {
			prefix += a.Key + "."
		}
		for _, inner := range v.Group() {
			list = appendAttribute(list, prefix, inner)
		}
		return list
	}
	if a.Equal(slog.Attr{}) || len(list) >= maxLogAttributes {
		return list
	}
	m := &pb.Attribute{Key: cutText(prefix + a.Key)}
	switch v.Kind() {
	case slog.KindBool:
		m.Value = &pb.Attribute_Flag{Flag: v.Bool()}
	case slog.KindInt64:
		m.Value = &pb.Attribute_Number{Number: v.Int64()}
	case slog.KindFloat64:
		m.Value = &pb.Attribute_Decimal{Decimal: v.Float64()}
	default:
		m.Value = &pb.Attribute_Text{Text: cutText(v.String())}
	}
	return append(list, m)
}

func cutText(s string) []byte {
	if len(s) > maxLogText {
		s = s[:maxLogText] + "…"
	}
	return []byte(s)
}

// writeLog writes a line of the worker into the host's log. Nothing in it is taken on trust.
func writeLog(ctx context.Context, log *slog.Logger, m *pb.Log) {
	clean := func(b []byte) string {
		if len(b) > maxLogText+len("…") {
			b = b[:maxLogText]
		}
		return strings.ToValidUTF8(string(b), "\ufffd")
	}
	level := slog.Level(min(max(m.GetLevel(), math.MinInt8), math.MaxInt8))
	if !log.Enabled(ctx, level) {
		return
	}
	var attrs []slog.Attr
	for _, a := range m.GetAttributes()[:min(len(m.GetAttributes()), maxLogAttributes)] {
		key := clean(a.GetKey())
		if key == "plugin" || key == "tool" || key == "call" {
			continue // the host says these
		}
		switch v := a.GetValue().(type) {
		case *pb.Attribute_Text:
			attrs = append(attrs, slog.String(key, clean(v.Text)))
		case *pb.Attribute_Number:
			attrs = append(attrs, slog.Int64(key, v.Number))
		case *pb.Attribute_Flag:
			attrs = append(attrs, slog.Bool(key, v.Flag))
		case *pb.Attribute_Decimal:
			attrs = append(attrs, slog.Float64(key, v.Decimal))
		}
	}
	log.LogAttrs(ctx, level, clean(m.GetMessage()), attrs...)
}

// leastLevel gives the least level that a log takes: a line below it need not be sent.
func leastLevel(ctx context.Context, log *slog.Logger) slog.Level {
	for _, l := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		if log.Enabled(ctx, l) {
			return l
		}
	}
	return slog.LevelError + 1
}

// tooManyLines says how many lines a limiter has left out.
func tooManyLines(n int) *pb.Log {
	return &pb.Log{Level: int64(slog.LevelWarn), Message: fmt.Appendf(nil, "%d lines were left out of the log, there were too many", n)}
}
