package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/permissions"
	"github.com/toolhost/toolhost/runtimes"
	pb "github.com/toolhost/toolhost/runtimes/worker/workerpb"
)

// sessions are the streams that are open in a worker.
type sessions struct {
	mu   sync.Mutex
	open []*session
}

func (s *sessions) add(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = append(s.open, one)
}

func (s *sessions) remove(one *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, o := range s.open {
		if o == one {
			s.open = append(s.open[:i:i], s.open[i+1:]...)
			return
		}
	}
}

// find gives the first open session that fits.
func (s *sessions) find(fits func(*session) bool) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.open {
		if fits(o) {
			return o
		}
	}
	return nil
}

type sessionKey struct{}

func withSession(ctx context.Context, s *session) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

// of gives the session of what is asked: by its context, else the one that fits.
func (s *sessions) of(ctx context.Context, fits func(*session) bool) (*session, error) {
	own, ok := ctx.Value(sessionKey{}).(*session)
	if ok {
		if found := s.find(func(o *session) bool { return o == own && fits(o) }); found != nil {
			return found, nil
		}
	}
	// The context of an engine that outlives its calls is that of none of them.
	if found := s.find(fits); found != nil {
		return found, nil
	}
	return nil, errCallEnded
}

// ask sends a request and gives its reply. Where ctx ends before, the host is told.
func (s *session) ask(ctx context.Context, r *pb.Request) (*pb.Reply, error) {
	if size := proto.Size(r); size > maxRequest {
		return nil, fmt.Errorf("the request is %d bytes; the limit is %d bytes", size, maxRequest)
	}
	reply := make(chan *pb.Reply, 1)
	s.mu.Lock()
	if s.over {
		s.mu.Unlock()
		return nil, errCallEnded
	}
	s.lastID++
	r.Id = s.lastID
	s.waiting[r.Id] = reply
	s.mu.Unlock()
	forget := func() {
		s.mu.Lock()
		delete(s.waiting, r.Id)
		s.mu.Unlock()
	}
	if err := s.send(&pb.FromWorker{Message: &pb.FromWorker_Request{Request: r}}); err != nil {
		forget()
		return nil, errCallEnded
	}
	select {
	case m, ok := <-reply:
		if !ok {
			return nil, errCallEnded
		}
		if m.GetError() != nil {
			return m, decodeError(m.GetError())
		}
		return m, nil
	case <-ctx.Done():
		forget()
		_ = s.send(&pb.FromWorker{Message: &pb.FromWorker_Abandon{Abandon: r.Id}}) // a stream that has ended knows
		return nil, ctx.Err()
	}
}

// services gives the host's services, as the worker reaches them.
func services(s *sessions) runtimes.Services {
	return runtimes.Services{
		Settings: settings{s}, Store: store{s}, Network: network{s},
		Execute: func(ctx context.Context, call *host.Call, command string, args json.RawMessage) (*host.Result, error) {
			m, err := s.ask(ctx, ofCall(call), &pb.Request{Act: &pb.Request_Execute{Execute: &pb.Execute{Command: []byte(command), Args: args}}})
			if err != nil {
				return nil, err
			}
			return decodeResult(m.GetResult())
		},
		Complete: func(ctx context.Context, call *host.Call, prompt *host.Prompt) (string, error) {
			data, err := json.Marshal(prompt)
			if err != nil {
				return "", err
			}
			m, err := s.ask(ctx, ofCall(call), &pb.Request{Act: &pb.Request_Complete{Complete: data}})
			return string(m.GetText()), err
		},
		SetEnabled: func(ctx context.Context, tool string, enabled bool) error {
			_, err := s.ask(ctx, anySession, &pb.Request{Act: &pb.Request_SetEnabled{SetEnabled: &pb.SetEnabled{Tool: []byte(tool), Enabled: enabled}}})
			return err
		},
	}
}

func anySession(*session) bool { return true }

func ofCall(call *host.Call) func(*session) bool {
	return func(s *session) bool { return call == nil || s.callID == call.ID }
}

func ofGrant(grant *permissions.Grant) func(*session) bool {
	return func(s *session) bool { return s.grant == nil || s.grant == grant } // the opening has none that the engine knows
}

func (s *sessions) ask(ctx context.Context, fits func(*session) bool, r *pb.Request) (*pb.Reply, error) {
	one, err := s.of(ctx, fits)
	if err != nil {
		return nil, err
	}
	return one.ask(ctx, r)
}

// value gives the JSON value in a reply; nil where it says that there is none.
func value(m *pb.Reply, err error) (json.RawMessage, error) {
	if err != nil || m.GetNothing() != nil {
		return nil, err
	}
	return m.GetText(), nil
}

type settings struct{ s *sessions }

var _ runtimes.Settings = settings{}

func (p settings) Get(ctx context.Context, key string) (json.RawMessage, error) {
	return value(p.s.ask(ctx, anySession, &pb.Request{Act: &pb.Request_SettingsGet{SettingsGet: []byte(key)}}))
}

func (p settings) All(ctx context.Context) (map[string]json.RawMessage, error) {
	m, err := p.s.ask(ctx, anySession, &pb.Request{Act: &pb.Request_SettingsAll{SettingsAll: &pb.Nothing{}}})
	if err != nil {
		return nil, err
	}
	all := map[string]json.RawMessage{}
	for _, e := range m.GetEntries().GetEntries() {
		all[string(e.GetKey())] = e.GetValue()
	}
	return all, nil
}

type store struct{ s *sessions }

var _ runtimes.Store = store{}

func (p store) Get(ctx context.Context, key string) (json.RawMessage, error) {
	return value(p.s.ask(ctx, anySession, &pb.Request{Act: &pb.Request_StoreGet{StoreGet: []byte(key)}}))
}

func (p store) Set(ctx context.Context, key string, value json.RawMessage) error {
	_, err := p.s.ask(ctx, anySession, &pb.Request{Act: &pb.Request_StoreSet{StoreSet: &pb.Entry{Key: []byte(key), Value: value}}})
	return err
}

func (p store) Delete(ctx context.Context, key string) (bool, error) {
	m, err := p.s.ask(ctx, anySession, &pb.Request{Act: &pb.Request_StoreDelete{StoreDelete: []byte(key)}})
	return m.GetFlag(), err
}

func (p store) List(ctx context.Context, prefix string) ([]string, error) {
	m, err := p.s.ask(ctx, anySession, &pb.Request{Act: &pb.Request_StoreList{StoreList: []byte(prefix)}})
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, k := range m.GetKeys().GetKeys() {
		keys = append(keys, string(k))
	}
	return keys, nil
}

type network struct{ s *sessions }

var _ runtimes.Network = network{}

func (p network) Fetch(ctx context.Context, grant *permissions.Grant, r *runtimes.Request) (*runtimes.Response, error) {
	one, err := p.s.of(ctx, ofGrant(grant))
	if err != nil {
		return nil, err
	}
	f := &pb.Fetch{Method: []byte(r.Method), Url: []byte(r.URL), Header: encodeHeader(r.Header), Body: r.Body, HasBody: r.Body != nil, Redirect: []byte(r.Redirect)}
	m, err := one.ask(ctx, &pb.Request{Act: &pb.Request_Fetch{Fetch: f}})
	if err != nil {
		return nil, err
	}
	a := m.GetResponse()
	if a == nil {
		return nil, errReply
	}
	return &runtimes.Response{
		Status: int(a.GetStatus()), StatusText: string(a.GetStatusText()), URL: string(a.GetUrl()), Redirected: a.GetRedirected(),
		Header: decodeHeader(a.GetHeader()), Body: newRemote(ctx, one, a.GetHandle()),
	}, nil
}

func (p network) Dial(ctx context.Context, grant *permissions.Grant, host string, port int) (net.Conn, error) {
	one, err := p.s.of(ctx, ofGrant(grant))
	if err != nil {
		return nil, err
	}
	m, err := one.ask(ctx, &pb.Request{Act: &pb.Request_Dial{Dial: &pb.Dial{Host: []byte(host), Port: int64(port)}}})
	if err != nil {
		return nil, err
	}
	c := m.GetConnection()
	if c == nil {
		return nil, errReply
	}
	return newConnection(one, c), nil
}

var errReply = errors.New("the host's reply is not of the kind that was asked for")
