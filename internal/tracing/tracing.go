// Package tracing makes an OpenTelemetry span of each call, where the standard environment
// variables ask for traces.
//
//	t, err := tracing.FromEnvironment(ctx, h, &tracing.Options{Version: "1.2.3"})
//	defer t.Close(ctx)
//	server := mcpserver.New(h, &mcpserver.Options{Around: t.Around})
//
// Spans hold names, kinds and times: where a call failed, the kind of failure is the status and
// the attribute toolhost.failure. They hold nothing of the arguments and the results.
package tracing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolhost/toolhost/host"
)

// Options of a tracer.
type Options struct {
	Version string // of the program
	// Log is told when spans cannot be delivered; nil drops that.
	Log *slog.Logger
}

// Tracer makes spans. The nil Tracer makes none.
type Tracer struct {
	host     *host.Host
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	stop     func()
}

// FromEnvironment gives a tracer of the calls of h where OTEL_EXPORTER_OTLP_ENDPOINT,
// OTEL_EXPORTER_OTLP_TRACES_ENDPOINT or OTEL_TRACES_EXPORTER=otlp asks for one, and
// nothing turns it off (OTEL_SDK_DISABLED=true, OTEL_TRACES_EXPORTER=none); else nil.
// The other variables of the exporter, the sampler and the batches count as OpenTelemetry
// says. An error says which variable cannot be followed.
//
// Spans are sent in the background. Where they come faster than they can be sent, or
// nobody takes them, they are dropped; a call never waits for them.
func FromEnvironment(ctx context.Context, h *host.Host, options *Options) (*Tracer, error) {
	var o Options
	if options != nil {
		o = *options
	}
	wanted, err := isWanted()
	if err != nil || !wanted {
		return nil, err
	}
	exporter, err := newExporter(ctx)
	if err != nil {
		return nil, err
	}
	if o.Log != nil {
		otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { o.Log.Warn("sending traces", "err", err) }))
	}
	// What the environment says about the resource wins.
	res, err := resource.New(ctx,
		resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "toolhost"), attribute.String("service.version", o.Version)),
		resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("reading OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	return newTracer(h, sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(res))), nil
}

func newTracer(h *host.Host, provider *sdk.TracerProvider) *Tracer {
	// A host looks at what calls were denied only where somebody observes it.
	stop := h.Observe(observer{})
	return &Tracer{host: h, provider: provider, tracer: provider.Tracer("github.com/toolhost/toolhost"), stop: stop}
}

// observer is one that wants to know nothing.
type observer struct{}

// Observe implements [host.Observer].
func (observer) Observe(host.Event) {}

// isWanted reports whether the environment asks for traces.
func isWanted() (bool, error) {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") {
		return false, nil
	}
	switch exporter := os.Getenv("OTEL_TRACES_EXPORTER"); exporter {
	case "none":
		return false, nil
	case "otlp":
		return true, nil
	case "":
		return os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != "", nil
	default:
		return false, fmt.Errorf("OTEL_TRACES_EXPORTER is %q; it may be otlp or none", exporter)
	}
}

func newExporter(ctx context.Context) (sdk.SpanExporter, error) {
	protocol := os.Getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL")
	if protocol == "" {
		protocol = os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL")
	}
	var exporter sdk.SpanExporter
	var err error
	switch protocol {
	case "", "http/protobuf":
		exporter, err = otlptracehttp.New(ctx)
	case "grpc":
		exporter, err = otlptracegrpc.New(ctx)
	default:
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL is %q; it may be http/protobuf or grpc", protocol)
	}
	if err != nil {
		return nil, fmt.Errorf("preparing to send traces: %w", err)
	}
	return exporter, nil
}

// Around begins the span of a call; the function that it gives ends it. carried gives what
// the request carries by a name of the W3C trace context: its traceparent is the parent.
func (t *Tracer) Around(ctx context.Context, call *host.Call, carried func(name string) string) (context.Context, func(*host.Result, error)) {
	if t == nil {
		return ctx, func(*host.Result, error) {}
	}
	ctx = propagation.TraceContext{}.Extract(ctx, carrier(carried))
	name, attributes := "tools/call", []attribute.KeyValue{
		attribute.String("mcp.method.name", "tools/call"),
		attribute.String("toolhost.agent", call.Agent.Name),
	}
	if tool, ok := t.host.Tool(call.Tool); ok { // any other name is the caller's own text
		name += " " + tool.Name
		attributes = append(attributes,
			attribute.String("gen_ai.tool.name", tool.Name),
			attribute.String("toolhost.plugin", tool.Owner),
			attribute.String("toolhost.runtime", tool.Runtime))
	}
	if call.Agent.ID != "" {
		attributes = append(attributes, attribute.String("mcp.session.id", call.Agent.ID))
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attributes...))
	return ctx, func(result *host.Result, err error) {
		errorType, kind := failure(ctx, result, err)
		if kind != host.NoFailure {
			span.SetAttributes(attribute.String("error.type", errorType), attribute.String("toolhost.failure", string(kind)))
			span.SetStatus(codes.Error, string(kind)) // the text of the failure may quote the arguments
		}
		span.End()
	}
}

// failure says how a call failed, by the error.type of OpenTelemetry's conventions for MCP and
// by the kind that the metrics and the call log have.
func failure(ctx context.Context, result *host.Result, err error) (errorType string, kind host.FailureKind) {
	var unknown *host.UnknownToolError
	switch {
	case errors.As(err, &unknown):
		return "unknown_tool", host.FailureUnknown
	case err != nil && ctx.Err() != nil:
		return "cancelled", host.FailureCancelled
	case err != nil:
		return "error", host.FailureError
	case result != nil && result.IsError && result.Failure == host.NoFailure:
		return "tool_error", host.FailureError
	case result != nil && result.IsError:
		return "tool_error", result.Failure
	}
	return "", host.NoFailure
}

// Close sends what has not been sent, until ctx ends.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	t.stop()
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("sending the last traces: %w", err)
	}
	return nil
}

// carrier is a function as the carrier of a trace context that is only read.
type carrier func(string) string

var _ propagation.TextMapCarrier = carrier(nil)

func (c carrier) Get(key string) string { return c(key) }
func (c carrier) Set(string, string)    {}
func (c carrier) Keys() []string        { return nil }
