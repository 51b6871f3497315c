package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/toolhost/toolhost/internal/jsondoc"
)

// parsed is a value within the bounds.
type parsed struct {
	value any
	count int // how many values there are in it, itself included
}

// readValue reads a value and checks it against the bounds. The error is fit for a model.
func readValue(text []byte) (p parsed, err error) {
	if len(text) > maxValueBytes {
		return parsed{}, fmt.Errorf("the value has %d bytes; at most %d are taken", len(text), maxValueBytes)
	}
	if !utf8.Valid(text) {
		return parsed{}, errors.New("the value is no UTF-8 text")
	}
	depth, colons := scan(text)
	if depth > maxValueDepth {
		return parsed{}, fmt.Errorf("the value is nested too deeply: %d levels, at most %d are taken", depth, maxValueDepth)
	}
	if err := notJSON(text); err != nil {
		return parsed{}, fmt.Errorf("the value is no JSON: %w", err)
	}
	p.value, _ = jsondoc.Value(text) // it is not nested deeper than that reads
	members := 0
	if err := checkValue(p.value, &p.count, &members); err != nil {
		return parsed{}, err
	}
	// Decoding keeps the last of two members of one name, and so does
	// JavaScript, but not every reader: they must not see two different values.
	if members != colons {
		return parsed{}, duplicateError(text)
	}
	return p, nil
}

// notJSON says what keeps a text from being one JSON value; nil where nothing does.
func notJSON(text []byte) error {
	if json.Valid(text) {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	var v json.RawMessage
	switch err := dec.Decode(&v); {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the text ends in the middle of a value")
	case err != nil:
		return err
	}
	return errors.New("there is text after its end")
}

func duplicateError(text []byte) error {
	doc, err := jsondoc.Parse(text)
	if err != nil || len(doc.Duplicates) == 0 {
		return errors.New("the value has an object with two members of one name")
	}
	return fmt.Errorf("the value has %q twice; send it once", clip(doc.Duplicates[0], 200))
}

// scan measures how deep a text is nested and counts the members of its objects.
func scan(text []byte) (depth, colons int) {
	now, inText := 0, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{', c == '[':
			now++
			depth = max(depth, now)
		case c == '}', c == ']':
			now--
		case c == ':':
			colons++
		}
	}
	return depth, colons
}

func checkValue(v any, count, members *int) error {
	*count++
	switch v := v.(type) {
	case json.Number:
		if problem := numberProblem(v); problem != "" {
			return errors.New("the value cannot be used: " + problem)
		}
	case []any:
		for _, item := range v {
			if err := checkValue(item, count, members); err != nil {
				return err
			}
		}
	case map[string]any:
		*members += len(v)
		for name, item := range v {
			if len(name) > maxNameBytes {
				return fmt.Errorf("the value has a property name of %d bytes; at most %d are taken", len(name), maxNameBytes)
			}
			if err := checkValue(item, count, members); err != nil {
				return err
			}
		}
	}
	return nil
}
