package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/runtimes"
	pb "github.com/toolhost/toolhost/runtimes/worker/workerpb"
)

// serve does what the worker asks for. keep says that cancel belongs to a handle now.
func (h *hosted) serve(ctx context.Context, cancel context.CancelFunc, r *pb.Request) (reply *pb.Reply, keep bool) {
	defer func() {
		if v := recover(); v != nil {
			h.log.Error("a service panicked", "err", fmt.Sprint(v))
			reply, keep = failed(errors.New("internal error in the host")), false
		}
	}()
	s := h.services
	switch a := r.GetAct().(type) {
	case *pb.Request_SettingsGet:
		return valueReply(s.Settings.Get(ctx, string(a.SettingsGet))), false
	case *pb.Request_SettingsAll:
		all, err := s.Settings.All(ctx)
		if err != nil {
			return failed(err), false
		}
		entries := &pb.Entries{}
		for _, key := range slices.Sorted(maps.Keys(all)) {
			entries.Entries = append(entries.Entries, &pb.Entry{Key: []byte(key), Value: all[key]})
		}
		return &pb.Reply{Outcome: &pb.Reply_Entries{Entries: entries}}, false
	case *pb.Request_StoreGet:
		return valueReply(s.Store.Get(ctx, string(a.StoreGet))), false
	case *pb.Request_StoreSet:
		if !json.Valid(a.StoreSet.GetValue()) {
			return failed(errors.New("the value is no JSON")), false
		}
		return done(s.Store.Set(ctx, string(a.StoreSet.GetKey()), a.StoreSet.GetValue())), false
	case *pb.Request_StoreDelete:
		had, err := s.Store.Delete(ctx, string(a.StoreDelete))
		if err != nil {
			return failed(err), false
		}
		return &pb.Reply{Outcome: &pb.Reply_Flag{Flag: had}}, false
	case *pb.Request_StoreList:
		keys, err := s.Store.List(ctx, string(a.StoreList))
		if err != nil {
			return failed(err), false
		}
		list := &pb.Keys{}
		for _, k := range keys {
			list.Keys = append(list.Keys, []byte(k))
		}
		return &pb.Reply{Outcome: &pb.Reply_Keys{Keys: list}}, false
	case *pb.Request_Execute:
		return h.execute(ctx, a.Execute), false
	case *pb.Request_Complete:
		if h.call == nil {
			return failed(errNoCall), false
		}
		var prompt host.Prompt
		if err := json.Unmarshal(a.Complete, &prompt); err != nil {
			return failed(fmt.Errorf("the prompt is not as it should be: %w", err)), false
		}
		text, err := s.Complete(ctx, h.call, &prompt)
		if err != nil {
			return failed(err), false
		}
		return &pb.Reply{Outcome: &pb.Reply_Text{Text: []byte(text)}}, false
	case *pb.Request_SetEnabled:
		return done(s.SetEnabled(ctx, string(a.SetEnabled.GetTool()), a.SetEnabled.GetEnabled())), false
	case *pb.Request_Fetch:
		return h.fetch(ctx, cancel, a.Fetch)
	case *pb.Request_Dial:
		return h.dial(ctx, cancel, a.Dial)
	case *pb.Request_Read:
		return h.read(a.Read), false
	case *pb.Request_Write:
		return h.write(a.Write), false
	case *pb.Request_Close:
		return h.closeHandle(a.Close), false
	}
	return failed(errors.New("the host does not know this request")), false
}

// errNoCall is why a module cannot do for a call what it does while it loads.
var errNoCall = errors.New("no call is running")

func failed(err error) *pb.Reply { return &pb.Reply{Error: encodeError(err)} }

func done(err error) *pb.Reply {
	if err != nil {
		return failed(err)
	}
	return &pb.Reply{Outcome: &pb.Reply_Nothing{Nothing: &pb.Nothing{}}}
}

func valueReply(raw json.RawMessage, err error) *pb.Reply {
	if err != nil || raw == nil {
		return done(err)
	}
	return &pb.Reply{Outcome: &pb.Reply_Text{Text: raw}}
}

func (h *hosted) execute(ctx context.Context, a *pb.Execute) *pb.Reply {
	if h.call == nil {
		return failed(errNoCall)
	}
	if len(a.GetArgs()) > 0 && !json.Valid(a.GetArgs()) {
		return failed(errors.New("the argument is no JSON"))
	}
	result, err := h.services.Execute(ctx, h.call, string(a.GetCommand()), a.GetArgs())
	if err != nil {
		return failed(err)
	}
	m, err := encodeResult(result)
	if err != nil {
		return failed(err)
	}
	return &pb.Reply{Outcome: &pb.Reply_Result{Result: m}}
}

var errTooManyHandles = fmt.Errorf("more than %d responses and connections are open at once", maxHandles)

func (h *hosted) fetch(ctx context.Context, cancel context.CancelFunc, a *pb.Fetch) (*pb.Reply, bool) {
	request := &runtimes.Request{Method: string(a.GetMethod()), URL: string(a.GetUrl()), Header: decodeHeader(a.GetHeader()), Redirect: string(a.GetRedirect())}
	if a.GetHasBody() {
		request.Body = append([]byte{}, a.GetBody()...)
	}
	if h.call != nil {
		if err := runtimes.CheckPlaceholders(h.call.Args, request); err != nil {
			return failed(err), false
		}
	}
	response, err := h.services.Network.Fetch(ctx, h.grant, request)
	if err != nil {
		return failed(err), false
	}
	id := h.keep(&handle{from: response.Body, cancel: cancel})
	if id == 0 {
		_ = response.Body.Close()
		return failed(errTooManyHandles), false
	}
	return &pb.Reply{Outcome: &pb.Reply_Response{Response: &pb.Response{
		Handle: id, Status: int64(response.Status), StatusText: []byte(response.StatusText), Url: []byte(response.URL),
		Redirected: response.Redirected, Header: encodeHeader(response.Header),
	}}}, true
}

func (h *hosted) dial(ctx context.Context, cancel context.CancelFunc, a *pb.Dial) (*pb.Reply, bool) {
	name, port := string(a.GetHost()), int(a.GetPort())
	conn, err := h.services.Network.Dial(ctx, h.grant, name, port)
	if err != nil {
		return failed(runtimes.AsNetworkError(err, name, port)), false
	}
	id := h.keep(&handle{from: conn, conn: conn, cancel: cancel})
	if id == 0 {
		_ = conn.Close()
		return failed(errTooManyHandles), false
	}
	return &pb.Reply{Outcome: &pb.Reply_Connection{Connection: &pb.Connection{
		Handle: id, Local: conn.LocalAddr().String(), Remote: conn.RemoteAddr().String(),
	}}}, true
}

func (h *hosted) read(a *pb.Read) *pb.Reply {
	one := h.handle(a.GetHandle())
	if one == nil {
		return failed(net.ErrClosed)
	}
	one.read.Lock()
	defer one.read.Unlock()
	buffer := make([]byte, min(max(a.GetLimit(), 1), maxChunk))
	n, err := one.from.Read(buffer)
	reply := &pb.Reply{Outcome: &pb.Reply_Chunk{Chunk: &pb.Chunk{Data: buffer[:n], End: err == io.EOF}}}
	if err != nil && err != io.EOF {
		reply.Error = encodeError(runtimes.AsNetworkError(err, "", 0))
	}
	return reply
}

func (h *hosted) write(a *pb.Write) *pb.Reply {
	one := h.handle(a.GetHandle())
	if one == nil || one.conn == nil {
		return failed(net.ErrClosed)
	}
	one.write.Lock()
	defer one.write.Unlock()
	_, err := one.conn.Write(a.GetData())
	return done(runtimes.AsNetworkError(err, "", 0))
}

func (h *hosted) closeHandle(a *pb.Close) *pb.Reply {
	if !a.GetWritingOnly() {
		if one := h.drop(a.GetHandle()); one != nil {
			one.close()
		}
		return done(nil)
	}
	if one := h.handle(a.GetHandle()); one != nil {
		if c, ok := one.conn.(interface{ CloseWrite() error }); ok {
			return done(c.CloseWrite())
		}
	}
	return done(nil)
}
