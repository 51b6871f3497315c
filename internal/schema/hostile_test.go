package schema

import (
	"fmt"
	"strings"
)

// hostileCase is a schema, and perhaps a value, that kills or stalls an engine
// that sees it unprotected.
type hostileCase struct {
	name   string
	schema string
	value  string // checked where the schema compiles; "" for none
	want   string // a rule, "valid", "invalid", or a part of the text
}

const d7 = `"$schema":"http://json-schema.org/draft-07/schema#",`

func hostileCases() []hostileCase {
	var cases []hostileCase
	add := func(name, schema, value, want string) {
		for _, dialect := range []struct{ name, declared string }{{"draft-07", d7}, {"2020-12", ""}} {
			cases = append(cases, hostileCase{dialect.name + " " + name,
				strings.ReplaceAll(schema, "{TYPE", "{"+dialect.declared+`"type":"object"`), value, want})
		}
	}
	repeat := strings.Repeat
	list := func(n int, f func(i int) string) string {
		items := make([]string, n)
		for i := range items {
			items[i] = f(i)
		}
		return strings.Join(items, ",")
	}
	add("self reference", `{TYPE,"allOf":[{"$ref":"#"}]}`, "", "S06")
	add("mutual references", `{TYPE,"properties":{"a":{"$ref":"#/definitions/x"}},"definitions":{"x":{"$ref":"#/definitions/y"},"y":{"anyOf":[{"$ref":"#/definitions/x"}]}}}`, "", "S06")
	add("unknown fragment", `{TYPE,"properties":{"a":{"$ref":"#foo"}}}`, "", "S05")
	add("doubling", `{TYPE,"definitions":{"d0":{},`+list(24, func(i int) string {
		return fmt.Sprintf(`"d%d":{"allOf":[{"$ref":"#/definitions/d%d"},{"$ref":"#/definitions/d%d"}]}`, i+1, i, i)
	})+`},"properties":{"a":{"$ref":"#/definitions/d24"}}}`, "", "S06")
	add("recursive doubling", `{TYPE,"anyOf":[{"properties":{"c":{"$ref":"#"}},"required":["x"]},{"properties":{"c":{"$ref":"#"}}}]}`,
		repeat(`{"c":`, 40)+`{}`+repeat(`}`, 40), "too large or too deeply nested")
	add("doubling of tuples", `{TYPE,"properties":{"a":{"$ref":"#/definitions/t"}},"definitions":{"t":{"anyOf":[{"items":{"$ref":"#/definitions/t"},"maxItems":0},{"items":{"$ref":"#/definitions/t"}}]}}}`,
		`{"a":`+repeat(`[`, 50)+repeat(`]`, 50)+`}`, "too large or too deeply nested")
	add("deep schema", `{TYPE,"properties":{"a":`+repeat(`{"items":`, 70)+`{}`+repeat(`}`, 70)+`}}`, "", "S01")
	add("very deep schema", `{TYPE,"properties":{"a":`+repeat(`{"items":`, 20000)+`{}`+repeat(`}`, 20000)+`}}`, "", "S01")
	add("deep arguments", `{TYPE}`, `{"a":`+repeat(`[`, 9900)+repeat(`]`, 9900)+`}`, "nested too deeply")
	add("a huge number", `{TYPE,"properties":{"n":{"maximum":5}}}`, `{"n":1e1000000000}`, "out of range")
	add("a tiny number", `{TYPE,"properties":{"n":{"multipleOf":5}}}`, `{"n":1e-100000000}`, "out of range")
	add("a long number", `{TYPE,"properties":{"n":{"multipleOf":5}}}`, `{"n":0.`+repeat("1", 1<<20)+`}`, "too long")
	add("a huge number in the schema", `{TYPE,"properties":{"n":{"maximum":1e1000000}}}`, "", "S01")
	add("boolean definitions", `{TYPE,"definitions":true}`, "", "S04")
	add("trailing data", `{TYPE} {}`, "", "S01")
	add("too large", `{TYPE,"title":"`+repeat("x", maxSchemaBytes)+`"}`, "", "S01")
	add("too many subschemas", `{TYPE,"properties":{`+list(maxSubschemas+1, func(i int) string { return fmt.Sprintf(`"p%d":{}`, i) })+`}}`, "", "S01")
	add("as many subschemas as allowed", `{TYPE,"properties":{`+list(maxSubschemas-1, func(i int) string { return fmt.Sprintf(`"p%d":{"type":"string"}`, i) })+`}}`, `{"p1":"x"}`, "valid")
	add("a long name", `{TYPE,"properties":{"`+repeat("k", 2000)+`":{}}}`, "", "S01")
	add("a large pattern", `{TYPE,"properties":{"s":{"pattern":"((a{100}){100}){100}"}}}`, `{"s":"a"}`, "invalid")
	add("many large patterns", `{TYPE,"properties":{`+list(300, func(i int) string { return fmt.Sprintf(`"p%d":{"pattern":"\\pL{900}"}`, i) })+`}}`, "", "S07")
	add("a slow pattern", `{TYPE,"properties":{"s":{"pattern":"^(a+)+(?!x)$"}}}`, `{"s":"`+repeat("a", 50000)+`b"}`, "invalid")
	add("a large text and pattern", `{TYPE,"properties":{"s":{"pattern":"(x+x+){50}y"}}}`, `{"s":"`+repeat("x", 3<<20)+`"}`, "too large")
	add("a wrong list", `{TYPE,"properties":{"l":{"items":{"type":"integer"}}}}`, `{"l":[`+repeat(`"x",`, 250_000)+`1]}`, "send less")
	add("wrong alternatives", `{TYPE,"properties":{"l":{"items":{"anyOf":[{"type":"integer"},{"type":"null"},{"minLength":9},{"enum":["y"]}]}}}}`, `{"l":[`+repeat(`"x",`, 250_000)+`1]}`, "send less")
	add("unknown names", `{TYPE,"additionalProperties":false,"properties":{`+list(1000, func(i int) string { return fmt.Sprintf(`"property_%d":{}`, i) })+`}}`,
		`{`+list(40_000, func(i int) string { return fmt.Sprintf(`"propertie_%d":1`, i) })+`}`, "invalid")
	add("nested unions", `{TYPE,"properties":{"v":{"$ref":"#/definitions/u0"}},"definitions":{"u1000":{"type":"integer","minimum":9},`+list(1000, func(i int) string {
		return fmt.Sprintf(`"u%d":{"anyOf":[{"$ref":"#/definitions/u%d"},{"type":"object","required":["x"]}]}`, i, i+1)
	})+`}}`, `{"v":{}}`, "invalid")
	add("equal items", `{TYPE,"properties":{"l":{"uniqueItems":true}}}`, `{"l":[`+list(20_000, func(i int) string { return fmt.Sprintf(`{"a":%d}`, i) })+`]}`, "valid")
	add("duplicate arguments", `{TYPE}`, `{"a":1,"a":2}`, "twice")
	add("a large text where a list belongs", `{TYPE,"properties":{"l":{"type":"array"}}}`, `{"l":"`+repeat("[", 100_000)+`"}`, "invalid")
	add("many defaults", `{TYPE,"properties":{"l":{"items":{"properties":{`+list(100, func(i int) string { return fmt.Sprintf(`"p%d":{"default":1}`, i) })+`}}}}}`,
		`{"l":[`+repeat(`{},`, 20_000)+`{}]}`, "too large")
	return cases
}
