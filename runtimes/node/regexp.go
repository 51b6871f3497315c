package node

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/dop251/goja"

	"github.com/toolhost/toolhost/internal/bundle"
)

// maxShown is how many bytes of a pattern its error shows.
const maxShown = 1_000

func loadRegExp(e *engine) goja.Value {
	return regexpLibrary.load(e, e.object(map[string]any{
		"statics": e.program != nil && e.program.own.statics,
		"isRegExp": func(c goja.FunctionCall) goja.Value {
			o, ok := c.Argument(0).(*goja.Object)
			return e.vm.ToValue(ok && o.ClassName() == "RegExp")
		},
		// (pattern, flags) → what the engine is to compile
		"translate": func(c goja.FunctionCall) goja.Value {
			pattern := patternText(textOf(c.Argument(0)))
			source, used, err := translateRegExp(pattern, c.Argument(1).String())
			if err != nil {
				if len(pattern) > maxShown {
					pattern = strings.ToValidUTF8(pattern[:maxShown], "") + "…"
				}
				panic(e.makeError("SyntaxError", fmt.Sprintf("Invalid regular expression: /%s/%s: %s", pattern, c.Argument(1), err)))
			}
			return e.object(map[string]any{"source": source, "used": used})
		},
	}))
}

// backtracking turns goja to its backtracking engine: the other one takes \p{…} for nothing
// that ever matches, and under the flag u loses the names of groups in texts beyond ASCII.
const backtracking = "(?=)"

// translateRegExp gives a pattern and flags that goja understands rightly.
func translateRegExp(pattern, flags string) (source, used string, err error) {
	if err := bundle.CheckGroups(pattern); err != nil {
		return "", "", err
	}
	if strings.Contains(flags, "d") {
		return "", "", fmt.Errorf("the flag d (match indices) is not available in this host; use the index of the match and the lengths of its groups")
	}
	unicodeMode := strings.Contains(flags, "u")
	if strings.Contains(flags, "v") {
		if unicodeMode {
			return "", "", fmt.Errorf("the flags u and v exclude each other")
		}
		if what := setNotation(pattern); what != "" {
			return "", "", fmt.Errorf("%s of the flag v is not available in this host; write the class out, with the flag u", what)
		}
		unicodeMode, flags = true, strings.ReplaceAll(flags, "v", "u")
	}
	if !unicodeMode {
		return distinguish(pattern), flags, nil
	}
	if !strings.Contains(pattern, `\p`) && !strings.Contains(pattern, `\P`) {
		if strings.Contains(pattern, "(?<") {
			pattern = backtracking + pattern
		}
		return pattern, flags, nil
	}
	var b strings.Builder
	b.WriteString(backtracking)
	inClass := false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '[':
			inClass = true
			b.WriteByte(c)
		case ']':
			inClass = false
			b.WriteByte(c)
		case '\\':
			if i+1 == len(pattern) {
				b.WriteByte(c)
				break
			}
			i++
			if pattern[i] != 'p' && pattern[i] != 'P' {
				b.WriteString(pattern[i-1 : i+1])
				break
			}
			end := strings.IndexByte(pattern[i:], '}')
			if i+1 == len(pattern) || pattern[i+1] != '{' || end < 0 {
				return "", "", fmt.Errorf("invalid property name")
			}
			class, err := propertyClass(pattern[i+2:i+end], pattern[i] == 'P', inClass)
			if err != nil {
				return "", "", err
			}
			b.WriteString(class)
			i += end
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), flags, nil
}

// setNotation names what a pattern uses of the flag v that u does not have; "" if nothing.
func setNotation(pattern string) string {
	inClass := false
	for i := 0; i < len(pattern); i++ {
		switch {
		case pattern[i] == '\\':
			i++
			if inClass && i < len(pattern) && pattern[i] == 'q' {
				return "a string in a class (\\q{…})"
			}
		case !inClass:
			inClass = pattern[i] == '['
		case pattern[i] == ']':
			inClass = false
		case pattern[i] == '[':
			return "a class in a class"
		case strings.HasPrefix(pattern[i:], "--"), strings.HasPrefix(pattern[i:], "&&"):
			return "the set operation " + pattern[i:i+2]
		}
	}
	return ""
}

// categories are the long names of general categories.
var categories = map[string]string{
	"Letter": "L", "Cased_Letter": "LC", "Uppercase_Letter": "Lu", "Lowercase_Letter": "Ll", "Titlecase_Letter": "Lt", "Modifier_Letter": "Lm", "Other_Letter": "Lo",
	"Mark": "M", "Combining_Mark": "M", "Nonspacing_Mark": "Mn", "Spacing_Mark": "Mc", "Enclosing_Mark": "Me",
	"Number": "N", "Decimal_Number": "Nd", "digit": "Nd", "Letter_Number": "Nl", "Other_Number": "No",
	"Punctuation": "P", "punct": "P", "Connector_Punctuation": "Pc", "Dash_Punctuation": "Pd", "Open_Punctuation": "Ps", "Close_Punctuation": "Pe",
	"Initial_Punctuation": "Pi", "Final_Punctuation": "Pf", "Other_Punctuation": "Po",
	"Symbol": "S", "Math_Symbol": "Sm", "Currency_Symbol": "Sc", "Modifier_Symbol": "Sk", "Other_Symbol": "So",
	"Separator": "Z", "Space_Separator": "Zs", "Line_Separator": "Zl", "Paragraph_Separator": "Zp",
	"Other": "C", "Control": "Cc", "cntrl": "Cc", "Format": "Cf", "Surrogate": "Cs", "Private_Use": "Co", "Unassigned": "Cn",
}

// scripts are the short names of the scripts that are written most.
var scripts = map[string]string{
	"Arab": "Arabic", "Armn": "Armenian", "Beng": "Bengali", "Bopo": "Bopomofo", "Cyrl": "Cyrillic", "Deva": "Devanagari", "Ethi": "Ethiopic", "Geor": "Georgian",
	"Grek": "Greek", "Gujr": "Gujarati", "Guru": "Gurmukhi", "Hang": "Hangul", "Hani": "Han", "Hebr": "Hebrew", "Hira": "Hiragana", "Kana": "Katakana", "Khmr": "Khmer",
	"Knda": "Kannada", "Laoo": "Lao", "Latn": "Latin", "Mlym": "Malayalam", "Mong": "Mongolian", "Mymr": "Myanmar", "Orya": "Oriya", "Sinh": "Sinhala", "Taml": "Tamil",
	"Telu": "Telugu", "Thaa": "Thaana", "Thai": "Thai", "Tibt": "Tibetan", "Zinh": "Inherited", "Zyyy": "Common",
}

// binaryProperty gives the tables that make up a binary property.
func binaryProperty(name string) (parts []*unicode.RangeTable, without []*unicode.RangeTable, ok bool) {
	c, p := unicode.Categories, unicode.Properties
	switch name {
	case "Alphabetic", "Alpha":
		return []*unicode.RangeTable{c["L"], c["Nl"], p["Other_Alphabetic"]}, nil, true
	case "Lowercase", "Lower":
		return []*unicode.RangeTable{c["Ll"], p["Other_Lowercase"]}, nil, true
	case "Uppercase", "Upper":
		return []*unicode.RangeTable{c["Lu"], p["Other_Uppercase"]}, nil, true
	case "White_Space", "space":
		return []*unicode.RangeTable{p["White_Space"]}, nil, true
	case "Math":
		return []*unicode.RangeTable{c["Sm"], p["Other_Math"]}, nil, true
	case "ID_Start", "IDS", "XID_Start", "XIDS":
		return []*unicode.RangeTable{c["L"], c["Nl"], p["Other_ID_Start"]}, []*unicode.RangeTable{p["Pattern_Syntax"], p["Pattern_White_Space"]}, true
	case "ID_Continue", "IDC", "XID_Continue", "XIDC":
		return []*unicode.RangeTable{c["L"], c["Nl"], p["Other_ID_Start"], c["Mn"], c["Mc"], c["Nd"], c["Pc"], p["Other_ID_Continue"]},
			[]*unicode.RangeTable{p["Pattern_Syntax"], p["Pattern_White_Space"]}, true
	case "ASCII":
		return []*unicode.RangeTable{{R16: []unicode.Range16{{Lo: 0, Hi: 0x7f, Stride: 1}}}}, nil, true
	case "Emoji", "Emoji_Presentation", "EPres", "Extended_Pictographic", "ExtPict", "Emoji_Modifier", "EMod", "Emoji_Modifier_Base", "EBase", "Emoji_Component", "EComp":
		return nil, nil, false // the engine's own tables have them
	}
	short := map[string]string{"AHex": "ASCII_Hex_Digit", "Hex": "Hex_Digit", "Dia": "Diacritic", "Ideo": "Ideographic", "Pat_Syn": "Pattern_Syntax", "Pat_WS": "Pattern_White_Space",
		"QMark": "Quotation_Mark", "STerm": "Sentence_Terminal", "Term": "Terminal_Punctuation", "UIdeo": "Unified_Ideograph", "VS": "Variation_Selector", "RI": "Regional_Indicator"}
	if long, ok := short[name]; ok {
		name = long
	}
	if t, ok := p[name]; ok && !strings.HasPrefix(name, "Other_") {
		return []*unicode.RangeTable{t}, nil, true
	}
	return nil, nil, false
}

// propertyClass gives what stands for \p{name} or \P{name}.
func propertyClass(name string, negated, inClass bool) (string, error) {
	letter := map[bool]string{false: "p", true: "P"}[negated]
	key, value, hasValue := strings.Cut(name, "=")
	if hasValue {
		switch key {
		case "General_Category", "gc":
			if short, ok := categories[value]; ok {
				value = short
			}
			if _, ok := unicode.Categories[value]; !ok {
				return "", fmt.Errorf("invalid property name %q", name)
			}
			name = value
		case "Script", "sc", "Script_Extensions", "scx":
			if long, ok := scripts[value]; ok {
				value = long
			}
			if _, ok := unicode.Scripts[value]; !ok {
				return "", fmt.Errorf("invalid property name %q", name)
			}
			return `\` + letter + "{" + value + "}", nil
		default:
			return "", fmt.Errorf("invalid property name %q", name)
		}
	}
	if short, ok := categories[name]; ok {
		name = short
	}
	switch name {
	case "Any":
		return setClass([]span{{0, unicode.MaxRune}}, negated, inClass), nil
	case "Assigned":
		negated, name = !negated, "Cn"
	}
	if _, ok := unicode.Categories[name]; ok {
		switch name {
		case "LC", "Cn", "C":
			return setClass(spansOf([]*unicode.RangeTable{unicode.Categories[name]}, nil), negated, inClass), nil
		}
		return `\` + letter + "{" + name + "}", nil
	}
	if parts, without, ok := binaryProperty(name); ok {
		return setClass(spansOf(parts, without), negated, inClass), nil
	}
	if engineProperties[name] {
		return `\` + letter + "{" + name + "}", nil
	}
	return "", fmt.Errorf("the property %q is unknown, or not available in this host", name)
}

// engineProperties are those that the backtracking engine knows beyond Go's tables.
var engineProperties = map[string]bool{"Emoji": true, "Emoji_Presentation": true, "Emoji_Modifier": true, "Emoji_Modifier_Base": true, "Emoji_Component": true, "Extended_Pictographic": true}

// span is a range of characters, both ends included.
type span struct{ lo, hi rune }

// spansOf gives the characters of some tables without those of others, in order.
func spansOf(parts, without []*unicode.RangeTable) []span {
	spans := mergeTables(parts)
	for _, out := range mergeTables(without) {
		var left []span
		for _, s := range spans {
			if out.hi < s.lo || out.lo > s.hi {
				left = append(left, s)
				continue
			}
			if s.lo < out.lo {
				left = append(left, span{s.lo, out.lo - 1})
			}
			if s.hi > out.hi {
				left = append(left, span{out.hi + 1, s.hi})
			}
		}
		spans = left
	}
	return spans
}

// mergeTables gives the characters of tables as spans that are in order and do not touch.
func mergeTables(tables []*unicode.RangeTable) []span {
	var all []span
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			all = append(all, span{lo, hi})
			return
		}
		for r := lo; r <= hi; r += stride {
			all = append(all, span{r, r})
		}
	}
	for _, t := range tables {
		for _, r := range t.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
	merged := all[:0]
	for _, s := range all {
		if n := len(merged); n > 0 && s.lo <= merged[n-1].hi+1 {
			merged[n-1].hi = max(merged[n-1].hi, s.hi)
			continue
		}
		merged = append(merged, s)
	}
	return merged
}

// setClass writes spans as a class, or as what stands in one.
func setClass(spans []span, negated, inClass bool) string {
	if negated && inClass {
		var rest []span
		next := rune(0)
		for _, s := range spans {
			if s.lo > next {
				rest = append(rest, span{next, s.lo - 1})
			}
			next = s.hi + 1
		}
		if next <= unicode.MaxRune {
			rest = append(rest, span{next, unicode.MaxRune})
		}
		spans, negated = rest, false
	}
	var b strings.Builder
	for _, s := range spans {
		fmt.Fprintf(&b, `\u{%x}`, s.lo)
		if s.hi > s.lo {
			fmt.Fprintf(&b, `-\u{%x}`, s.hi)
		}
	}
	switch {
	case inClass:
		return b.String()
	case negated:
		return "[^" + b.String() + "]"
	}
	return "[" + b.String() + "]"
}
