package tracing

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/toolhost/toolhost/host"
)

const (
	parent  = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
)

func newHost(t *testing.T) *host.Host {
	h := host.New(nil)
	t.Cleanup(func() { _ = h.Close(context.Background()) })
	_, err := h.Replace("kit", host.Plugin, []*host.Tool{{
		Name: "echo", Description: "Echoes.", InputSchema: json.RawMessage(`{"type":"object"}`), Runtime: "node",
		Handler: host.HandlerFunc(func(_ context.Context, c *host.Call) (*host.Result, error) {
			return host.TextResult(string(c.Args)), nil
		}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestAround(t *testing.T) {
	h := newHost(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx     context.Context
		tool    string
		carried map[string]string
		result  *host.Result
		err     error
		span    string
		kind    host.FailureKind
		errType string
		trace   string
	}{
		"good":          {t.Context(), "echo", nil, host.TextResult("done"), nil, "tools/call echo", "", "", ""},
		"with a parent": {t.Context(), "echo", map[string]string{"traceparent": parent}, host.TextResult("done"), nil, "tools/call echo", "", "", traceID},
		"a broken one":  {t.Context(), "echo", map[string]string{"traceparent": "00-zz-zz-01"}, host.TextResult("done"), nil, "tools/call echo", "", "", ""},
		"failed":        {t.Context(), "echo", nil, host.ErrorResult("secret"), nil, "tools/call echo", host.FailureError, "tool_error", ""},
		"of a kind":     {t.Context(), "echo", nil, &host.Result{IsError: true, Failure: host.FailureTimeout}, nil, "tools/call echo", host.FailureTimeout, "tool_error", ""},
		"unknown":       {t.Context(), "secret", nil, nil, &host.UnknownToolError{Tool: "secret"}, "tools/call", host.FailureUnknown, "unknown_tool", ""},
		"cancelled":     {gone, "echo", nil, nil, context.Canceled, "tools/call echo", host.FailureCancelled, "cancelled", ""},
		"another error": {t.Context(), "echo", nil, nil, errors.New("secret"), "tools/call echo", host.FailureError, "error", ""},
	} {
		t.Run(name, func(t *testing.T) {
			spans := tracetest.NewSpanRecorder()
			tracer := newTracer(h, sdk.NewTracerProvider(sdk.WithSpanProcessor(spans)))
			call := &host.Call{Tool: c.tool, Args: json.RawMessage(`{"secret":1}`), Agent: host.Agent{ID: "s", Name: "agent"}}
			_, ended := tracer.Around(c.ctx, call, func(name string) string { return c.carried[name] })
			ended(c.result, c.err)
			if len(spans.Ended()) != 1 {
				t.Fatalf("%d spans", len(spans.Ended()))
			}
			span := spans.Ended()[0]
			if span.Name() != c.span || span.Status().Description != string(c.kind) || (span.Status().Code == codes.Error) != (c.kind != host.NoFailure) {
				t.Errorf("span %q, %+v", span.Name(), span.Status())
			}
			attributes := attribute.NewSet(span.Attributes()...)
			for key, want := range map[attribute.Key]string{"toolhost.failure": string(c.kind), "error.type": c.errType} {
				if got, there := attributes.Value(key); got.AsString() != want || there != (want != "") {
					t.Errorf("%s is %q, want %q", key, got.AsString(), want)
				}
			}
			if got := span.SpanContext().TraceID().String(); c.trace != "" && got != c.trace {
				t.Errorf("trace %s", got)
			}
			text, err := json.Marshal(tracetest.SpanStubFromReadOnlySpan(span))
			if err != nil || strings.Contains(string(text), "secret") {
				t.Errorf("%s, %v", text, err)
			}
			if err := tracer.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestFailures: spans have the kinds of failures that the metrics have, also where nothing else
// observes the host.
func TestFailures(t *testing.T) {
	h := host.New(&host.Options{Folder: t.TempDir()})
	t.Cleanup(func() { _ = h.Close(context.Background()) })
	var tools []*host.Tool
	for name, handle := range map[string]host.HandlerFunc{
		"error": func(context.Context, *host.Call) (*host.Result, error) { return nil, errors.New("no") },
		"denied": func(_ context.Context, c *host.Call) (*host.Result, error) {
			_, err := c.Grant.FS().ReadFile("hidden.txt", 0)
			return host.ErrorResult(err.Error()), nil
		},
		"crash":   func(context.Context, *host.Call) (*host.Result, error) { panic("no") },
		"timeout": func(ctx context.Context, _ *host.Call) (*host.Result, error) { <-ctx.Done(); return nil, ctx.Err() },
	} {
		tool := &host.Tool{
			Name: name, Description: "Fails.", InputSchema: json.RawMessage(`{"type":"object","additionalProperties":false}`), Handler: handle,
		}
		if name == "timeout" {
			tool.Timeout = time.Millisecond
		}
		tools = append(tools, tool)
	}
	if _, err := h.Replace("kit", host.Plugin, tools); err != nil {
		t.Fatal(err)
	}
	spans := tracetest.NewSpanRecorder()
	tracer := newTracer(h, sdk.NewTracerProvider(sdk.WithSpanProcessor(spans)))
	for _, c := range []struct{ tool, args, kind string }{
		{"error", "{}", "error"}, {"denied", "{}", "denied"}, {"crash", "{}", "crash"}, {"timeout", "{}", "timeout"},
		{"error", `{"secret":1}`, "arguments"}, {"none", "{}", "unknown"},
	} {
		call := &host.Call{Tool: c.tool, Args: json.RawMessage(c.args)}
		ctx, ended := tracer.Around(t.Context(), call, func(string) string { return "" })
		ended(h.Call(ctx, call))
		all := spans.Ended()
		if got := all[len(all)-1].Status(); got.Code != codes.Error || got.Description != c.kind {
			t.Errorf("%s %s: the status is %+v, want %s", c.tool, c.args, got, c.kind)
		}
	}
	if err := tracer.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestNoTracer(t *testing.T) {
	var none *Tracer
	ctx, ended := none.Around(t.Context(), &host.Call{}, nil)
	ended(nil, nil)
	if ctx != t.Context() || none.Close(ctx) != nil {
		t.Error("a nil tracer does something")
	}
}

func TestFromEnvironment(t *testing.T) {
	got := make(chan string, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(bytes.NewReader(body))
			if err == nil {
				body, _ = io.ReadAll(z)
			}
		}
		got <- r.URL.Path + " " + string(body)
	}))
	defer collector.Close()
	for name, c := range map[string]struct {
		env   map[string]string
		wants bool
		err   string
		path  string
	}{
		"nothing":             {nil, false, "", ""},
		"an endpoint":         {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL}, true, "", "/v1/traces"},
		"one for traces":      {map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": collector.URL + "/x"}, true, "", "/x"},
		"a service":           {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL, "OTEL_SERVICE_NAME": "mine"}, true, "", "mine"},
		"attributes":          {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL, "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=lab"}, true, "", "lab"},
		"gRPC":                {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, true, "", ""},
		"JSON":                {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/json"}, false, "http/protobuf or grpc", ""},
		"no traces":           {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL, "OTEL_TRACES_EXPORTER": "none"}, false, "", ""},
		"another exporter":    {map[string]string{"OTEL_TRACES_EXPORTER": "console"}, false, "otlp or none", ""},
		"disabled":            {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL, "OTEL_SDK_DISABLED": "TRUE"}, false, "", ""},
		"nobody takes traces": {map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}, true, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, name := range []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_PROTOCOL",
				"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_TRACES_EXPORTER", "OTEL_SDK_DISABLED", "OTEL_SERVICE_NAME", "OTEL_RESOURCE_ATTRIBUTES"} {
				t.Setenv(name, c.env[name])
			}
			tracer, err := FromEnvironment(t.Context(), newHost(t), &Options{Version: "1"})
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v", err)
				}
				return
			}
			if err != nil || (tracer != nil) != c.wants {
				t.Fatalf("tracer %v, %v", tracer, err)
			}
			began := time.Now()
			_, ended := tracer.Around(t.Context(), &host.Call{Tool: "echo"}, func(string) string { return "" })
			ended(host.TextResult("done"), nil)
			if waited := time.Since(began); waited > time.Second {
				t.Errorf("the call waited for %s", waited)
			}
			if c.path == "" {
				ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
				defer cancel()
				_ = tracer.Close(ctx) // nobody takes the traces
				return
			}
			if err := tracer.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if sent := <-got; !strings.Contains(sent, c.path) || !strings.Contains(sent, "tools/call echo") {
				t.Errorf("sent %q", sent)
			}
		})
	}
}
