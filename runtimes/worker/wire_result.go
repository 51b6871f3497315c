package worker

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/toolhost/toolhost/host"
	pb "github.com/toolhost/toolhost/runtimes/worker/workerpb"
)

// encodeResult gives a result as a message; nil for none.
func encodeResult(r *host.Result) (*pb.Result, error) {
	if r == nil {
		return nil, nil
	}
	out := &pb.Result{Failed: r.IsError, Structured: r.Structured, Meta: r.Meta, Value: r.Value, HasValue: r.Value != nil}
	for _, c := range r.Content {
		if reflect.DeepEqual(c, host.Text(c.Text())) {
			out.Content = append(out.Content, &pb.Content{Text: []byte(c.Text())})
			continue
		}
		raw, err := c.MarshalJSON()
		if err != nil {
			return nil, err
		}
		out.Content = append(out.Content, &pb.Content{Json: raw})
	}
	return out, nil
}

// decodeResult gives the result of a message. What it holds may be anything: a block or a
// value that is none is an error.
func decodeResult(m *pb.Result) (*host.Result, error) {
	if m == nil {
		return nil, nil
	}
	r := &host.Result{IsError: m.GetFailed()}
	for i, c := range m.GetContent() {
		if len(c.GetJson()) == 0 {
			r.Content = append(r.Content, host.Text(string(c.GetText())))
			continue
		}
		var block host.Content
		if err := block.UnmarshalJSON(c.GetJson()); err != nil {
			return nil, fmt.Errorf("content[%d]: %w", i, err)
		}
		r.Content = append(r.Content, block)
	}
	if m.GetHasValue() {
		if !json.Valid(m.GetValue()) {
			return nil, fmt.Errorf("the value is no valid JSON")
		}
		r.Value = m.GetValue()
	}
	for what, field := range map[string]struct {
		raw []byte
		to  *json.RawMessage
	}{"structured content": {m.GetStructured(), &r.Structured}, "_meta": {m.GetMeta(), &r.Meta}} {
		if len(field.raw) == 0 {
			continue
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(field.raw, &object) != nil || object == nil {
			return nil, fmt.Errorf("the %s is no JSON object", what)
		}
		*field.to = field.raw
	}
	return r, nil
}
