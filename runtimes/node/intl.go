package node

import (
	"time"

	"github.com/dop251/goja"
)

func loadIntl(e *engine) goja.Value {
	return intlLibrary.load(e, e.object(map[string]any{
		// (milliseconds, time zone) → [year, month, day, hour, minute, second, millisecond,
		// weekday, offset in minutes, short name of the zone], or undefined where the zone is not known
		"fields": func(c goja.FunctionCall) goja.Value {
			zone, err := time.LoadLocation(c.Argument(1).String())
			if err != nil {
				return goja.Undefined()
			}
			t := time.UnixMilli(c.Argument(0).ToInteger()).In(zone)
			name, offset := t.Zone()
			return e.vm.NewArray(t.Year(), int(t.Month()), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond()/1e6, int(t.Weekday()), offset/60, name)
		},
		"localZone": localZone(),
	}))
}

// localZone is the name of the host's time zone; where it has none, UTC.
func localZone() string {
	if name := time.Local.String(); name != "Local" {
		return name
	}
	return "Local"
}
