package garbage

import (
	"os"
	"runtime/debug"
	"testing"
)

func TestPercent(t *testing.T) {
	now := debug.SetGCPercent(100)
	defer debug.SetGCPercent(now)
	if os.Getenv("GOGC") == "" && now != percent {
		t.Errorf("garbage is collected at %d percent", now)
	}
}
