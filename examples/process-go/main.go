// Command process-go is a plugin: it groups files by their content. Its folder is a plugin
// once it is built there:
//
//	cd examples/process-go && go build
//	toolhost call --plugins . same_files paths='["a.txt", "b.txt"]'
//
// It serves one call after the other ("keepAlive"), and ends when the host closes stdin.
package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
)

// message is one line of the protocol.
type message struct {
	ID     string `json:"id,omitempty"`
	Method string `json:"method,omitempty"`
	Params any    `json:"params,omitempty"`
	Result any    `json:"result,omitempty"`
	Error  string `json:"error,omitempty"`
}

// params are those of a call, and the id of a cancel.
type params struct {
	ID    string   `json:"id"`
	Paths []string `json:"paths"`
}

func main() {
	log.SetFlags(0) // the host's log has the time
	if err := serve(os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// serve answers requests until in ends. A cancel can come while a call runs, so calls run
// beside the reading.
func serve(in io.Reader, out io.Writer) error {
	answers := make(chan message)
	written := make(chan error, 1)
	go func() {
		encoder := json.NewEncoder(out)
		for m := range answers {
			if err := encoder.Encode(m); err != nil {
				written <- err
				return
			}
		}
		written <- nil
	}()
	cancel := func() {}
	done := make(chan bool, 1)
	done <- true
	requests := json.NewDecoder(bufio.NewReader(in))
	for {
		var m struct {
			ID, Method string
			Params     params
		}
		if err := requests.Decode(&m); err != nil {
			cancel()
			<-done
			close(answers)
			if errors.Is(err, io.EOF) {
				return <-written
			}
			return err
		}
		if m.Method == "cancel" {
			cancel()
			continue
		}
		<-done // one call at a time
		var ctx context.Context
		ctx, cancel = context.WithCancel(context.Background())
		go func() {
			groups, err := sameFiles(ctx, m.Params.Paths, func(text string) {
				answers <- message{Method: "progress", Params: map[string]string{"id": m.ID, "message": text}}
			})
			answer := message{ID: m.ID, Result: groups}
			if err != nil {
				answer = message{ID: m.ID, Error: err.Error()}
			}
			answers <- answer
			done <- true
		}()
	}
}

// sameFiles groups files by content and gives the groups of more than one file, by names.
func sameFiles(ctx context.Context, paths []string, progress func(string)) ([][]string, error) {
	groups := map[[sha256.Size]byte][]string{}
	var order [][sha256.Size]byte
	for i, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if i > 0 && i%100 == 0 {
			progress(fmt.Sprintf("%d of %d files", i, len(paths)))
		}
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		h := sha256.New()
		_, err = io.Copy(h, f)
		_ = f.Close() // it was read only
		if err != nil {
			return nil, err
		}
		sum := [sha256.Size]byte(h.Sum(nil))
		if groups[sum] == nil {
			order = append(order, sum)
		}
		groups[sum] = append(groups[sum], filepath.Base(path))
	}
	same := [][]string{}
	for _, sum := range order {
		if len(groups[sum]) > 1 {
			same = append(same, groups[sum])
		}
	}
	return same, nil
}
