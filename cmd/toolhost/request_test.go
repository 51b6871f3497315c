package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/internal/schema"
	"github.com/toolhost/toolhost/internal/state"
)

// TestRequestSchema checks the schema that is taken for known to be good at each start.
func TestRequestSchema(t *testing.T) {
	if _, err := schema.Compile(requestSchema); err != nil {
		t.Error(err)
	}
}

func TestRequests(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	db := state.New(t.TempDir(), nil)
	t.Cleanup(func() { _ = db.Close() })
	r := &requests{db: db, now: func() time.Time { return now }, filed: map[string][]time.Time{}}
	h := host.New(nil)
	if _, err := h.Replace("toolhost", host.HostTool, []*host.Tool{r.tool()}); err != nil {
		t.Fatal(err)
	}
	ask := func(agent, plugin, permission string) string {
		t.Helper()
		args, err := json.Marshal(map[string]string{"plugin": plugin, "permission": permission, "reason": "since\x1b[2J\u202eyes"})
		if err != nil {
			t.Fatal(err)
		}
		result, err := h.Call(t.Context(), &host.Call{Tool: requestTool, Args: args, Agent: host.Agent{ID: agent, Name: agent}})
		if err != nil {
			t.Fatal(err)
		}
		return result.Content[0].Text()
	}
	if got := ask("a", "weather", "store"); !strings.Contains(got, "waits for the user") || !strings.Contains(got, "toolhost consent") {
		t.Error(got)
	}
	if got := ask("a", "weather", "store"); !strings.Contains(got, "waits for the user already") {
		t.Error(got)
	}
	for i := 2; i < requestsPerAgent; i++ {
		ask("a", "weather", fmt.Sprint(i))
	}
	if got := ask("a", "other", "store"); !strings.Contains(got, "an agent may file 5 requests") {
		t.Error(got)
	}
	if got := ask("b", "other", "store"); !strings.Contains(got, "waits for the user") {
		t.Error(got)
	}
	now = now.Add(requestWindow + time.Second)
	if got := ask("a", "third", "store"); !strings.Contains(got, "waits for the user") {
		t.Error(got)
	}
	if got := ask("a", "../evil", "store"); !strings.Contains(got, "/plugin") {
		t.Error(got)
	}
	list, err := db.ConsentRequests(t.Context())
	if err != nil || len(list) != requestsPerAgent+1 {
		t.Fatal(len(list), err)
	}
	for _, q := range list {
		if strings.ContainsAny(q.Reason, "\x1b\u202e") {
			t.Errorf("a text drives the terminal: %q", q.Reason)
		}
	}
	// It granted nothing.
	if records, err := db.Consents(t.Context(), ""); len(records) > 0 || err != nil {
		t.Error(records, err)
	}
}

// TestRequestsOfManyAgents: names that an agent makes up do not take the memory.
func TestRequestsOfManyAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &requests{now: time.Now, filed: map[string][]time.Time{}}
		for i := range requestAgents + 100 {
			if got := r.allow(fmt.Sprint(i)); got != (i < requestAgents) {
				t.Fatalf("agent %d: %t", i, got)
			}
		}
		time.Sleep(requestWindow + time.Second)
		if !r.allow("new") || len(r.filed) != 1 {
			t.Errorf("%d agents are remembered", len(r.filed))
		}
	})
}
