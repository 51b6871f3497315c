package node_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// TestTextModule calls @toolhost/text: what it gives, and what it says of wrong arguments.
func TestTextModule(t *testing.T) {
	p := open(t, map[string]string{
		"esm.mjs": "import { wordCount, wordFrequency, lines, search, diff, hash, csv, glob } from '@toolhost/text';\n" +
			"const all = { wordCount, wordFrequency, lines, search, diff, hash, csv, glob };\n" +
			"export default ({ code }) => JSON.stringify(new Function(...Object.keys(all), 'return ' + code)(...Object.values(all)));",
		"cjs.cjs": "const text = require('@toolhost/text'); const m = require('node:module'); module.exports = () => [Object.keys(text).join(), m.builtinModules.includes('@toolhost/text')].join(' ');",
	}, 10*time.Second)
	if got := p.call(t, "cjs", "{}"); got != "wordCount,wordFrequency,lines,search,diff,hash,csv,glob false" {
		t.Error(got)
	}
	for code, want := range map[string]string{
		`wordCount('one two\nthree')`:                                         `3`,
		`wordCount(Buffer.from('ü ö'))`:                                       `2`,
		`wordFrequency('b a B')`:                                              `[{"word":"b","count":2},{"word":"a","count":1}]`,
		`wordFrequency('b a B', {limit: 1})`:                                  `[{"word":"b","count":2}]`,
		`wordFrequency('Ab ab c', {caseSensitive: true, minLength: 2})`:       `[{"word":"Ab","count":1},{"word":"ab","count":1}]`,
		`lines('a\r\nb\n')`:                                                   `["a","b"]`,
		`lines('ä\r\n\n😀\rb')`:                                                `["ä","","😀","b"]`,
		`lines(Buffer.from('a\nä'))`:                                          `["a","ä"]`,
		`lines('a long line of ASCII\nb'.repeat(2)).map((l) => l.length)`:     `[20,21,1]`,
		`search('x.y\nxzy', 'x.y')`:                                           `[{"line":1,"column":1,"match":"x.y","text":"x.y"}]`,
		`search('a\n😀Bb', /b+/gi)`:                                            `[{"line":2,"column":3,"match":"Bb","text":"😀Bb"}]`,
		`search('a A', 'a', {ignoreCase: true, limit: 1})`:                    `[{"line":1,"column":1,"match":"a","text":"a A"}]`,
		`search('a/B', /a\/b/, {ignoreCase: true}).length`:                    `1`,
		`diff('a\n', 'b\n', {from: 'x', to: 'y'})`:                            `"--- x\n+++ y\n@@ -1,1 +1,1 @@\n-a\n+b\n"`,
		`diff('a', 'a')`:                                                      `""`,
		`hash('abc', 'sha1')`:                                                 `"a9993e364706816aba3e25717850c26c9cd0d89d"`,
		`[hash(Buffer.from('ü'), 'md5', 'base64url'), hash('ü').slice(0, 6)]`: `["wDQQpSBLIc2CKf91RojXQw","607474"]`,
		`csv.parse('\ufeffa,b\n1,"2,""x"""')`:                                 `[["a","b"],["1","2,\"x\""]]`,
		`csv.parse('a;__proto__\n1;2\n3', {header: true, delimiter: ';'})`:    `[{"a":"1","__proto__":"2"},{"a":"3","__proto__":""}]`,
		`csv.parse('a\nb\nc', {limit: 2})`:                                    `[["a"],["b"]]`,
		`csv.stringify([{a: 1, b: 'x,y'}, {b: null, c: new Date(0)}])`:        `"a,b,c\n1,\"x,y\",\n,,1970-01-01T00:00:00.000Z\n"`,
		`csv.stringify([[1, true], ['q"', {z: 1}]], {newline: '\r\n'})`:       `"1,true\r\n\"q\"\"\",\"{\"\"z\"\":1}\"\r\n"`,
		`csv.stringify([{a: 1, b: 2}], {columns: ['b', 'a'], header: false})`: `"2,1\n"`,
		`[glob('**/*.md', 'a/b.md'), glob('*.{js,ts}', ['a.js', 'b.c'])]`:     `[true,["a.js"]]`,
	} {
		if got := p.call(t, "esm", codeArgument(code)); got != want {
			t.Errorf("%s\n got %s\nwant %s", code, got, want)
		}
	}
	for code, want := range map[string]string{
		`wordCount(5)`:                                      "the text of wordCount must be a string or a Buffer with UTF-8, not a number",
		`wordFrequency('x', {max: 1})`:                      `wordFrequency has no option "max"; it has caseSensitive, minLength, limit`,
		`wordFrequency('x', {limit: -1})`:                   `the option "limit" of wordFrequency must be a whole number from 0 on, not -1`,
		`csv.stringify([Object.assign([], {length: 4e9})])`: `row 0 of csv.stringify has 4000000000 fields; this host's limit is 1048576`,
		`search('x', 'x', {limit: 1e6})`:                    `the option "limit" of search may be 100000 at most, not 1000000`,
		`search('x', '')`:                                   "the pattern of search is empty",
		`search('x', /(?=x)/)`:                              "look-around and back references",
		`hash('x', 'crc')`:                                  "hash knows sha256",
		`csv.parse('a,"b')`:                                 "line 1: a field in quotes is not closed",
		`csv.parse('a', {delimiter: '\n'})`:                 `the option "delimiter" of csv.parse is one ASCII character`,
		`csv.stringify([5])`:                                "row 0 of csv.stringify must be an array or an object, not a number",
		`glob('[', 'x')`:                                    "is not well-formed",
		`glob('x', [1])`:                                    "the paths of glob must be a string or an array of strings",
	} {
		if got := p.call(t, "esm", codeArgument(code)); !strings.HasPrefix(got, "! ") || !strings.Contains(got, want) {
			t.Errorf("%s\n got %s\nwant %s", code, got, want)
		}
	}
}

func codeArgument(code string) string {
	b, err := json.Marshal(map[string]string{"code": code})
	if err != nil {
		panic(err) // a string
	}
	return string(b)
}
