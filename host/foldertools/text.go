package foldertools

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"unicode/utf8"
)

// sampleSize is how much of a file is looked at to tell text from binary.
const sampleSize = 8 << 10

// isBinary reports whether the start of a file is no text. As in git, a NUL decides.
func isBinary(sample []byte) bool {
	return bytes.IndexByte(sample[:min(len(sample), sampleSize)], 0) >= 0
}

// isUTF16 reports whether the start of a file is the byte order mark of UTF-16.
func isUTF16(sample []byte) bool {
	return bytes.HasPrefix(sample, []byte{0xff, 0xfe}) || bytes.HasPrefix(sample, []byte{0xfe, 0xff})
}

// binaryError says why a file is not treated as text.
func (f folder) binaryError(name string, info fs.FileInfo, sample []byte) error {
	if isUTF16(sample) {
		return fmt.Errorf("%q is UTF-16 text; this tool works on UTF-8 only, convert the file first", f.rel(name))
	}
	return fmt.Errorf("%q is binary (%s, %s), not text", f.rel(name), mimeType(name, sample), count(info.Size(), "byte"))
}

// textTypes are the types of text files by extension. The table of the operating system
// is not asked: it differs from machine to machine.
var textTypes = [...][2]string{
	{".css", "text/css"}, {".csv", "text/csv"}, {".go", "text/x-go"}, {".htm", "text/html"}, {".html", "text/html"},
	{".js", "text/javascript"}, {".json", "application/json"}, {".jsonl", "application/jsonl"}, {".md", "text/markdown"},
	{".mjs", "text/javascript"}, {".py", "text/x-python"}, {".rs", "text/x-rust"}, {".sh", "text/x-shellscript"},
	{".svg", "image/svg+xml"}, {".toml", "application/toml"}, {".ts", "text/x-typescript"},
	{".tsv", "text/tab-separated-values"}, {".xml", "application/xml"}, {".yaml", "application/yaml"}, {".yml", "application/yaml"},
}

// mimeType tells a file's type: a binary file's by its bytes, a text's by its name, and by
// its first words where the name says nothing.
func mimeType(name string, sample []byte) string {
	found, _, _ := strings.Cut(http.DetectContentType(sample), ";")
	if isBinary(sample) || !validStart(sample) {
		return found
	}
	ext := strings.ToLower(path.Ext(name))
	for _, t := range textTypes {
		if t[0] == ext {
			return t[1]
		}
	}
	if strings.HasPrefix(found, "text/") {
		return found
	}
	return "text/plain" // "BM" begins a BMP picture, and many a sentence
}

// validStart reports whether bytes are UTF-8, the last character perhaps cut.
func validStart(sample []byte) bool {
	for range utf8.UTFMax - 1 {
		if r, n := utf8.DecodeLastRune(sample); r != utf8.RuneError || n != 1 {
			break
		}
		sample = sample[:len(sample)-1]
	}
	return utf8.Valid(sample)
}

// cleanText makes text that every client accepts, and reports whether it had to change it.
func cleanText(b []byte) (text string, changed bool) {
	if utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 {
		return string(b), false
	}
	return strings.ReplaceAll(strings.ToValidUTF8(string(b), "\ufffd"), "\x00", "\ufffd"), true
}

// cutText cuts a text to at most limit bytes between two characters.
func cutText(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// excerpt is a line for a message: on one line, at most 120 bytes.
func excerpt(line string) string {
	line = strings.TrimRight(line, "\r\n")
	if len(line) > 120 {
		return cutText(line, 117) + "…"
	}
	return line
}
