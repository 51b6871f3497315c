package node

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/dop251/goja"

	"github.com/toolhost/toolhost/internal/jsondoc"
	"github.com/toolhost/toolhost/runtimes"
)

// cardEngine is what an engine knows of the card that it runs.
type cardEngine struct {
	about *runtimes.Card
	run   goja.Callable // (tool, args, ctx) runs a call; nil until the SDK is loaded
	names goja.Callable // () gives the tools that have handlers
}

// loadCardSDK makes the module @neurosquad/card-sdk.
func loadCardSDK(e *engine) goja.Value { return cardSDKLibrary.load(e, e.cardHost()) }

// cardHost is what the libraries of the SDK call.
func (e *engine) cardHost() *goja.Object {
	if e.api.cardHost != nil {
		return e.api.cardHost
	}
	var card any
	if e.card.about != nil {
		card = string(jsondoc.Marshal(e.card.about))
	}
	e.api.cardHost = e.object(map[string]any{
		"card":  card,
		"store": e.store(),
		"serve": func(c goja.FunctionCall) goja.Value { // (run, names)
			e.card.run, _ = goja.AssertFunction(c.Argument(0))
			e.card.names, _ = goja.AssertFunction(c.Argument(1))
			return goja.Undefined()
		},
		"setting":    e.cardSetting,
		"setEnabled": e.setEnabled,
		"inCall":     func(goja.FunctionCall) goja.Value { return e.vm.ToValue(e.call != nil) },
		"folder": func(goja.FunctionCall) goja.Value {
			if e.call == nil {
				return e.vm.ToValue("")
			}
			return e.vm.ToValue(e.call.Folder)
		},
		"log": func(c goja.FunctionCall) goja.Value { // (level, text)
			e.logText(logLevels[c.Argument(0).String()], c.Argument(1).String())
			return goja.Undefined()
		},
	})
	return e.api.cardHost
}

// cardSetting is (key) → the value, of a secret whether it is set. It does its work at once:
// cards read settings as properties.
func (e *engine) cardSetting(c goja.FunctionCall) goja.Value {
	key := c.Argument(0).String()
	i := slices.IndexFunc(e.card.about.Settings, func(s runtimes.CardSetting) bool { return s.Key == key })
	if i < 0 {
		return goja.Undefined()
	}
	raw, err := e.services.Settings.Get(e.callContext(), key)
	if err != nil {
		panic(e.errorValue(err))
	}
	if e.card.about.Settings[i].Secret {
		var text string
		return e.vm.ToValue(raw != nil && !(json.Unmarshal(raw, &text) == nil && text == ""))
	}
	v, err := e.served(raw)
	if err != nil {
		panic(e.errorValue(err))
	}
	return v
}

// setEnabled is (tool, enabled) → promise.
func (e *engine) setEnabled(c goja.FunctionCall) goja.Value {
	tool, enabled := c.Argument(0).String(), c.Argument(1).ToBoolean()
	return e.atOnce(func(ctx context.Context) (goja.Value, error) {
		return goja.Undefined(), e.services.SetEnabled(ctx, tool, enabled)
	})
}

// cardRunner gives what runs a call of the card. A card that never asks for the SDK
// registers no handlers; its calls wait all the same.
func (e *engine) cardRunner() goja.Callable {
	if e.card.run == nil {
		e.require(runtimes.CardSDK)
	}
	return e.card.run
}

// unhandled gives the tools that have no handler yet.
func (e *engine) unhandled() []string {
	var names []string
	if e.card.names != nil {
		v, err := e.card.names(goja.Undefined())
		if err != nil || e.vm.ExportTo(v, &names) != nil {
			return nil
		}
	}
	return slices.DeleteFunc(slices.Clone(e.card.about.Tools), func(t string) bool { return slices.Contains(names, t) })
}
