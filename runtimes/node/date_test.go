package node

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"time"
)

// DateZones are the time zones in which dates are compared with Node, each with the file that has
// what Node gave.
var DateZones = map[string]string{"UTC": "testdata/dates/utc.txt", "America/New_York": "testdata/dates/new_york.txt"}

// Every text is the date that Node takes it for, or none: what testdata/dates/texts.mjs has
// written there.
func TestDates(t *testing.T) {
	for zone, file := range DateZones {
		place, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		recorded, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		count := 0
		for line := range bytes.Lines(recorded) {
			var pair [2]any // null stands for NaN
			if err := json.Unmarshal(line, &pair); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			text := pair[0].(string)
			ms, ok := parseDate(text, place)
			want, isDate := pair[1].(float64)
			if ok != isDate || ok && float64(ms) != want {
				t.Errorf("%s: %q: got %d, %v, want %.0f, %v", zone, text, ms, ok, want, isDate)
			}
			count++
		}
		if count < 2000 {
			t.Errorf("%s has %d dates", file, count)
		}
	}
}

func FuzzDate(f *testing.F) {
	for _, text := range []string{"2024-01-02T10:20:30.5+02:00", "Jan 5 2024 (a (b) 10:20 PM GMT-3", "10:20:30::.5", "\u00a0é-000000"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ms, ok := parseDate(text, time.UTC)
		if !ok {
			return
		}
		if ms < -maxDate || ms > maxDate {
			t.Errorf("%q: %d is out of range", text, ms)
		}
		at := time.UnixMilli(ms).UTC()
		if at.Year() < 0 || at.Year() > 9999 {
			return
		}
		if again, ok := parseDate(at.Format("2006-01-02T15:04:05.000Z"), time.UTC); !ok || again != ms {
			t.Errorf("%q: %d became %d, %v", text, ms, again, ok)
		}
	})
}

// Code that makes no date of a text does without our reading of them.
func TestNamesDate(t *testing.T) {
	for code, want := range map[string]bool{
		"Date.now() + new Date().getTime() - Date.UTC(2024, 1)": false, "x.setDate(1); updateDate(); DateTime.now(); Dates; toLocaleDateString()": false, "": false,
		"new Date(x)": true, "const D = Date": true, "Date.parse(x)": true, "globalThis['Date']": true, "Date": true, "Date.now(), Date .parse('1')": true, "new Date('2024')": true,
	} {
		if got := namesDate(code); got != want {
			t.Errorf("%q: got %v", code, got)
		}
	}
}
