package runtimes

import (
	"encoding/base64"
	"errors"
	"fmt"
	"mime"
	"strings"

	"github.com/toolhost/toolhost/host"
)

const (
	// maxImages and maxImageBytes are how many images a prompt may have, and how many bytes in all.
	maxImages     = 16
	maxImageBytes = 20 << 20
)

// PromptImages gives the images of the option imageUrls of ai.complete. They are data: URLs:
// a model's service that fetched an address would reach hosts which the plugin was not granted.
func PromptImages(urls []string) ([]host.PromptImage, error) {
	if len(urls) > maxImages {
		return nil, fmt.Errorf("imageUrls has %d images; the limit is %d", len(urls), maxImages)
	}
	var images []host.PromptImage
	size := 0
	for i, text := range urls {
		image, err := promptImage(text)
		if err != nil {
			return nil, fmt.Errorf("imageUrls[%d]: %w", i, err)
		}
		if size += len(image.Data); size > maxImageBytes {
			return nil, fmt.Errorf("imageUrls has more than %d bytes of images", maxImageBytes)
		}
		images = append(images, image)
	}
	return images, nil
}

func promptImage(text string) (host.PromptImage, error) {
	const scheme, encoding = "data:", ";base64"
	var none host.PromptImage
	if len(text) < len(scheme) || !strings.EqualFold(text[:len(scheme)], scheme) {
		return none, errors.New(`not a data: URL; read or fetch the image, and give it as "data:image/png;base64,…"`)
	}
	head, data, ok := strings.Cut(text[len(scheme):], ",")
	if !ok || len(head) < len(encoding) || !strings.EqualFold(head[len(head)-len(encoding):], encoding) {
		return none, errors.New(`the data: URL is not in base64, as in "data:image/png;base64,…"`)
	}
	kind, _, err := mime.ParseMediaType(head[:len(head)-len(encoding)])
	if err != nil || !strings.HasPrefix(kind, "image/") {
		return none, fmt.Errorf("the data: URL is of the type %.100q, which is no image", head[:len(head)-len(encoding)])
	}
	if base64.StdEncoding.DecodedLen(len(data)) > maxImageBytes+3 {
		return none, fmt.Errorf("the image has more than %d bytes", maxImageBytes)
	}
	image, err := base64.StdEncoding.DecodeString(data)
	switch {
	case err != nil:
		return none, fmt.Errorf("the data: URL is no base64: %w", err)
	case len(image) == 0:
		return none, errors.New("the data: URL is empty")
	}
	return host.PromptImage{MIMEType: kind, Data: image}, nil
}
