// Command go-plugin is a plugin in Go that serves several calls at once. Build it, then call
// its tool:
//
//	(cd examples/go-plugin && go build)
//	toolhost call --plugins examples/go-plugin picture_preview path=photo.png
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/gif"
	_ "image/jpeg"
	"image/png"
	"io"
	"os"
	"path/filepath"

	"github.com/toolhost/toolhost/runtimes/process/plugin"
)

const (
	maxFile   = 64 << 20
	maxPixels = 100 << 20
)

func main() {
	plugin.Serve(&plugin.Config{Tools: map[string]plugin.Handler{"picture_preview": preview}})
}

func preview(ctx context.Context, call *plugin.Call) (any, error) {
	var args struct {
		Path string
		Edge int
	}
	if err := call.Decode(&args); err != nil {
		return nil, err
	}
	picture, kind, err := read(args.Path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(args.Path), err)
	}
	size := picture.Bounds()
	call.Progress(fmt.Sprintf("a %s of %d×%d pixels", kind, size.Dx(), size.Dy()))

	small, err := shrink(ctx, picture, args.Edge)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := png.Encode(&out, small); err != nil {
		return nil, err
	}

	call.Log.Debug("looked at a picture", "kind", kind)

	return plugin.Result{Content: []plugin.Content{
		plugin.Text(fmt.Sprintf("%s, %d×%d pixels", kind, size.Dx(), size.Dy())),
		plugin.Image(out.Bytes(), "image/png"),
	}}, nil
}

// read reads a picture. What it says of its size is looked at first: a small file can stand
// for more pixels than there is memory.
func read(path string) (image.Image, string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, "", errors.Unwrap(err) // the agent need not know where its folder is
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, "", err
	}
	if len(data) > maxFile {
		return nil, "", fmt.Errorf("the file has more than %d bytes", maxFile)
	}
	config, _, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, "", err
	}
	if config.Width*config.Height > maxPixels {
		return nil, "", fmt.Errorf("it has %d×%d pixels, which are too many", config.Width, config.Height)
	}
	return image.Decode(bytes.NewReader(data))
}

// shrink takes one pixel for each place of the preview.
func shrink(ctx context.Context, from image.Image, edge int) (image.Image, error) {
	size := from.Bounds()
	if size.Empty() {
		return nil, errors.New("the picture has no pixels")
	}
	longer := max(size.Dx(), size.Dy())
	width, height := max(1, size.Dx()*edge/longer), max(1, size.Dy()*edge/longer)
	to := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for x := range width {
			to.Set(x, y, from.At(size.Min.X+x*size.Dx()/width, size.Min.Y+y*size.Dy()/height))
		}
	}
	return to, nil
}
