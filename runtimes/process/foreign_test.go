//go:build outside

package process_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
	pb "github.com/toolhost/toolhost/runtimes/process/plugin/pluginpb"
)

// The protocol "go-plugin" can be served from another language: a program in Python, by its
// own gRPC library, in the sandbox.
func TestForeignLanguage(t *testing.T) {
	dir := t.TempDir()
	program, err := os.ReadFile(filepath.Join("testdata", "grpc", "main.py"))
	if err != nil {
		t.Fatal(err)
	}
	// What protoc -o writes.
	described, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{
		protodesc.ToFileDescriptorProto((*pb.Call)(nil).ProtoReflect().Descriptor().ParentFile()),
	}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"main.py": program, "plugin.desc": described} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := open(t, nil, runtimes.Spec{
		Protocol: "go-plugin", Dir: dir, Command: []string{"/usr/bin/python3", "./main.py"}, Policy: &permissions.Policy{AIComplete: true},
		Services: runtimes.Services{Complete: func(_ context.Context, _ *host.Call, prompt *host.Prompt) (string, error) {
			if prompt.Text == "bad" {
				return "", errors.New("no model today")
			}
			return strings.ToUpper(prompt.Text), nil
		}},
	})
	var said []string
	r, err := p.host.Call(t.Context(), &host.Call{Tool: "text", Args: []byte(`{"text":"zażółć 😀"}`), Progress: func(m string) { said = append(said, m) }})
	if err != nil || r.IsError || r.Content[0].Text() != "hello zażółć 😀" || len(said) != 1 || said[0] != "thinking" {
		t.Fatalf("got %+v, %v, %q", r, err, said)
	}
	p.expect("echo", object{"text": "question"}, "QUESTION")
	if text, failed := p.call("echo", object{"text": "bad"}); !failed || !strings.Contains(text, "no model today") {
		t.Errorf("failed %v, %q", failed, text)
	}
	if text, failed := p.call("count", object{}); !failed || !strings.Contains(text, `has no tool "count"`) {
		t.Errorf("failed %v, %q", failed, text)
	}

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	waiting := make(chan bool, 1)
	go func() {
		_, err := p.host.Call(ctx, &host.Call{Tool: "wait", Progress: func(string) { waiting <- true }})
		ended <- err
	}()
	<-waiting
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() { p.expect("text", object{"text": "you"}, "hello you") })
	}
	wg.Wait()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := p.instance.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a greeting is due", "the call was cancelled"} {
		if !strings.Contains(p.log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, p.log)
		}
	}
}
