package plugins_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/testhost"
)

func TestCases(t *testing.T) {
	for _, dir := range materialise(t, t.TempDir()) {
		t.Run(filepath.Base(dir), func(t *testing.T) { testhost.RunCases(t, dir) })
	}
}

// bundled is a host with all bundled plugins, and its folder.
func bundled(t *testing.T) (*host.Host, string) {
	t.Helper()
	folder := t.TempDir()
	return testhost.New(t, folder, materialise(t, t.TempDir())...), folder
}

func call(t *testing.T, h *host.Host, tool, args string) *host.Result {
	t.Helper()
	result, err := h.Call(t.Context(), &host.Call{Tool: tool, Args: json.RawMessage(args)})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func write(t *testing.T, folder, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestLargeFiles bounds what a handler does with as much as it takes: each call must
// end well before its timeout, in an interpreter and on a busy machine.
func TestLargeFiles(t *testing.T) {
	h, folder := bundled(t)
	write(t, folder, "words.txt", bytes.Repeat([]byte("some words, and more of them\n"), 30_000))
	write(t, folder, "long.md", bytes.Repeat([]byte("# Heading `x`\n\nText with [a link](long.md#heading-x) and `code`.\n\n"), 1_000))
	write(t, folder, "ticks.md", bytes.Repeat([]byte("`` ` ```"), 20_000))
	write(t, folder, "brackets.md", bytes.Repeat([]byte("](("), 20_000))
	write(t, folder, "rows.csv", append([]byte("id,name,\"the amount\"\n"), bytes.Repeat([]byte("17,\"Doe, Ann\",3.25\n"), 8_000)...))
	for _, c := range []struct{ tool, args, want string }{
		{"count_words", `{"path":"words.txt"}`, "180000 words in words.txt\n30000 lines"},
		{"markdown_outline", `{"path":"long.md","depth":1}`, "- Heading x (line 1, #heading-x)\n- Heading x (line 5, #heading-x-1)"},
		{"markdown_links", `{"path":"long.md"}`, "no broken links in long.md: 1000 relative links checked"},
		{"markdown_links", `{"path":"ticks.md"}`, "no broken links"},
		{"markdown_links", `{"path":"brackets.md"}`, "no broken links"},
		{"table_describe", `{"path":"rows.csv"}`, "rows.csv: CSV with \",\", 8000 rows, 3 columns"},
		{"table_filter", `{"path":"rows.csv","where":[{"column":"name","operator":"equals","value":"Doe, Ann"}],"limit":1}`, "id,name,the amount\n17,\"Doe, Ann\",3.25\n\n8000 of 8000 rows match; rows 1 to 1 are shown, go on with offset 1"},
	} {
		result := call(t, h, c.tool, c.args)
		if got := result.Content[0].Text(); result.IsError || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %s: failed %v, %.200q, want %q", c.tool, c.args, result.IsError, got, c.want)
		}
	}
}

func TestOnlyWhatTheArgumentsName(t *testing.T) {
	h, folder := bundled(t)
	outside := filepath.Join(filepath.Dir(folder), "outside.md")
	if err := os.WriteFile(outside, []byte("# Secret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(folder, "link.md")); err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"count_words", "markdown_outline", "markdown_links", "table_describe", "table_filter", "image_info", "image_preview"} {
		for _, path := range []string{"../outside.md", "link.md", outside} {
			result := call(t, h, tool, fmt.Sprintf(`{"path":%q}`, path))
			if text := result.Content[0].Text(); !result.IsError || !strings.Contains(text, "/path") || strings.Contains(text, "Secret") {
				t.Errorf("%s of %s: failed %v, %q", tool, path, result.IsError, text)
			}
		}
	}
}

// photo is a JPEG picture of noise, which no compression makes small.
func photo(t *testing.T, side int) []byte {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 6))
	m := image.NewRGBA(image.Rect(0, 0, side, side))
	for i := range m.Pix {
		m.Pix[i] = byte(r.Uint32())
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// withThumbnail puts a thumbnail into a JPEG file as cameras do.
func withThumbnail(file, thumbnail []byte, order binary.AppendByteOrder, mark string) []byte {
	tiff := append([]byte(mark), order.AppendUint16(nil, 42)...)
	tiff = order.AppendUint32(tiff, 8)
	tiff = order.AppendUint16(tiff, 0)  // no entries about the picture
	tiff = order.AppendUint32(tiff, 14) // where the thumbnail's directory is
	tiff = order.AppendUint16(tiff, 2)
	for _, e := range [][2]uint32{{0x0201, 44}, {0x0202, uint32(len(thumbnail))}} {
		tiff = order.AppendUint16(tiff, uint16(e[0]))
		tiff = order.AppendUint16(tiff, 4)
		tiff = order.AppendUint32(tiff, 1)
		tiff = order.AppendUint32(tiff, e[1])
	}
	tiff = order.AppendUint32(tiff, 0)
	body := append([]byte("Exif\x00\x00"), append(tiff, thumbnail...)...)
	out := append([]byte{0xff, 0xd8, 0xff, 0xe1}, binary.BigEndian.AppendUint16(nil, uint16(len(body)+2))...)
	return append(append(out, body...), file[2:]...)
}

func TestPreviewOfPhotos(t *testing.T) {
	h, folder := bundled(t)
	large, small := photo(t, 600), photo(t, 40)
	write(t, folder, "large.jpg", large)
	for _, c := range []struct {
		mark  string
		order binary.AppendByteOrder
	}{{"II", binary.LittleEndian}, {"MM", binary.BigEndian}} {
		write(t, folder, "camera.jpg", withThumbnail(large, small, c.order, c.mark))
		result := call(t, h, "image_preview", `{"path":"camera.jpg"}`)
		if result.IsError || !strings.Contains(result.Content[0].Text(), "camera.jpg: JPEG, 600×600 pixels") {
			t.Fatalf("%s: %s", c.mark, result.Content[0].Text())
		}
		if data, mimeType, _ := result.Content[1].Data(); mimeType != "image/jpeg" || !bytes.Equal(data, small) {
			t.Errorf("%s: the preview is %q, %d bytes; want the thumbnail of %d", c.mark, mimeType, len(data), len(small))
		}
	}
	result := call(t, h, "image_preview", `{"path":"large.jpg"}`)
	if want := "too large for a preview"; !result.IsError || !strings.Contains(result.Content[0].Text(), want) {
		t.Errorf("failed %v, %q, want %q", result.IsError, result.Content[0].Text(), want)
	}
}

// TestPreviewSurvivesDamage cuts a file with a thumbnail at every byte of its metadata,
// and turns every byte of it over.
func TestPreviewSurvivesDamage(t *testing.T) {
	h, folder := bundled(t)
	file := withThumbnail(append(photo(t, 16), make([]byte, 300<<10)...), photo(t, 8), binary.LittleEndian, "II")
	check := func(what string, data []byte) {
		write(t, folder, "x.jpg", data)
		for _, tool := range []string{"image_info", "image_preview"} {
			result := call(t, h, tool, `{"path":"x.jpg"}`)
			if text := result.Content[0].Text(); !strings.HasPrefix(text, "x.jpg") {
				t.Errorf("%s, %s: %q", what, tool, text)
			}
		}
	}
	for i := range 72 {
		check(fmt.Sprintf("cut at %d", i), file[:i])
		damaged := bytes.Clone(file)
		damaged[i] = ^damaged[i]
		check(fmt.Sprintf("byte %d turned over", i), damaged)
	}
}

func TestPreviewOfBMP(t *testing.T) {
	h, folder := bundled(t)
	const width, height = 601, 400
	var pixels bytes.Buffer
	for y := range height {
		for x := range width {
			pixels.Write([]byte{byte(x), byte(y), 7}) // blue, green, red
		}
		pixels.WriteByte(0) // a row is padded to four bytes
	}
	head := append([]byte("BM"), binary.LittleEndian.AppendUint32(nil, uint32(54+pixels.Len()))...)
	for _, v := range []uint32{0, 54, 40, width, height} {
		head = binary.LittleEndian.AppendUint32(head, v)
	}
	head = append(head, 1, 0, 24, 0)
	head = append(head, make([]byte, 24)...)
	write(t, folder, "b.bmp", append(head, pixels.Bytes()...))
	result := call(t, h, "image_preview", `{"path":"b.bmp"}`)
	if result.IsError {
		t.Fatal(result.Content[0].Text())
	}
	data, _, _ := result.Content[1].Data()
	got, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatalf("the preview is no PNG: %v", err)
	}
	if size := got.Bounds().Size(); size.X != 256 || size.Y != 170 {
		t.Errorf("the preview has %v pixels", size)
	}
	// The rows of the file go from the bottom up.
	if c := color.RGBAModel.Convert(got.At(0, 169)).(color.RGBA); c.R != 7 || c.G > 4 || c.B != 0 {
		t.Errorf("the bottom left pixel is %v", c)
	}
	if c := color.RGBAModel.Convert(got.At(0, 0)).(color.RGBA); c.G != byte(399%256) {
		t.Errorf("the top left pixel is %v", c)
	}
}
