package node

import "github.com/dop251/goja"

func loadIntl(e *engine) goja.Value { return intlLibrary.load(e, e.object(map[string]any{})) }
