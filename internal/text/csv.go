package text

import (
	"fmt"
	"strings"
)

// CSVError is what is wrong with a text of CSV.
type CSVError struct {
	Line    int
	Message string
}

func (e *CSVError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Message) }

// ParseCSV reads rows of CSV (RFC 4180): fields in quotes may hold delimiters, line ends
// and doubled quotes. Lines may end with \n, \r\n or \r; empty ones are left out. Each row
// is handed to row, which must not keep the slice; it ends the reading by giving false.
func ParseCSV(s string, delimiter byte, row func(fields []string) bool) error {
	var fields []string
	line := 1
	for i := 0; i < len(s); {
		fields = fields[:0]
		first := i
		for {
			var field string
			var err error
			if i < len(s) && s[i] == '"' {
				if field, i, err = quotedField(s, i, &line, delimiter); err != nil {
					return err
				}
			} else {
				start := i
				for i < len(s) && s[i] != delimiter && s[i] != '\n' && s[i] != '\r' {
					i++
				}
				field = s[start:i]
			}
			fields = append(fields, field)
			if i < len(s) && s[i] == delimiter {
				i++
				continue
			}
			break
		}
		empty := i == first
		if i < len(s) { // the end of the line
			if s[i] == '\r' && i+1 < len(s) && s[i+1] == '\n' {
				i++
			}
			i++
			line++
		}
		if !empty && !row(fields) {
			return nil
		}
	}
	return nil
}

// quotedField reads a field that begins with a quote. What follows its closing quote
// belongs to it, as spreadsheets have it.
func quotedField(s string, i int, line *int, delimiter byte) (field string, end int, err error) {
	opened := *line
	i++
	start := i
	var b *strings.Builder
	for {
		n := strings.IndexByte(s[i:], '"')
		if n < 0 {
			return "", i, &CSVError{opened, "a field in quotes is not closed"}
		}
		*line += strings.Count(s[i:i+n], "\n")
		if i+n+1 < len(s) && s[i+n+1] == '"' {
			if b == nil {
				b = &strings.Builder{}
			}
			b.WriteString(s[start : i+n+1])
			i += n + 2
			start = i
			continue
		}
		field = s[start : i+n]
		if b != nil {
			b.WriteString(field)
			field = b.String()
		}
		i += n + 1
		start = i
		for i < len(s) && s[i] != delimiter && s[i] != '\n' && s[i] != '\r' {
			i++
		}
		return field + s[start:i], i, nil
	}
}

// AppendCSV writes one row, without a line end. A field is put in quotes where it must be.
func AppendCSV(b *strings.Builder, fields []string, delimiter byte) {
	if len(fields) == 1 && fields[0] == "" {
		b.WriteString(`""`) // an empty line would be left out when it is read
		return
	}
	for i, field := range fields {
		if i > 0 {
			b.WriteByte(delimiter)
		}
		quote := strings.IndexByte(field, '"')
		if quote < 0 && strings.IndexByte(field, delimiter) < 0 && strings.IndexByte(field, '\n') < 0 && strings.IndexByte(field, '\r') < 0 {
			b.WriteString(field)
			continue
		}
		b.WriteByte('"')
		for quote >= 0 {
			b.WriteString(field[:quote+1])
			b.WriteByte('"')
			field = field[quote+1:]
			quote = strings.IndexByte(field, '"')
		}
		b.WriteString(field)
		b.WriteByte('"')
	}
}
