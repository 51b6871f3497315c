package complete

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/toolhost/toolhost/host"
)

// maxAnswer is how many bytes an answer may have, with what is around the text.
const maxAnswer = 4 * maxText

// prepareHTTP checks what is configured for HTTP.
func (c *Completer) prepareHTTP() error {
	u, err := url.Parse(c.config.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("the url %q is none of http or https", c.config.URL)
	}
	if u.User != nil {
		return errors.New(`the url must hold no password; name a variable in "key-env" or "headers-env"`)
	}
	if c.config.Model == "" {
		return errors.New(`"url" needs a "model"`)
	}
	if !strings.HasSuffix(u.Path, "/chat/completions") {
		u = u.JoinPath("chat", "completions")
	}
	c.config.URL = u.String()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	c.client = &http.Client{
		Transport: transport,
		// A redirect would take the key elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return nil
}

// post has a service complete a prompt.
func (c *Completer) post(ctx context.Context, prompt *host.Prompt) (string, error) {
	body, err := json.Marshal(map[string]any{
		"model": c.config.Model, "stream": false,
		"messages": []map[string]any{{"role": "user", "content": content(prompt)}},
	})
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.config.URL, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Content-Type", "application/json")
	if c.config.KeyEnv != "" {
		key, err := secret(c.config.KeyEnv)
		if err != nil {
			return "", err
		}
		request.Header.Set("Authorization", "Bearer "+key)
	}
	for name, variable := range c.config.HeadersEnv {
		value, err := secret(variable)
		if err != nil {
			return "", err
		}
		request.Header.Set(name, value)
	}
	response, err := c.client.Do(request)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // the address is the host's business
		}
		return "", fmt.Errorf("asking the model: %w", err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return "", fmt.Errorf("reading the model's answer: %w", err)
	}
	if len(answer) > maxAnswer {
		return "", fmt.Errorf("the model's answer has more than %d bytes", maxAnswer)
	}
	return parse(response.StatusCode, answer)
}

// content gives a prompt as the content of a message: a text, or parts where there are images.
func content(prompt *host.Prompt) any {
	if len(prompt.Images) == 0 {
		return prompt.Text
	}
	parts := []any{map[string]string{"type": "text", "text": prompt.Text}}
	for _, image := range prompt.Images {
		address := "data:" + image.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(image.Data)
		parts = append(parts, map[string]any{"type": "image_url", "image_url": map[string]string{"url": address}})
	}
	return parts
}

// parse reads an answer.
func parse(code int, answer []byte) (string, error) {
	var m struct {
		Choices []struct {
			Message struct{ Content *string }
		}
		Error json.RawMessage
	}
	malformed := json.Unmarshal(answer, &m)
	if code != http.StatusOK {
		var e struct{ Message string }
		if malformed == nil && json.Unmarshal(m.Error, &e) == nil && e.Message != "" {
			return "", fmt.Errorf("the model's service answered %d: %.500s", code, e.Message)
		}
		return "", fmt.Errorf("the model's service answered %d %s", code, http.StatusText(code))
	}
	switch {
	case malformed != nil:
		return "", errors.New("the model's service answered with what is no JSON of a chat completion")
	case len(m.Choices) == 0 || m.Choices[0].Message.Content == nil:
		return "", errors.New("the model's service answered without a text")
	case len(*m.Choices[0].Message.Content) > maxText:
		return "", fmt.Errorf("the model's text has more than %d bytes", maxText)
	}
	return *m.Choices[0].Message.Content, nil
}
