package node

import (
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dop251/goja"
)

// maxDate is the last moment of a Date, in milliseconds from 1970; the first is as far before.
const maxDate = 8.64e15

// parseDate reads a date as Node does: the standard's format, else whatever people write.
// The standard leaves the latter to the engine, and packages count on what V8 takes: words
// before the first number mean nothing, months are known by their first three letters, a
// number before a colon is of a time, any other of the day. A text that names no time zone
// is of a place. It reports false for what is no date there either.
func parseDate(text string, place *time.Location) (ms int64, ok bool) {
	p := &dateParser{rest: text}
	if !p.standard() {
		*p = dateParser{rest: text}
		if p.failed = !p.free(); p.failed {
			return 0, false
		}
	}
	if p.failed {
		return 0, false
	}
	return p.moment(place)
}

// dateParser has read some of a text.
type dateParser struct {
	rest   string
	failed bool // for good: it begins as the standard's, and is not

	iso     bool
	day     []int // at most three numbers, in their order
	month   int   // by its name; 0 for none
	clock   []int // at most four: hours, minutes, seconds, milliseconds
	closed  bool  // the time is complete
	half    int   // hours that "am" and "pm" stand for
	hasHalf bool
	zone    zoneOffset
}

// zoneOffset is the distance of a time zone from UTC.
type zoneOffset struct {
	sign                 int // 0: none was read
	hours, minutes       int
	hasHours, hasMinutes bool
}

func (z *zoneOffset) set(hours int) {
	z.sign, z.hours, z.minutes, z.hasHours, z.hasMinutes = 1, hours, 0, true, true
	if hours < 0 {
		z.sign, z.hours = -1, -hours
	}
}

// dateToken is the smallest part of a date.
type dateToken struct {
	kind   rune // 'n' a number, 'w' a word, ' ' space, 0 the end, '?' anything else; or itself: one of : - + . )
	number int
	length int    // of a number, with all its digits
	word   string // its first three letters, small; the whole word where it is shorter
	long   bool   // the word is longer
}

// next takes the next token.
func (p *dateParser) next() dateToken {
	if p.rest == "" {
		return dateToken{}
	}
	switch c := p.rest[0]; {
	case c >= '0' && c <= '9':
		return p.numeral()
	case strings.IndexByte(":-+.)", c) >= 0:
		p.rest = p.rest[1:]
		return dateToken{kind: rune(c)}
	case c == '(':
		p.parentheses()
		return dateToken{kind: '?'}
	}
	for i, r := range p.rest {
		switch {
		case i == 0 && isSpace(r):
			p.rest = p.rest[len(string(r)):]
			return dateToken{kind: ' '}
		case i == 0 && r < 'A':
			p.rest = p.rest[1:]
			return dateToken{kind: '?'}
		case r < 'A' || isSpace(r):
			return p.takeWord(i)
		}
	}
	return p.takeWord(len(p.rest))
}

// maxDigits is how many digits of a number count, zeros at its beginning apart.
const maxDigits = 9

func (p *dateParser) numeral() dateToken {
	t := dateToken{kind: 'n'}
	counted := 0
	for ; t.length < len(p.rest) && p.rest[t.length] >= '0' && p.rest[t.length] <= '9'; t.length++ {
		digit := int(p.rest[t.length] - '0')
		if counted == 0 && digit == 0 || counted == maxDigits {
			continue
		}
		counted++
		t.number = t.number*10 + digit
	}
	p.rest = p.rest[t.length:]
	return t
}

func (p *dateParser) takeWord(length int) dateToken {
	word := p.rest[:length]
	p.rest = p.rest[length:]
	t := dateToken{kind: 'w'}
	count := 0
	for _, r := range word {
		if count++; count > 3 {
			t.long = true
			break
		}
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		t.word += string(r)
	}
	return t
}

// parentheses passes over what is in them, others in it included; to the end where they are
// not closed.
func (p *dateParser) parentheses() {
	depth := 0
	for i := 0; i < len(p.rest); i++ {
		switch p.rest[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				p.rest = p.rest[i+1:]
				return
			}
		}
	}
	p.rest = ""
}

// isSpace reports whether a character is white space in JavaScript.
func isSpace(r rune) bool {
	return r == '\ufeff' || r != '\u0085' && unicode.IsSpace(r)
}

// closes reports whether what comes may stand right after a time: its end, space, a sign, or Z.
func (p *dateParser) closes() bool {
	r, _ := utf8.DecodeRuneInString(p.rest)
	return p.rest == "" || isSpace(r) || r == '+' || r == '-' || (r == 'Z' || r == 'z') && p.letterAlone()
}

// letterAlone reports whether the word that comes has one letter.
func (p *dateParser) letterAlone() bool {
	for i, r := range p.rest {
		if i > 0 {
			return r < 'A' || isSpace(r)
		}
	}
	return true
}

// skip takes a sign where it comes next.
func (p *dateParser) skip(sign byte) bool {
	if p.rest == "" || p.rest[0] != sign {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

// fixed takes a number that has exactly so many digits and lies between two others.
func (p *dateParser) fixed(length, least, most int) (int, bool) {
	ahead := *p
	t := ahead.next()
	if t.kind != 'n' || t.length != length || t.number < least || t.number > most {
		return 0, false
	}
	p.rest = ahead.rest
	return t.number, true
}

// standard reads the format of the standard. It reports false where something else may be
// meant; after the T nothing else can be.
func (p *dateParser) standard() bool {
	sign, digits, most := 1, 4, 9999
	if p.skip('+') {
		digits, most = 6, 999999
	} else if p.skip('-') {
		sign, digits, most = -1, 6, 999999
	}
	year, ok := p.fixed(digits, 0, most)
	if !ok || sign < 0 && year == 0 {
		return false
	}
	p.day, p.iso = []int{sign * year}, true
	for _, most := range []int{12, 31} {
		if !p.skip('-') {
			break
		}
		n, ok := p.fixed(2, 1, most)
		if !ok {
			return false
		}
		p.day = append(p.day, n)
	}
	if p.rest == "" {
		p.zone.set(0)
		return true
	}
	if (p.rest[0] != 'T' && p.rest[0] != 't') || !p.letterAlone() {
		return false
	}
	p.rest = p.rest[1:]
	p.failed = !p.standardTime()
	return true
}

// standardTime reads what stands after the T.
func (p *dateParser) standardTime() bool {
	hour, ok := p.fixed(2, 0, 24)
	if !ok || !p.skip(':') {
		return false
	}
	most := 59
	if hour == 24 { // the end of the day
		most = 0
	}
	minute, ok := p.fixed(2, 0, most)
	if !ok {
		return false
	}
	p.clock = []int{hour, minute}
	if p.skip(':') {
		second, ok := p.fixed(2, 0, most)
		if !ok {
			return false
		}
		p.clock = append(p.clock, second)
		if p.skip('.') {
			t := p.next()
			if t.kind != 'n' || hour == 24 && t.number > 0 {
				return false
			}
			p.clock = append(p.clock, thousandths(t))
		}
	}
	switch {
	case p.rest == "":
		return true
	case p.rest == "Z" || p.rest == "z":
		p.zone.set(0)
		return true
	}
	switch p.next().kind {
	case '+':
		p.zone.sign = 1
	case '-':
		p.zone.sign = -1
	default:
		return false
	}
	p.zone.hasHours, p.zone.hasMinutes = true, true
	if both, ok := p.fixed(4, 0, 2359); ok {
		p.zone.hours, p.zone.minutes = both/100, both%100
		return p.zone.minutes < 60 && p.rest == ""
	}
	if p.zone.hours, ok = p.fixed(2, 0, 23); !ok || !p.skip(':') {
		return false
	}
	p.zone.minutes, ok = p.fixed(2, 0, 59)
	return ok && p.rest == ""
}

// thousandths gives the first three digits after a point.
func thousandths(t dateToken) int {
	n, length := t.number, min(t.length, maxDigits)
	for ; length < 3; length++ {
		n *= 10
	}
	for ; length > 3; length-- {
		n /= 10
	}
	return n
}

// Words that mean something.
var (
	dateMonths = map[string]int{"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12}
	dateZones  = map[string]int{"ut": 0, "utc": 0, "z": 0, "gmt": 0, "cdt": -5, "cst": -6, "edt": -4, "est": -5, "mdt": -6, "mst": -7, "pdt": -7, "pst": -8}
	dateHalves = map[string]int{"am": 0, "pm": 12}
)

// free reads a date as people write it.
func (p *dateParser) free() bool {
	numbers := false // one was read
	first := *p
	first.standard() // as far as it is the standard's, it is read by that
	p.rest, p.day, numbers = first.rest, first.day, len(first.day) > 0
	for {
		switch t := p.next(); t.kind {
		case 0:
			return true
		case 'n':
			numbers = true
			if !p.number(t) {
				return false
			}
		case 'w':
			month, isMonth := dateMonths[t.word]
			half, isHalf := dateHalves[t.word]
			zone, isZone := dateZones[t.word]
			switch {
			case isHalf && !t.long && len(p.clock) > 0:
				p.half, p.hasHalf = half, true
			case isMonth:
				p.month = month
				p.skip('-')
			case isZone && !t.long && numbers:
				p.zone.set(zone)
			case numbers, p.rest != "" && p.rest[0] >= '0' && p.rest[0] <= '9':
				return false
			}
		case '+', '-':
			inUTC := p.zone.hasHours && p.zone.hasMinutes && p.zone.hours == 0 && p.zone.minutes == 0
			switch {
			case inUTC || len(p.clock) > 0:
				numbers = true
				if !p.offset(t.kind) {
					return false
				}
			case numbers:
				return false
			}
		case ')':
			if numbers {
				return false
			}
		}
	}
}

// expects reports whether a number can be the next of the time.
func (p *dateParser) expects(n int) bool {
	if p.closed {
		return false
	}
	switch len(p.clock) {
	case 1, 2:
		return n < 60
	case 3:
		return n < 1000
	}
	return false
}

// tell adds numbers to the time; false where it has all of them.
func (p *dateParser) tell(numbers ...int) bool {
	if p.closed || len(p.clock)+len(numbers) > 4 {
		return false
	}
	p.clock = append(p.clock, numbers...)
	return true
}

// number takes a number, by what comes after it.
func (p *dateParser) number(t dateToken) bool {
	n := t.number
	if p.skip(':') {
		if p.skip(':') {
			return len(p.clock) == 0 && p.tell(n, 0)
		}
		if !p.tell(n) {
			return false
		}
		p.skip('.')
		return true
	}
	if p.skip('.') && p.expects(n) {
		fraction := p.next()
		if fraction.kind != 'n' {
			return false
		}
		ok := p.tell(n, thousandths(fraction)) // of a minute it has no meaning, and is too much for a second
		p.closed = true
		return ok
	}
	switch {
	case p.zone.hasHours && !p.zone.hasMinutes && n < 60:
		p.zone.minutes, p.zone.hasMinutes = n, true
	case p.expects(n):
		p.tell(n)
		p.closed = true
		return p.closes()
	default:
		if len(p.day) == 3 {
			return false
		}
		p.day = append(p.day, n)
		p.skip('-')
	}
	return true
}

// offset takes what comes after the sign of a distance from UTC, which may be nothing.
func (p *dateParser) offset(sign rune) bool {
	p.zone.sign = 1
	if sign == '-' {
		p.zone.sign = -1
	}
	var t dateToken
	if p.rest != "" && p.rest[0] >= '0' && p.rest[0] <= '9' {
		t = p.next()
	}
	p.zone.hours, p.zone.minutes, p.zone.hasHours, p.zone.hasMinutes = t.number, 0, true, true
	switch {
	case p.rest != "" && p.rest[0] == ':':
		p.zone.hasMinutes = false
	case t.length == 1 || t.length == 2:
	case t.length == 3 || t.length == 4:
		p.zone.hours, p.zone.minutes = t.number/100, t.number%100
	default:
		return false
	}
	return true
}

// date gives the day that the numbers mean.
func (p *dateParser) date() (year, month, day int, ok bool) {
	if len(p.day) == 0 {
		return 0, 0, 0, false
	}
	n := [3]int{1, 1, 1}
	copy(n[:], p.day)
	isDay := n[0] >= 1 && n[0] <= 31
	switch {
	case p.month > 0 && isDay:
		year, month, day = n[1], p.month, n[0]
	case p.month > 0:
		year, month, day = n[0], p.month, n[1]
	case p.iso || !isDay:
		year, month, day = n[0], n[1], n[2]
	default:
		year, month, day = n[2], n[0], n[1]
	}
	switch {
	case p.iso || year < 0 || year > 99:
	case year < 50:
		year += 2000
	default:
		year += 1900
	}
	return year, month, day, month >= 1 && month <= 12 && day >= 1 && day <= 31
}

// moment gives what was read in milliseconds from 1970.
func (p *dateParser) moment(place *time.Location) (int64, bool) {
	year, month, day, ok := p.date()
	if !ok || year < -300_000 || year > 300_000 {
		return 0, false
	}
	var c [4]int
	copy(c[:], p.clock)
	if p.hasHalf {
		if c[0] > 12 {
			return 0, false
		}
		c[0] = c[0]%12 + p.half
	}
	endOfDay := c == [4]int{24}
	if !endOfDay && (c[0] > 23 || c[1] > 59 || c[2] > 59 || c[3] > 999) {
		return 0, false
	}
	t := time.Date(year, time.Month(month), day, c[0], c[1], c[2], c[3]*1e6, time.UTC)
	seconds := uint32(p.zone.hours)*3600 + uint32(p.zone.minutes)*60 // far too many come out as in Node
	if seconds > math.MaxInt32 {
		return 0, false
	}
	away := time.Duration(p.zone.sign) * time.Duration(seconds) * time.Second
	if p.zone.sign == 0 {
		away = offsetAt(t, place)
	}
	ms := t.Add(-away).UnixMilli()
	return ms, ms >= -maxDate && ms <= maxDate
}

// offsetAt gives how far a place's clocks were from UTC when they showed a time. Where they
// showed it twice or never, it is what they were before they were changed.
func offsetAt(shown time.Time, place *time.Location) time.Duration {
	offset := func(t time.Time) time.Duration {
		_, seconds := t.In(place).Zone()
		return time.Duration(seconds) * time.Second
	}
	before, after := offset(shown.AddDate(0, 0, -1)), offset(shown.AddDate(0, 0, 1))
	if offset(shown.Add(-before)) != before && offset(shown.Add(-after)) == after {
		return after
	}
	return before
}

// dateArgument gives what the engine's constructor of Date makes of its only argument: no
// text, but the moment that it names.
func (e *engine) dateArgument(c goja.FunctionCall) goja.Value {
	v := e.datePrimitive(c.Argument(0))
	if text, ok := v.(goja.String); ok {
		return e.readDate(goja.FunctionCall{Arguments: []goja.Value{text}})
	}
	return v
}

// datePrimitive gives what an object stands for; a date is itself.
func (e *engine) datePrimitive(v goja.Value) goja.Value {
	o, ok := v.(*goja.Object)
	if !ok || o.ClassName() == "Date" {
		return v
	}
	if f, ok := goja.AssertFunction(o.GetSymbol(goja.SymToPrimitive)); ok {
		return must(f(o, e.vm.ToValue("default")))
	}
	for _, name := range []string{"valueOf", "toString"} {
		if f, ok := goja.AssertFunction(o.Get(name)); ok {
			if v := must(f(o)); !isObject(v) {
				return v
			}
		}
	}
	return v
}

func isObject(v goja.Value) bool {
	_, ok := v.(*goja.Object)
	return ok
}

// must gives a value that script made, or throws in turn what the script threw.
func must(v goja.Value, err error) goja.Value {
	if err != nil {
		panic(err)
	}
	return v
}

// namesDate reports whether code may make a date of a text.
func namesDate(code string) bool {
	for {
		i := strings.Index(code, "Date")
		if i < 0 {
			return false
		}
		within := i > 0 && isNamePart(code[i-1])
		code = code[i+len("Date"):]
		if within || code != "" && isNamePart(code[0]) || strings.HasPrefix(code, "()") || strings.HasPrefix(code, ".now(") || strings.HasPrefix(code, ".UTC(") {
			continue
		}
		return true
	}
}

func isNamePart(c byte) bool {
	return c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80
}

// readDate is Date.parse.
func (e *engine) readDate(c goja.FunctionCall) goja.Value {
	if ms, ok := parseDate(c.Argument(0).String(), time.Local); ok {
		return e.vm.ToValue(ms)
	}
	return goja.NaN()
}
