package process_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	author "github.com/toolhost/toolhost/runtimes/process/plugin"
)

// toolIDs are the tools of the programs of the tests.
var toolIDs = []string{"echo", "text", "nothing", "fail", "envelope", "image", "wait", "spin", "progress", "read", "large", "count", "odd"}

// params are the arguments of these tools.
type params struct {
	Text, Message, Data, Path, Marked, How string
	Bytes                                  int
}

// misbehave does what a program does to its process, whatever it speaks; false where how
// is something else.
func misbehave(how string) bool {
	switch how {
	case "exit 3":
		fmt.Fprintln(os.Stderr, "first line")
		fmt.Fprintln(os.Stderr, "out of cheese")
		syscall.Exit(3)
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSEGV)
	case "silence":
		fmt.Fprintln(os.Stderr, "thinking")
	case "ignore TERM":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	case "stop":
		_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	default:
		return false
	}
	select {}
}

// serveRPC is a plugin that speaks go-plugin.
func serveRPC() {
	tools := map[string]author.Handler{}
	var count atomic.Int64
	for _, id := range toolIDs {
		tools[id] = func(ctx context.Context, call *author.Call) (any, error) {
			var p params
			if err := call.Decode(&p); err != nil {
				return nil, err
			}
			return rpcTool(ctx, call, p, &count)
		}
	}
	author.Serve(&author.Config{Tools: tools})
}

func rpcTool(ctx context.Context, call *author.Call, p params, count *atomic.Int64) (any, error) {
	switch call.Tool {
	case "echo":
		return call.Args, nil
	case "text":
		return p.Text, nil
	case "fail":
		return nil, errors.New(p.Message)
	case "envelope":
		return author.Result{IsError: true, Content: []author.Content{author.Text("failed on purpose")}}, nil
	case "image":
		return json.RawMessage(`{"content":[{"type":"image","mimeType":"image/png","data":"` + p.Data + `"}]}`), nil
	case "wait":
		call.Progress("waiting")
		<-ctx.Done()
		return nil, ctx.Err()
	case "spin":
		call.Progress("spinning")
		for spinning := true; spinning; { // a program that computes without end
		}
	case "progress":
		call.Progress("one")
		call.Progress("two")
		return "done", nil
	case "read":
		text, err := os.ReadFile(cmp.Or(p.Path, p.Marked))
		return string(text), err
	case "large":
		return strings.Repeat("x", p.Bytes), nil
	case "count":
		return strconv.FormatInt(count.Add(1), 10), nil
	case "odd":
		return rpcOdd(ctx, call, p.How)
	}
	return nil, nil
}

func rpcOdd(ctx context.Context, call *author.Call, how string) (any, error) {
	if misbehave(how) {
		return nil, nil
	}
	switch how {
	case "panic":
		panic("on purpose")
	case "stdout":
		fmt.Println("said on stdout")
		fmt.Println(strings.Repeat("x", 200_000))
		fmt.Fprintln(os.Stderr, "said on stderr")
	case "flood":
		for range 20_000 {
			fmt.Println(strings.Repeat("y", 100))
		}
	case "log":
		call.Log.With("a", 1).WithGroup("g").Warn("logged", "b", "two", "plugin", "not me")
	case "many logs":
		for range 5000 {
			call.Log.Info("again")
		}
	case "fork":
		cmd := exec.Command("sleep", "86400")
		if err := cmd.Start(); err != nil {
			return nil, err
		}
	case "no JSON":
		return func() {}, nil
	case "deadline":
		return call.Deadline.After(time.Now()) && call.Folder != "" && call.ID != "" && call.AgentName == "tester", nil
	case "complete":
		return call.Complete(ctx, "say it")
	case "store":
		if err := call.Store().Set(ctx, "k", map[string]int{"n": 7}); err != nil {
			return nil, err
		}
		var v struct{ N int }
		found, err := call.Store().Get(ctx, "k", &v)
		if err != nil {
			return nil, err
		}
		keys, err := call.Store().List(ctx, "")
		if err != nil {
			return nil, err
		}
		had, err := call.Store().Delete(ctx, "k")
		return fmt.Sprint(found, v.N, keys, had), err
	case "setting":
		var unit string
		found, err := call.Settings().Get(ctx, "unit", &unit)
		return fmt.Sprint(found, unit), err
	case "denied":
		_, err := call.Complete(ctx, "x")
		return fmt.Sprint(errors.Is(err, author.ErrDenied)), nil
	case "fetch":
		r, err := call.HTTP().Get("https://api.example.com/x")
		if err != nil {
			return nil, err
		}
		defer r.Body.Close()
		body, err := bufio.NewReader(r.Body).ReadString('\n')
		if err != nil && body == "" {
			return nil, err
		}
		return fmt.Sprint(r.StatusCode, r.Header.Get("X-Test"), body), nil
	}
	return "ok", nil
}

// serveMCP is an MCP server.
func serveMCP(how string) {
	out := bufio.NewWriter(os.Stdout)
	var mu sync.Mutex
	say := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(out, format+"\n", args...)
		out.Flush()
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	count := 0
	replies := make(chan string, 16)
	switch how {
	case "noisy":
		say("Starting server…")
		say(`{"level":"info","msg":"a log line in JSON"}`)
	case "silent":
		select {}
	case "exit":
		fmt.Fprintln(os.Stderr, "no configuration")
		syscall.Exit(2)
	}
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Name      string
				Arguments json.RawMessage
				Meta      struct{ ProgressToken json.RawMessage } `json:"_meta"`
				Cursor    string
			}
		}
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		result := func(v string) { say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, v) }
		switch m.Method {
		case "":
			replies <- strings.TrimSpace(string(line))
		case "initialize":
			switch how {
			case "old":
				result(`{"protocolVersion":"1999-01-01","capabilities":{},"serverInfo":{"name":"t","version":"1"}}`)
			case "stateless":
				say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, m.ID)
			default:
				result(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}`)
			}
		case "server/discover":
			result(`{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`)
		case "ping":
			result(`{}`)
		case "tools/list":
			if m.Params.Cursor == "" {
				result(`{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}},"outputSchema":{"type":"object"}}],"nextCursor":"2"}`)
				continue
			}
			var tools []string
			for _, id := range toolIDs[1:] {
				tools = append(tools, `{"name":"`+id+`","inputSchema":{"type":"object"}}`)
			}
			result(`{"tools":[` + strings.Join(tools, ",") + `]}`)
		case "tools/call":
			var p params
			_ = json.Unmarshal(m.Params.Arguments, &p)
			text := func(s string) {
				quoted, _ := json.Marshal(s)
				result(`{"content":[{"type":"text","text":` + string(quoted) + `}]}`)
			}
			progress := func(s string) {
				say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1,"message":%q}}`, m.Params.Meta.ProgressToken, s)
			}
			switch m.Params.Name {
			case "echo":
				text(string(m.Params.Arguments))
			case "text":
				text(p.Text)
			case "nothing":
				result(`{"content":[]}`)
			case "fail":
				quoted, _ := json.Marshal(p.Message)
				result(`{"isError":true,"content":[{"type":"text","text":` + string(quoted) + `}]}`)
			case "envelope":
				result(`{"isError":true,"content":[{"type":"text","text":"failed on purpose"}]}`)
			case "image":
				result(`{"content":[{"type":"image","mimeType":"image/png","data":"` + p.Data + `"}]}`)
			case "wait":
				progress("waiting") // and never answers
			case "spin":
				progress("spinning")
				for spinning := true; spinning; { // a program that computes without end
				}
			case "progress":
				progress("one")
				progress("two")
				text("done")
			case "read":
				content, err := os.ReadFile(cmp.Or(p.Path, p.Marked))
				if err != nil {
					say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":%q}}`, m.ID, err)
					continue
				}
				text(string(content))
			case "large":
				text(strings.Repeat("x", p.Bytes))
			case "count":
				count++
				text(strconv.Itoa(count))
			case "odd":
				if p.How == "close stdin" { // here, where it is read
					_ = os.Stdin.Close()
					text("ok")
					select {}
				}
				go mcpOdd(p.How, m.ID, say, result, text, replies)
			}
		}
	}
}

func mcpOdd(how string, id json.RawMessage, say func(string, ...any), result, text func(string), replies <-chan string) {
	if misbehave(how) {
		return
	}
	switch how {
	case "junk":
		say("hello\n[1,2]\n\"text\"\nnull\n{}\n{\"jsonrpc\":\"1.0\"}\n\n\xff\xfe")
		text("ok")
	case "glued":
		say(`half a line {"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"ok"}]}}`, id)
	case "twice":
		text("ok")
		text("ok")
	case "other id":
		say(`{"jsonrpc":"2.0","id":"zzz","result":{}}`)
		say(`{"jsonrpc":"2.0","id":99999,"result":{}}`)
		text("ok")
	case "much junk":
		for i := range 900 {
			say("noise %d", i)
		}
		text("ok")
	case "too much junk":
		for i := range 1100 {
			say("noise %d", i)
		}
		text("ok")
	case "long line":
		say("%s", strings.Repeat("x", 5<<20))
	case "flood":
		for {
			say("%s", strings.Repeat("y", 1<<16))
		}
	case "close stdout":
		_ = os.Stdout.Close()
	case "rpc error":
		say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"bad arguments"}}`, id)
	case "no result":
		say(`{"jsonrpc":"2.0","id":%s,"result":7}`, id)
	case "input":
		result(`{"resultType":"input_required","inputRequests":{}}`)
	case "verbatim":
		result(`{"content":[{"type":"text","text":"a","annotations":{"audience":["user"]},"extra":1},{"type":"resource_link","uri":"file:///x","name":"x"},{"type":"new","x":1}],"structuredContent":{"b":1.50},"_meta":{"k":"v"},"unknown":true}`)
	case "structured":
		result(`{"content":[],"structuredContent":{"b":1}}`)
	case "log":
		say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"l","data":"logged"}}`)
		say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		text("ok")
	case "blank lines":
		for {
			say("\n\n\n\n")
		}
	case "asks without end": // and takes no answer
		for i := 0; ; i++ {
			say(`{"jsonrpc":"2.0","id":"q%d","method":"no/such"}`, i)
		}
	case "ask":
		say(`{"jsonrpc":"2.0","id":"s1","method":"ping"}`)
		text(<-replies)
	case "roots":
		say(`{"jsonrpc":"2.0","id":5,"method":"roots/list"}`)
		text(<-replies)
	case "sample":
		say(`{"jsonrpc":"2.0","id":6,"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"say it"}}],"maxTokens":10}}`)
		text(<-replies)
	default:
		text("ok")
	}
}
