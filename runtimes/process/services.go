package process

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/runtimes"
)

// maxBody is how large the body of a response may be that goes to a process, in bytes.
const maxBody = 16 << 20

// serve answers a request that a process makes during a call. What the policy does not
// allow, and what this host does not have, the services refuse themselves.
func (in *instance) serve(ctx context.Context, call *host.Call, method string, params json.RawMessage) (any, error) {
	s := &in.spec.Services
	params = renamerOf(ctx).json(params)
	switch method {
	case "ai.complete":
		var p struct {
			Prompt    *string  `json:"prompt"`
			ImageURLs []string `json:"imageUrls"`
		}
		if err := read(params, &p); err != nil {
			return nil, err
		}
		if p.Prompt == nil {
			return nil, errors.New(`the params of "ai.complete" must have a text "prompt"`)
		}
		images, err := runtimes.PromptImages(p.ImageURLs)
		if err != nil {
			return nil, err
		}
		return s.Complete(ctx, call, &host.Prompt{Text: *p.Prompt, Images: images})
	case "settings.get", "store.get", "store.delete":
		var p struct {
			Key *string `json:"key"`
		}
		if err := read(params, &p); err != nil {
			return nil, err
		}
		if p.Key == nil {
			return nil, fmt.Errorf(`the params of %q must have a text "key"`, method)
		}
		switch method {
		case "settings.get":
			return value(s.Settings.Get(ctx, *p.Key))
		case "store.get":
			return value(s.Store.Get(ctx, *p.Key))
		}
		return s.Store.Delete(ctx, *p.Key)
	case "settings.getAll":
		all, err := s.Settings.All(ctx)
		return all, err
	case "store.set":
		var p struct {
			Key   *string         `json:"key"`
			Value json.RawMessage `json:"value"`
		}
		if err := read(params, &p); err != nil {
			return nil, err
		}
		if p.Key == nil || p.Value == nil {
			return nil, errors.New(`the params of "store.set" must have a text "key" and a "value"`)
		}
		return nil, s.Store.Set(ctx, *p.Key, p.Value)
	case "store.list":
		var p struct {
			Prefix string `json:"prefix"`
		}
		if err := read(params, &p); err != nil {
			return nil, err
		}
		keys, err := s.Store.List(ctx, p.Prefix)
		if keys == nil {
			keys = []string{}
		}
		return keys, err
	case "fetch":
		return in.fetch(ctx, call, params)
	case "execute":
		var p struct {
			Command string          `json:"command"`
			Args    json.RawMessage `json:"args"`
		}
		if err := read(params, &p); err != nil {
			return nil, err
		}
		defer in.waits(ctx)()
		result, err := s.Execute(ctx, call, p.Command, p.Args)
		if err != nil {
			return nil, err
		}
		return value(runtimes.Returned(p.Command, result))
	}
	return nil, fmt.Errorf("the host does not know the method %q", cut(method, 50))
}

// read reads the params of a request; none at all count as an empty object.
func read(params json.RawMessage, into any) error {
	if len(params) == 0 {
		return nil
	}
	if err := json.Unmarshal(params, into); err != nil {
		return fmt.Errorf("the params are not as they should be: %w", err)
	}
	return nil
}

// value gives a value that may be missing.
func value(raw json.RawMessage, err error) (any, error) {
	if err != nil || raw == nil {
		return nil, err
	}
	return raw, nil
}

// fetch sends a request to a host that the call may reach. Bodies are base64 on the wire.
func (in *instance) fetch(ctx context.Context, call *host.Call, params json.RawMessage) (any, error) {
	var p struct {
		URL      string      `json:"url"`
		Method   string      `json:"method"`
		Headers  [][2]string `json:"headers"`
		Body     []byte      `json:"body"`
		Redirect string      `json:"redirect"`
	}
	if err := read(params, &p); err != nil {
		return nil, err
	}
	header := http.Header{}
	for _, h := range p.Headers {
		header.Add(h[0], h[1])
	}
	request := &runtimes.Request{Method: p.Method, URL: p.URL, Header: header, Body: p.Body, Redirect: p.Redirect}
	if err := runtimes.CheckPlaceholders(call.Args, request); err != nil {
		return nil, err
	}
	response, err := in.spec.Services.Network.Fetch(ctx, call.Grant, request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var body bytes.Buffer
	if _, err := io.Copy(&body, io.LimitReader(response.Body, maxBody+1)); err != nil {
		return nil, fmt.Errorf("reading the response: %w", err)
	}
	if body.Len() > maxBody {
		return nil, fmt.Errorf("the response is larger than %d bytes, the limit", maxBody)
	}
	headers := [][2]string{}
	for name, values := range response.Header {
		for _, v := range values {
			headers = append(headers, [2]string{name, v})
		}
	}
	return map[string]any{
		"status": response.Status, "statusText": response.StatusText, "url": response.URL,
		"redirected": response.Redirected, "headers": headers, "body": body.Bytes(),
	}, nil
}
