package plugin

import (
	"context"
	"log/slog"

	pb "github.com/toolhost/toolhost/runtimes/process/plugin/pluginpb"
)

// logHandler sends what a handler logs to the host.
type logHandler struct {
	stream *stream
	prefix string // of the names of attributes: the groups that are open
	attrs  map[string]any
}

var _ slog.Handler = (*logHandler)(nil)

// Enabled reports true: the host decides what is kept.
func (h *logHandler) Enabled(context.Context, slog.Level) bool { return true }

// Handle sends a record.
func (h *logHandler) Handle(_ context.Context, r slog.Record) error {
	attrs := make(map[string]any, len(h.attrs)+r.NumAttrs())
	for name, value := range h.attrs {
		attrs[name] = value
	}
	r.Attrs(func(a slog.Attr) bool {
		put(attrs, h.prefix, a)
		return true
	})
	m := &pb.Log{Level: int32(r.Level), Message: valid(r.Message)}
	if len(attrs) > 0 {
		raw, err := marshal(attrs)
		if err != nil {
			return err
		}
		m.Attributes = raw
	}
	h.stream.send(&pb.ToHost{Message: &pb.ToHost_Log{Log: m}})
	return nil
}

// WithAttrs gives a handler that adds attributes.
func (h *logHandler) WithAttrs(list []slog.Attr) slog.Handler {
	attrs := make(map[string]any, len(h.attrs)+len(list))
	for name, value := range h.attrs {
		attrs[name] = value
	}
	for _, a := range list {
		put(attrs, h.prefix, a)
	}
	return &logHandler{h.stream, h.prefix, attrs}
}

// WithGroup gives a handler that puts a name before those of attributes.
func (h *logHandler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	return &logHandler{h.stream, h.prefix + name + ".", h.attrs}
}

// put adds an attribute; what JSON cannot hold goes as text.
func put(to map[string]any, prefix string, a slog.Attr) {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindGroup:
		if a.Key != "" {
			prefix += a.Key + "."
		}
		for _, inner := range v.Group() {
			put(to, prefix, inner)
		}
	case slog.KindBool, slog.KindInt64, slog.KindUint64:
		to[prefix+a.Key] = v.Any()
	default:
		to[prefix+a.Key] = valid(v.String())
	}
}
