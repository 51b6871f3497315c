package process_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/runtimes"
	"github.com/toolhost/toolhost/runtimes/runtimestest"
)

// After many kills under load nothing is left of the processes: none of them runs, and no
// socket, temporary file or open file of theirs is there.
func TestKills(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("what is left is looked up in /proc: nothing to see here")
		return
	}
	kills := 1000
	if testing.Short() || raceDetector {
		kills = 60
	}
	temp, err := os.MkdirTemp("/tmp", "k") // paths of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(temp)
	t.Setenv("TMPDIR", temp)
	before := openFiles(t)
	t.Run("load", func(t *testing.T) {
		for _, protocol := range []string{"stdio", "go-plugin", "mcp"} {
			t.Run(protocol, func(t *testing.T) { kill(t, protocol, kills/3+1) })
		}
	})
	if left := descendants(t); len(left) > 0 {
		t.Errorf("processes that are left: %v", left)
	}
	if files := runtimestest.Remaining(t, filepath.Join(temp, "toolhost-*")); len(files) > 0 {
		t.Errorf("files that are left: %v", files)
	}
	if after := openFiles(t); after > before+2 {
		t.Errorf("%d open files, %d before", after, before)
	}
}

// kill has calls under way on several goroutines, of which each kills its process, or has
// it killed, in another way.
func kill(t *testing.T, protocol string, n int) {
	spec := runtimes.Spec{Protocol: protocol}
	var p *plugin
	var mu sync.RWMutex // reopening: crashes in a row are waited for
	fresh := func() {
		mu.Lock()
		defer mu.Unlock()
		if p != nil {
			if err := p.instance.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
		p = open(t, nil, spec)
	}
	fresh()
	ways := []string{"exit 3", "kill", "fork", "cancel", "close"}
	var wg sync.WaitGroup
	turns := make(chan int)
	for range 4 {
		wg.Go(func() {
			for i := range turns {
				way := ways[i%len(ways)]
				if way == "close" {
					fresh()
					continue
				}
				mu.RLock()
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				if way == "cancel" {
					ctx, cancel = context.WithTimeout(t.Context(), time.Duration(rand.IntN(40))*time.Millisecond)
				}
				how := map[bool]string{true: "silence", false: way}[way == "cancel"]
				_, _ = p.host.Call(ctx, &host.Call{Tool: "odd", Args: json.RawMessage(fmt.Sprintf(`{"how":%q}`, how))}) // however it ends
				cancel()
				mu.RUnlock()
			}
		})
	}
	for i := range n {
		turns <- i
	}
	close(turns)
	wg.Wait()
	fresh()
	p.expect("odd", object{"how": "fine"}, "ok")
}

// descendants gives the processes that this one has started, zombies included.
func descendants(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	parents, names := map[string]string{}, map[string]string{}
	for _, e := range entries {
		stat, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue
		}
		text := string(stat)
		at := strings.LastIndexByte(text, ')')
		fields := strings.Fields(text[at+1:])
		parents[e.Name()], names[e.Name()] = fields[1], text[:at+1]+" "+fields[0]
	}
	var found []string
	for pid := range parents {
		for up := parents[pid]; up != ""; up = parents[up] {
			if up == fmt.Sprint(os.Getpid()) {
				found = append(found, names[pid])
				break
			}
		}
	}
	slices.Sort(found)
	return found
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
