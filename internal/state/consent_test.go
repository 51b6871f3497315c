package state

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"
)

func TestConsent(t *testing.T) {
	dir := t.TempDir()
	db, other := open(t, dir, nil), open(t, dir, nil)
	if c, err := db.Consent(t.Context(), "/p"); c != nil || err != nil {
		t.Fatal(c, err)
	}
	if folders, now, err := db.ConsentsDecided(t.Context(), -1); len(folders) > 0 || now != 0 || err != nil {
		t.Fatal(folders, now, err)
	}
	want := &Consent{
		Folder: "/p", Plugin: "weather", Origin: "named", How: "first seen", At: time.Unix(1_700_000_000, 0),
		Agreed:  &ConsentVersion{Fingerprint: "sha256:1", Summary: json.RawMessage(`{"plugin":"weather"}`), Files: map[string][]byte{"m.json": []byte("\xff{}")}},
		Pending: &ConsentVersion{Fingerprint: "sha256:2", Summary: json.RawMessage(`{}`), Differs: []string{"more"}},
	}
	put := func(decided bool, c *Consent) {
		t.Helper()
		if err := other.UpdateConsent(t.Context(), "/p", decided, func(*Consent) (*Consent, error) { return c, nil }); err != nil {
			t.Fatal(err)
		}
	}
	put(false, want)
	got, err := db.Consent(t.Context(), "/p")
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("got %+v, %v", got, err)
	}
	if folders, now, err := db.ConsentsDecided(t.Context(), 0); len(folders) > 0 || now != 0 || err != nil {
		t.Error("what a host notes is no decision:", folders, now, err)
	}
	approved := *want
	approved.Pending = nil
	put(true, &approved)
	folders, now, err := db.ConsentsDecided(t.Context(), 0)
	if !slices.Equal(folders, []string{"/p"}) || now != 1 || err != nil {
		t.Error(folders, now, err)
	}
	if folders, _, err := db.ConsentsDecided(t.Context(), now); len(folders) > 0 || err != nil {
		t.Error(folders, err)
	}
	put(true, nil)
	if all, err := db.Consents(t.Context(), ""); len(all) > 0 || err != nil {
		t.Error(all, err)
	}
	bad := errors.New("no")
	if err := db.UpdateConsent(t.Context(), "/p", true, func(*Consent) (*Consent, error) { return want, bad }); !errors.Is(err, bad) {
		t.Error(err)
	}
	if c, err := db.Consent(t.Context(), "/p"); c != nil || err != nil {
		t.Error("an error changed something:", c, err)
	}
}

// FuzzReadVersion: what is stored is read as encoding/json reads it, and no text panics.
func FuzzReadVersion(f *testing.F) {
	for _, v := range []*ConsentVersion{
		{}, {Fingerprint: "sha256:1", Tree: "t<&>", Digest: "\u2028", Copy: "/a b", Summary: json.RawMessage(`{"a":[1,"}"]}`)},
		{Files: map[string][]byte{"m.json": []byte("\xff{}"), "": {}}, Differs: []string{"more", "é\n"}},
	} {
		f.Add(consentText(v))
	}
	for _, text := range []string{"", " ", "null", "[]", `{"fingerprint":1}`, `{"files":{"a":"!"}}`, `{"files":[]}`, `{"files":{"a":1}}`, `{"differs":"x"}`, `{"summary":null}`, "{\"tree\":\"\xff\"}", "{\"summary\":\"\xff\"}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		readVersion(text)
		v, want := &ConsentVersion{}, &ConsentVersion{}
		if json.Unmarshal(text, v) != nil {
			return
		}
		stored := consentText(v)
		if err := json.Unmarshal(stored, want); err != nil {
			t.Fatal(err)
		}
		if got := readVersion(stored); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is read as %+v, want %+v", stored, got, want)
		}
	})
}

// TestEditedVersion has somebody edit what was stored: it is the version of nothing then.
func TestEditedVersion(t *testing.T) {
	for _, text := range []string{"", "nothing", `{"fingerprint":"f"`, `["fingerprint"]`, `{"fingerprint":7}`, `{"fingerprint":"f","files":{"a":"!"}}`, `{"fingerprint":"f","differs":1}`, "{\"fingerprint\":\"\xff\"}"} {
		if got := readVersion([]byte(text)); !reflect.DeepEqual(got, &ConsentVersion{}) {
			t.Errorf("%s is read as %+v", text, got)
		}
	}
}

// TestConsentsPending gives the plugins of which a version waits, and no others.
func TestConsentsPending(t *testing.T) {
	db := open(t, t.TempDir(), nil)
	if list, err := db.ConsentsPending(t.Context()); len(list) > 0 || err != nil {
		t.Error(list, err)
	}
	version := &ConsentVersion{Fingerprint: "f", Summary: json.RawMessage(`{}`)}
	for folder, pending := range map[string]*ConsentVersion{"/a": nil, "/b": version} {
		err := db.UpdateConsent(t.Context(), folder, true, func(*Consent) (*Consent, error) {
			return &Consent{Folder: folder, Plugin: "p", Origin: "named", Agreed: version, Pending: pending}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if list, err := db.ConsentsPending(t.Context()); err != nil || len(list) != 1 || list[0].Folder != "/b" || list[0].Pending.Fingerprint != "f" {
		t.Error(list, err)
	}
}

// TestConsentEdited: a record that somebody wrote nonsense into is the version of nothing.
func TestConsentEdited(t *testing.T) {
	db := open(t, t.TempDir(), nil)
	err := db.UpdateConsent(t.Context(), "/p", true, func(*Consent) (*Consent, error) {
		return &Consent{Folder: "/p", Plugin: "p", Origin: "named", Agreed: &ConsentVersion{Fingerprint: "f", Summary: json.RawMessage(`{}`)}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.write(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.ExecContext(t.Context(), "UPDATE consent SET agreed = ?", []byte(`{"fingerprint": 5`))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	c, err := db.Consent(t.Context(), "/p")
	if err != nil || c.Agreed == nil || c.Agreed.Fingerprint != "" {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestConsentTwoHosts: two processes that decide at once lose nothing.
func TestConsentTwoHosts(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for range 2 {
		db := open(t, dir, nil)
		all.Go(func() {
			for range 20 {
				err := db.UpdateConsent(t.Context(), "/p", true, func(old *Consent) (*Consent, error) {
					c := &Consent{Folder: "/p", Plugin: "p", Origin: "named"}
					if old != nil {
						c.How = old.How
					}
					c.How += "x"
					return c, nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	c, err := open(t, dir, nil).Consent(t.Context(), "/p")
	if err != nil || len(c.How) != 40 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestConsentRequests(t *testing.T) {
	db := open(t, t.TempDir(), nil)
	add := func(plugin, permission string) (int64, bool, error) {
		return db.AddConsentRequest(t.Context(), &ConsentRequest{Plugin: plugin, Permission: permission, Reason: "since", Agent: "a", At: time.Unix(5, 0)})
	}
	first, added, err := add("p", "store")
	if !added || err != nil {
		t.Fatal(added, err)
	}
	if again, added, err := add("p", "store"); again != first || added || err != nil {
		t.Error(again, added, err)
	}
	for i := 1; i < MaxConsentRequestsOfAPlugin; i++ {
		if _, added, err := add("p", fmt.Sprint(i)); !added || err != nil {
			t.Fatal(added, err)
		}
	}
	if _, added, err := add("p", "one more"); added || !errors.Is(err, ErrTooManyRequests) {
		t.Error(added, err)
	}
	for i := MaxConsentRequestsOfAPlugin; i < MaxConsentRequests; i++ {
		if _, _, err := add(fmt.Sprint("q", i), "store"); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := add("r", "store"); !errors.Is(err, ErrTooManyRequests) {
		t.Error(err)
	}
	list, err := db.ConsentRequests(t.Context())
	if err != nil || len(list) != MaxConsentRequests || list[0] != (ConsentRequest{first, "p", "store", "since", "a", time.Unix(5, 0)}) {
		t.Error(len(list), err)
	}
	if n, err := db.DropConsentRequests(t.Context(), "p"); n != MaxConsentRequestsOfAPlugin || err != nil {
		t.Error(n, err)
	}
}

func TestForget(t *testing.T) {
	db := open(t, t.TempDir(), nil)
	set(t, db, "text", `"x"`)
	for _, plugin := range []string{"p", "q"} {
		if err := db.Store(plugin).Set(t.Context(), "k", json.RawMessage(`1`)); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Forget(t.Context(), "p"); err != nil {
		t.Fatal(err)
	}
	if got, err := db.Settings("p", declared).Get(t.Context(), "text"); string(got) != `"dflt"` || err != nil {
		t.Error(string(got), err)
	}
	for plugin, want := range map[string]int{"p": 0, "q": 1} {
		if keys, err := db.Store(plugin).List(t.Context(), ""); len(keys) != want || err != nil {
			t.Error(plugin, keys, err)
		}
	}
}
