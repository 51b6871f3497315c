package loader

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPublishedRules keeps docs/rules.md and the rules together; -update writes it.
func TestPublishedRules(t *testing.T) {
	var b strings.Builder
	b.WriteString(`# Rules

What ` + "`toolhost check`" + ` looks for. An error keeps the plugin from loading; a warning does not (with
` + "`--strict`" + ` it does); an info is shown by ` + "`check --all`" + `. Ids are stable.

## Plugins

| id | severity | what must hold |
| --- | --- | --- |
`)
	for _, r := range Rules() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.ID, r.Severity, strings.ReplaceAll(r.Text, "|", `\|`))
	}
	b.WriteString(schemaRules)
	path := filepath.Join("..", "docs", "rules.md")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != b.String() {
		t.Errorf("docs/rules.md does not say what the rules are (%v); go test ./loader -run TestPublishedRules -update writes it", err)
	}
}

// schemaRules are those of package schema, whose findings carry the ids.
const schemaRules = `
## Schema files

| id | severity | what must hold |
| --- | --- | --- |
| S01 | error | one JSON value, no name twice, at most 256 KiB, 64 levels and 5000 sub-schemas, numbers that a float64 holds |
| S02 | error | the root is ` + "`\"type\": \"object\"`" + ` |
| S03 | error | ` + "`$schema`" + ` is draft-04, draft-06, draft-07, 2019-09 or 2020-12, or absent |
| S04 | error | the schema is valid against its meta-schema |
| S05 | error | references stay in the document or the plugin folder and lead somewhere; no nested ` + "`$id`" + ` |
| S06 | error | no reference leads back to itself without a step into the value; alternatives are bounded |
| S07 | error | patterns are regular expressions of RE2 or ECMAScript |
| S08 | error | defaults fit their own schema |
| S09 | error | a required name is in ` + "`properties`" + ` where additional ones are refused (else a warning) |
| S10 | error | ` + "`x-mcp-header`" + ` stands where MCP allows it |
| M01 | warning | no ` + "`anyOf`, `oneOf`, `allOf`, `not`, `enum`, `const` or `if`" + ` at the root: some model providers refuse the whole request |
| M02 | warning | property names are up to 64 letters, digits, ` + "`_`, `.` and `-`" + ` |
| M03 | warning | an array says what its ` + "`items`" + ` are |
| M04 | info | an older draft is declared |
| M05 | info | ` + "`$ref`" + ` is used: some clients cannot follow it |
| M06 | warning | no keyword of another draft, which would be ignored |
| M07 | warning | keywords are known |
| M08 | warning | formats are ones that are checked |
| M09 | info | formats other than date-time |
| M10 | info | choices that are no texts, properties without a type |
| M11 | warning | patterns need no look-around or back reference: these have a time limit |
| M12 | warning | at most 250 choices, 1000 in all, 10 levels |
| M13 | warning | the tool has a description of 20 characters; info: a property has one |
| M14 | info | unknown properties are refused at the root |
| M15 | info | at most 8 KiB and 30 properties at the root |
| M16 | info | no default for a required property |
| M17 | warning | titles and descriptions hold no hidden characters: control, bidirectional or without width |
`
