package main

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

// receivedSpan is a span as a collector got it.
type receivedSpan struct {
	*trace.Span
	attributes, resource map[string]string
	key                  string // the header with which it came
}

// spans is a collector of traces.
type spans struct {
	collector.UnimplementedTraceServiceServer
	got chan receivedSpan
}

func (s *spans) take(r *collector.ExportTraceServiceRequest, key string) {
	for _, rs := range r.GetResourceSpans() {
		resource := map[string]string{}
		for _, a := range rs.GetResource().GetAttributes() {
			resource[a.GetKey()] = a.GetValue().GetStringValue()
		}
		for _, ss := range rs.GetScopeSpans() {
			for _, span := range ss.GetSpans() {
				attributes := map[string]string{}
				for _, a := range span.GetAttributes() {
					attributes[a.GetKey()] = a.GetValue().GetStringValue()
				}
				s.got <- receivedSpan{span, attributes, resource, key}
			}
		}
	}
}

// Export takes what comes over gRPC.
func (s *spans) Export(ctx context.Context, r *collector.ExportTraceServiceRequest) (*collector.ExportTraceServiceResponse, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	s.take(r, strings.Join(md.Get("x-key"), ","))
	return &collector.ExportTraceServiceResponse{}, nil
}

// ServeHTTP takes what comes over HTTP.
func (s *spans) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		body = unpacked
	}
	raw, err := io.ReadAll(body)
	request := &collector.ExportTraceServiceRequest{}
	if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" || proto.Unmarshal(raw, request) != nil {
		http.Error(w, "this is no export of traces", http.StatusBadRequest)
		return
	}
	s.take(request, r.Header.Get("X-Key"))
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func (s *spans) next(t *testing.T) receivedSpan {
	t.Helper()
	select {
	case span := <-s.got:
		return span
	case <-time.After(30 * time.Second):
		t.Fatal("no span comes")
	}
	return receivedSpan{}
}

// TestTraces: a program that the standard variables of the environment tell to sends a span of
// each call to a collector, over HTTP and over gRPC.
func TestTraces(t *testing.T) {
	for name, start := range map[string]func(*testing.T, *spans) (endpoint string){
		"http/protobuf": func(t *testing.T, s *spans) string {
			server := httptest.NewServer(s)
			t.Cleanup(server.Close)
			return server.URL
		},
		"grpc": func(t *testing.T, s *spans) string {
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			server := grpc.NewServer()
			collector.RegisterTraceServiceServer(server, s)
			served := make(chan error, 1)
			go func() { served <- server.Serve(ln) }()
			t.Cleanup(func() {
				server.Stop()
				if err := <-served; err != nil {
					t.Error(err)
				}
			})
			return "http://" + ln.Addr().String()
		},
	} {
		t.Run(name, func(t *testing.T) {
			to := &spans{got: make(chan receivedSpan, 100)}
			for variable, value := range map[string]string{
				"OTEL_EXPORTER_OTLP_ENDPOINT": start(t, to), "OTEL_EXPORTER_OTLP_PROTOCOL": name, "OTEL_EXPORTER_OTLP_HEADERS": "x-key=the%20key",
				"OTEL_SERVICE_NAME": "tools", "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=lab", "OTEL_BSP_SCHEDULE_DELAY": "10",
			} {
				t.Setenv(variable, value)
			}
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, "hello.txt"), []byte("hello"), 0o600); err != nil {
				t.Fatal(err)
			}
			s := startHTTP(t, "--state", t.TempDir(), "--no-token", "--folder", folder)
			for _, c := range []struct {
				tool, args, parent string
				span, failure      string
			}{
				{"folder_read", `{"path":"hello.txt"}`, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "tools/call folder_read", ""},
				{"folder_read", `{"path":"secret words"}`, "", "tools/call folder_read", "error"},
				{"folder_read", `{"secret":5}`, "", "tools/call folder_read", "arguments"},
				{"folder_read", `{"path":"/etc/secret"}`, "", "tools/call folder_read", "denied"},
				{"secret", `{}`, "", "tools/call", "unknown"},
			} {
				status, text := askStateless(t, s, c.tool, c.args, c.parent)
				if c.failure == "" && (status != http.StatusOK || !strings.Contains(text, "hello")) {
					t.Fatalf("the call gives %d %s", status, text)
				}
				span := to.next(t)
				if span.GetName() != c.span || span.GetKind() != trace.Span_SPAN_KIND_SERVER || span.GetEndTimeUnixNano() < span.GetStartTimeUnixNano() {
					t.Errorf("%s: the span is %v", c.args, span)
				}
				wantCode := trace.Status_STATUS_CODE_UNSET
				if c.failure != "" {
					wantCode = trace.Status_STATUS_CODE_ERROR
				}
				if span.GetStatus().GetCode() != wantCode || span.GetStatus().GetMessage() != c.failure || span.attributes["toolhost.failure"] != c.failure {
					t.Errorf("%s: the status is %v with %q, want %q", c.args, span.GetStatus(), span.attributes["toolhost.failure"], c.failure)
				}
				if c.parent != "" && !strings.Contains(c.parent, fmt.Sprintf("%x-%x", span.GetTraceId(), span.GetParentSpanId())) {
					t.Errorf("%s: the parent is %x-%x, want %s", c.args, span.GetTraceId(), span.GetParentSpanId(), c.parent)
				}
				want := map[string]string{"mcp.method.name": "tools/call", "toolhost.agent": "tracer"}
				if c.failure != "unknown" {
					want["gen_ai.tool.name"] = c.tool
				}
				for key, value := range want {
					if span.attributes[key] != value {
						t.Errorf("%s: %s is %q, want %q", c.args, key, span.attributes[key], value)
					}
				}
				if text := span.String(); strings.Contains(text, "secret") {
					t.Errorf("what the caller said is in the span: %s", text)
				}
				if span.key != "the key" || span.resource["service.name"] != "tools" || span.resource["deployment.environment"] != "lab" {
					t.Errorf("it comes with %q from %v", span.key, span.resource)
				}
			}
		})
	}
}

// askStateless calls a tool by the revision without sessions.
func askStateless(t *testing.T, s *served, tool, args, parent string) (int, string) {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `,"_meta":{` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"tracer","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Accept": "application/json, text/event-stream", "Content-Type": "application/json",
		"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool, "Traceparent": parent,
	} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	return send(t, r)
}
