package mounted

import (
	"net/url"
	"os"
	"slices"
	"strings"
)

// minHidden is the shortest value that is taken out of errors: a shorter one stands there by chance.
const minHidden = 6

// Value is one value of a configuration that may be a secret.
type Value struct{ Name, Value string }

// Values gives what the configuration holds under names: variables of the environment that it
// asks for, its headers, its own variables, and the parameters of its address.
func (c Config) Values() []Value {
	var list []Value
	add := func(name, value string) { list = append(list, Value{name, value}) }
	texts := slices.Concat([]string{c.Command, c.URL, c.Cwd}, c.Args)
	for _, m := range []map[string]string{c.Env, c.Headers} {
		for _, text := range m {
			texts = append(texts, text)
		}
	}
	for _, text := range texts {
		for _, found := range variable.FindAllStringSubmatch(text, -1) {
			if value, set := os.LookupEnv(found[1]); set {
				add(found[1], value)
			}
		}
	}
	filled, _ := c.expanded() // where a variable is missing there is no value of it
	for _, m := range []map[string]string{filled.Env, filled.Headers} {
		for name, value := range m {
			add(name, value)
			if _, token, ok := strings.Cut(value, " "); ok && strings.EqualFold(name, "Authorization") {
				add(name, token)
			}
		}
	}
	if u, err := url.Parse(filled.URL); err == nil {
		if password, set := u.User.Password(); set {
			add("password", password)
		}
		for name, values := range u.Query() {
			for _, value := range values {
				add(name, value)
			}
		}
	}
	return list
}

// hidden is an error whose text does not tell what the configuration holds.
type hidden struct {
	text  string
	cause error
}

func (e *hidden) Error() string { return e.text }
func (e *hidden) Unwrap() error { return e.cause }

// hide takes what the configuration holds out of an error: agents read it, and it goes into logs.
func (c Config) hide(err error) error {
	if err == nil {
		return nil
	}
	list := c.Values()
	slices.SortFunc(list, func(a, b Value) int { return len(b.Value) - len(a.Value) }) // of two that begin alike the whole is to go
	var pairs []string
	for _, v := range list {
		for _, form := range []string{v.Value, url.QueryEscape(v.Value), url.PathEscape(v.Value)} {
			if len(v.Value) >= minHidden {
				pairs = append(pairs, form, "${"+v.Name+"}")
			}
		}
	}
	if text := strings.NewReplacer(pairs...).Replace(err.Error()); text != err.Error() {
		return &hidden{text, err}
	}
	return err
}
