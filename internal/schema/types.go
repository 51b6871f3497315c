package schema

import (
	"encoding/json"
	"math/big"
	"strings"
)

// typeSet is a set of JSON types. number without integer never occurs.
type typeSet uint8

const (
	typeNull typeSet = 1 << iota
	typeBoolean
	typeInteger
	typeNumber
	typeString
	typeArray
	typeObject

	anyType = typeNull | typeBoolean | typeInteger | typeNumber | typeString | typeArray | typeObject
)

// typeNames are the names in the order of the bits.
var typeNames = [...]string{"null", "boolean", "integer", "number", "string", "array", "object"}

// typesOf reads the value of a type keyword.
func typesOf(v any) typeSet {
	var set typeSet
	switch v := v.(type) {
	case string:
		for i, name := range typeNames {
			if name == v {
				set |= 1 << i
			}
		}
	case []any:
		for _, item := range v {
			if s, ok := item.(string); ok {
				set |= typesOf(s)
			}
		}
	}
	if set&typeNumber != 0 {
		set |= typeInteger
	}
	return set
}

// typeOf gives the narrowest type of a value.
func typeOf(v any) typeSet {
	switch v := v.(type) {
	case nil:
		return typeNull
	case bool:
		return typeBoolean
	case json.Number:
		if isInteger(v) {
			return typeInteger
		}
		return typeNumber
	case string:
		return typeString
	case []any:
		return typeArray
	default:
		return typeObject
	}
}

func isInteger(n json.Number) bool {
	if !strings.ContainsAny(string(n), ".eE") {
		return true
	}
	r, ok := new(big.Rat).SetString(string(n))
	return ok && r.IsInt()
}

// names lists the types, an integer only where number is not there.
func (t typeSet) names() []string {
	if t&typeNumber != 0 {
		t &^= typeInteger
	}
	var names []string
	for i, name := range typeNames {
		if t&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// String gives "string", "string or null", "string, number or null"; null is last.
func (t typeSet) String() string {
	names := t.names()
	if len(names) > 1 && names[0] == "null" {
		names = append(names[1:], "null")
	}
	return orList(names)
}

// orList joins words with commas and a last "or".
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
