package schema

import (
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/xeipuuv/gojsonschema"
)

// dialect is a version of JSON Schema. Later ones compare greater.
type dialect int

const (
	draft04 dialect = iota
	draft06
	draft07
	draft2019
	draft2020
)

func (d dialect) String() string {
	return [...]string{"draft-04", "draft-06", "draft-07", "2019-09", "2020-12"}[d]
}

// metaURL gives the address of the dialect's meta-schema, which both engines
// have inside them.
func (d dialect) metaURL() string {
	if d >= draft2019 {
		return "https://json-schema.org/draft/" + d.String() + "/schema"
	}
	return "http://json-schema.org/" + d.String() + "/schema"
}

// gojs gives the draft of gojsonschema; meaningful below draft2019.
func (d dialect) gojs() gojsonschema.Draft {
	return [...]gojsonschema.Draft{gojsonschema.Draft4, gojsonschema.Draft6, gojsonschema.Draft7}[d]
}

func (d dialect) santhosh() *jsonschema.Draft {
	return [...]*jsonschema.Draft{jsonschema.Draft4, jsonschema.Draft6, jsonschema.Draft7,
		jsonschema.Draft2019, jsonschema.Draft2020}[d]
}

// idKeyword gives the name of the keyword that names a schema.
func (d dialect) idKeyword() string {
	if d == draft04 {
		return "id"
	}
	return "$id"
}

// definitions gives the keyword below which schemas stand that are only referred to.
func (d dialect) definitions() string {
	if d >= draft2019 {
		return "$defs"
	}
	return "definitions"
}

// dialectOf reads a $schema value: http and https, with and without "#".
func dialectOf(url string) (dialect, bool) {
	rest, ok := strings.CutPrefix(strings.TrimSuffix(url, "#"), "http")
	if !ok {
		return 0, false
	}
	rest = strings.TrimPrefix(rest, "s")
	for d := draft04; d <= draft2020; d++ {
		if rest == d.metaURL()[strings.Index(d.metaURL(), ":"):] {
			return d, true
		}
	}
	return 0, false
}

// shape says what stands behind a keyword.
type shape int

const (
	shapeNote   shape = iota // an annotation: engines need not see it
	shapeValue               // an assertion without schemas in it
	shapeCount               // an assertion that is a count: 3.0 is 3
	shapeData                // any JSON value, compared with
	shapeSchema              // a schema
	shapeList                // a list of schemas
	shapeMap                 // schemas by name
	shapeItems               // a schema or a list of schemas
	shapeDeps                // by name: a schema or a list of names
	shapeDefs                // schemas that are only referred to
	shapeRef                 // a reference
)

// keyword is what a dialect makes of a name in a schema.
type keyword struct {
	shape    shape
	from, to dialect
	inPlace  bool // its schemas look at the value that the schema itself looks at
}

// keywords holds every keyword of the five dialects; it is never changed.
var keywords = func() map[string]keyword {
	all := func(s shape) keyword { return keyword{shape: s, to: draft2020} }
	since := func(d dialect, s shape) keyword { return keyword{shape: s, from: d, to: draft2020} }
	inPlace := func(k keyword) keyword { k.inPlace = true; return k }
	return map[string]keyword{
		"$schema": all(shapeNote), "title": all(shapeNote), "description": all(shapeNote),
		"default": all(shapeNote), "examples": since(draft06, shapeNote), "$comment": since(draft07, shapeNote),
		"readOnly": since(draft07, shapeNote), "writeOnly": since(draft07, shapeNote),
		"deprecated": since(draft2019, shapeNote), "$vocabulary": since(draft2019, shapeNote),
		"contentEncoding": since(draft07, shapeNote), "contentMediaType": since(draft07, shapeNote),
		"contentSchema": since(draft2019, shapeNote),
		"id":            {shape: shapeNote}, "$id": since(draft06, shapeNote),
		"$anchor": since(draft2019, shapeNote), "$dynamicAnchor": since(draft2020, shapeNote),
		"$recursiveAnchor": {shape: shapeNote, from: draft2019, to: draft2019},

		"$ref": inPlace(all(shapeRef)), "$dynamicRef": inPlace(since(draft2020, shapeRef)),
		"$recursiveRef": {shape: shapeRef, from: draft2019, to: draft2019, inPlace: true},
		// $defs is no keyword before 2019-09, but many draft-07 schemas keep their definitions there.
		"definitions": all(shapeDefs), "$defs": all(shapeDefs),

		"type": all(shapeValue), "enum": all(shapeData), "const": since(draft06, shapeData), "format": all(shapeValue),
		"multipleOf": all(shapeValue), "minimum": all(shapeValue), "maximum": all(shapeValue),
		"exclusiveMinimum": all(shapeValue), "exclusiveMaximum": all(shapeValue),
		"minLength": all(shapeCount), "maxLength": all(shapeCount), "pattern": all(shapeValue),
		"minItems": all(shapeCount), "maxItems": all(shapeCount), "uniqueItems": all(shapeValue),
		"minContains": since(draft2019, shapeCount), "maxContains": since(draft2019, shapeCount),
		"minProperties": all(shapeCount), "maxProperties": all(shapeCount),
		"required": all(shapeValue), "dependentRequired": since(draft2019, shapeValue),

		"allOf": inPlace(all(shapeList)), "anyOf": inPlace(all(shapeList)), "oneOf": inPlace(all(shapeList)),
		"not": inPlace(all(shapeSchema)),
		"if":  inPlace(since(draft07, shapeSchema)), "then": inPlace(since(draft07, shapeSchema)), "else": inPlace(since(draft07, shapeSchema)),
		"dependencies":     {shape: shapeDeps, to: draft07, inPlace: true},
		"dependentSchemas": inPlace(since(draft2019, shapeMap)),

		"properties": all(shapeMap), "patternProperties": all(shapeMap), "additionalProperties": all(shapeSchema),
		"propertyNames": since(draft06, shapeSchema), "unevaluatedProperties": since(draft2019, shapeSchema),
		"items": all(shapeItems), "prefixItems": since(draft2020, shapeList),
		"additionalItems": {shape: shapeSchema, to: draft2019}, "contains": since(draft06, shapeSchema),
		"unevaluatedItems": since(draft2019, shapeSchema),
	}
}()

// keyword gives what the dialect makes of a name; false where it knows none such.
func (d dialect) keyword(name string) (keyword, bool) {
	k, ok := keywords[name]
	return k, ok && d >= k.from && d <= k.to
}
