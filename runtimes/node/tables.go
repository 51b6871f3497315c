package node

import (
	"github.com/dop251/goja"

	"github.com/toolhost/toolhost/runtimes"
)

var (
	abortLibrary          = newLibrary("event_target")
	assertLibrary         = newLibrary("assert")
	asyncHooksLibrary     = newLibrary("async_hooks")
	blobLibrary           = newLibrary("blob")
	bufferLibrary         = newLibrary("buffer")
	cardErrorLibrary      = newLibrary("card_error")
	cardFilesLibrary      = newLibrary("card_files")
	cardNetLibrary        = newLibrary("card_net")
	cardSDKLibrary        = newLibrary("card_sdk")
	cardTextsLibrary      = newLibrary("card_translator")
	channelLibrary        = newLibrary("diagnostics_channel")
	cloneLibrary          = newLibrary("structured_clone")
	consoleLibrary        = newLibrary("console")
	cryptoLibrary         = newLibrary("crypto")
	cryptoCipherLibrary   = newLibrary("crypto_cipher")
	cryptoConstants       = newLibrary("crypto_constants")
	cryptoKeysLibrary     = newLibrary("crypto_keys")
	cryptoSharedLibrary   = newLibrary("crypto_shared")
	cryptoSignLibrary     = newLibrary("crypto_sign")
	dnsLibrary            = newLibrary("dns")
	domExceptionLibrary   = newLibrary("dom_exception")
	errorsLibrary         = newLibrary("errors")
	eventsLibrary         = newLibrary("events")
	fetchLibrary          = newLibrary("fetch")
	formDataLibrary       = newLibrary("form_data")
	fsConstantsLibrary    = newLibrary("fs_constants")
	fsCoreLibrary         = newLibrary("fs_core")
	fsHandleLibrary       = newLibrary("fs_handle")
	fsLibrary             = newLibrary("fs")
	fsMembersLibrary      = newLibrary("fs_members")
	fsPromisesLibrary     = newLibrary("fs_promises")
	fsStatsLibrary        = newLibrary("fs_stats")
	fsStreamsLibrary      = newLibrary("fs_streams")
	headersLibrary        = newLibrary("headers")
	httpLibrary           = newLibrary("http")
	inspectLibrary        = newLibrary("inspect")
	inspectFormatLibrary  = newLibrary("inspect_format")
	inspectTextLibrary    = newLibrary("inspect_text")
	intlLibrary           = newLibrary("intl")
	iteratorLibrary       = newLibrary("iterator")
	languageLibrary       = newLibrary("language")
	languageMoreLibrary   = newLibrary("language_more")
	lazyLibrary           = newLibrary("lazy")
	lazyStreamLibrary     = newLibrary("lazy_stream")
	messageChannelLibrary = newLibrary("message_channel")
	mimeLibrary           = newLibrary("mime")
	moduleLibrary         = newLibrary("module")
	netLibrary            = newLibrary("net")
	osLibrary             = newLibrary("os")
	pathLibrary           = newLibrary("path")
	performanceLibrary    = newLibrary("perf_hooks")
	performanceMore       = newLibrary("perf_observer")
	processLibrary        = newLibrary("process")
	punycodeLibrary       = newLibrary("punycode")
	querystringLibrary    = newLibrary("querystring")
	readlineLibrary       = newLibrary("readline")
	regexpLibrary         = newLibrary("regexp")
	streamLibrary         = newLibrary("stream")
	streamBaseLibrary     = newLibrary("stream_base")
	streamConsumers       = newLibrary("stream_consumers")
	streamDuplexLibrary   = newLibrary("stream_duplex")
	streamOperators       = newLibrary("stream_operators")
	streamPipelineLibrary = newLibrary("stream_pipeline")
	streamReadableLibrary = newLibrary("stream_readable")
	streamWebLibrary      = newLibrary("stream_web")
	streamWritableLibrary = newLibrary("stream_writable")
	stringDecoderLibrary  = newLibrary("string_decoder")
	textLibrary           = newLibrary("text")
	textCodecsLibrary     = newLibrary("text_codecs")
	timersLibrary         = newLibrary("timers")
	timersPromisesLibrary = newLibrary("timers_promises")
	tlsLibrary            = newLibrary("tls")
	turnsLibrary          = newLibrary("turns")
	typedArraysLibrary    = newLibrary("typed_arrays")
	undiciLibrary         = newLibrary("undici")
	unsupportedLibrary    = newLibrary("unsupported")
	urlLibrary            = newLibrary("url")
	utilLibrary           = newLibrary("util")
	whatwgURLLibrary      = newLibrary("whatwg_url")
	weakLibrary           = newLibrary("weak")
	webCryptoLibrary      = newLibrary("webcrypto")
	webCodecsLibrary      = newLibrary("web_codecs")
	webPipeLibrary        = newLibrary("web_pipe")
	webQueueLibrary       = newLibrary("web_queue")
	webReadableLibrary    = newLibrary("web_readable")
	webBytesLibrary       = newLibrary("web_readable_bytes")
	webStreamsLibrary     = newLibrary("web_streams")
	webTransformLibrary   = newLibrary("web_transform")
	webWritableLibrary    = newLibrary("web_writable")
	zlibLibrary           = newLibrary("zlib")
	zlibConstantsLibrary  = newLibrary("zlib_constants")
)

// webStreams are the classes of node:stream/web, which are globals too.
func webStreams() []string {
	return []string{"ReadableStream", "ReadableStreamDefaultReader", "ReadableStreamBYOBReader", "ReadableStreamBYOBRequest", "ReadableByteStreamController",
		"ReadableStreamDefaultController", "TransformStream", "TransformStreamDefaultController", "WritableStream", "WritableStreamDefaultController",
		"WritableStreamDefaultWriter", "ByteLengthQueuingStrategy", "CountQueuingStrategy", "TextEncoderStream", "TextDecoderStream", "CompressionStream", "DecompressionStream"}
}

// loader makes a module or a global in an engine.
type loader = func(e *engine) goja.Value

// builtinModules are the modules that require("x") and require("node:x") give, by name.
// A module is loaded once an engine. builtinGlobals are the globals besides JavaScript's
// own, made when they are first touched. internalModules are for libraries only. None is
// changed after init, which fills them since their functions look things up in them.
var builtinModules, builtinGlobals, internalModules map[string]loader

func init() {
	internalModules = map[string]loader{
		"blob":            loadBlob,
		"buffer":          loadBuffer,
		"card_error":      plain(cardErrorLibrary),
		"card_files":      func(e *engine) goja.Value { return cardFilesLibrary.load(e, e.cardHost()) },
		"card_net":        func(e *engine) goja.Value { return cardNetLibrary.load(e, e.cardHost()) },
		"card_translator": plain(cardTextsLibrary),
		"encoding_host":   loadEncoding,
		"clone":           loadClone,
		"crypto_host":     loadCryptoHost,
		"dom_exception":   plain(domExceptionLibrary),
		"errors":          plain(errorsLibrary),
		"event_target":    loadEventTarget,
		"fetch":           loadFetch,
		"form_data":       plain(formDataLibrary),
		"fs":              func(e *engine) goja.Value { return fsLibrary.load(e, e.fileHost()) },
		"fs_constants":    func(e *engine) goja.Value { return fsConstantsLibrary.load(e, e.fileHost()) },
		"fs_core":         func(e *engine) goja.Value { return fsCoreLibrary.load(e, e.fileHost()) },
		"fs_handle":       plain(fsHandleLibrary),
		"fs_members":      func(e *engine) goja.Value { return fsMembersLibrary.load(e, e.fileHost()) },
		"fs_promises":     plain(fsPromisesLibrary),
		"fs_stats":        plain(fsStatsLibrary),
		"fs_streams":      plain(fsStreamsLibrary),
		"headers":         plain(headersLibrary),
		"inspect":         loadInspect,
		"intl":            loadIntl,
		"lazy":            loadLazy,
		"http":            plain(httpLibrary),
		"iterator":        plain(iteratorLibrary),
		"language":        loadLanguage,
		"language_more":   loadLanguageMore,
		"regexp":          loadRegExp,
		"text_codecs":     func(e *engine) goja.Value { return textCodecsLibrary.load(e, e.internal("encoding_host")) },
		"sockets":         loadSockets,
		"symbols":         loadSymbols,
		"turns":           loadTurns,
		"typed_arrays":    plain(typedArraysLibrary),
		"types_host":      loadTypes,
		"unsupported":     plain(unsupportedLibrary),
		"weak":            plain(weakLibrary),
		"whatwg_url":      loadWhatwgURL,

		"crypto_cipher":      withHost(cryptoCipherLibrary, "crypto_host"),
		"crypto_constants":   plain(cryptoConstants),
		"crypto_keys":        withHost(cryptoKeysLibrary, "crypto_host"),
		"crypto_shared":      withHost(cryptoSharedLibrary, "crypto_host"),
		"crypto_sign":        withHost(cryptoSignLibrary, "crypto_host"),
		"lazy_stream":        plain(lazyStreamLibrary),
		"inspect_format":     withHost(inspectFormatLibrary, "types_host"),
		"inspect_text":       withHost(inspectTextLibrary, "types_host"),
		"message_channel":    plain(messageChannelLibrary),
		"mime":               plain(mimeLibrary),
		"perf_observer":      plain(performanceMore),
		"stream_base":        plain(streamBaseLibrary),
		"stream_consumers":   plain(streamConsumers),
		"stream_duplex":      plain(streamDuplexLibrary),
		"stream_operators":   plain(streamOperators),
		"stream_pipeline":    plain(streamPipelineLibrary),
		"stream_readable":    plain(streamReadableLibrary),
		"stream_web":         plain(streamWebLibrary),
		"stream_writable":    plain(streamWritableLibrary),
		"webcrypto":          withHost(webCryptoLibrary, "crypto_host"),
		"web_codecs":         plain(webCodecsLibrary),
		"web_pipe":           plain(webPipeLibrary),
		"web_queue":          plain(webQueueLibrary),
		"web_readable":       plain(webReadableLibrary),
		"web_readable_bytes": plain(webBytesLibrary),
		"web_transform":      plain(webTransformLibrary),
		"web_writable":       plain(webWritableLibrary),
		"zlib_constants":     plain(zlibConstantsLibrary),
	}
	builtinModules = map[string]loader{
		"assert":              plain(assertLibrary),
		"assert/strict":       fromBuiltin("assert", "strict"),
		"async_hooks":         loadAsyncHooks,
		"buffer":              fromInternal("buffer", "public"),
		"console":             loadConsole,
		"constants":           loadConstants,
		"crypto":              withHost(cryptoLibrary, "crypto_host"),
		"diagnostics_channel": plain(channelLibrary),
		"dns":                 plain(dnsLibrary),
		"dns/promises":        fromBuiltin("dns", "promises"),
		"events":              plain(eventsLibrary),
		"fs":                  internalModule("fs_members"),
		"fs/promises":         internalModule("fs_promises"),
		"http":                fromInternal("http", "http"),
		"https":               fromInternal("http", "https"),
		"module":              loadModuleModule,
		"net":                 func(e *engine) goja.Value { return netLibrary.load(e, e.internal("sockets")) },
		"os":                  loadOS,
		"path":                loadPath,
		"path/posix":          fromBuiltin("path", "posix"),
		"path/win32":          fromBuiltin("path", "win32"),
		"perf_hooks":          loadPerformance,
		"process":             loadProcess,
		"punycode":            plain(punycodeLibrary),
		"querystring":         plain(querystringLibrary),
		"readline":            plain(readlineLibrary),
		"readline/promises":   fromBuiltin("readline", "promises"),
		"stream":              plain(streamLibrary),
		"stream/consumers":    fromBuiltin("stream", "consumers"),
		"stream/promises":     fromBuiltin("stream", "promises"),
		"stream/web":          plain(webStreamsLibrary),
		"string_decoder":      plain(stringDecoderLibrary),
		"sys":                 func(e *engine) goja.Value { m, _ := e.require("util"); return m },
		"timers":              loadTimers,
		"timers/promises":     plain(timersPromisesLibrary),
		"tls":                 func(e *engine) goja.Value { return tlsLibrary.load(e, e.internal("sockets")) },
		"url":                 loadURL,
		"util":                loadUtil,
		"util/types":          fromBuiltin("util", "types"),
		"undici":              plain(undiciLibrary), // not of Node
		"@toolhost/text":      loadText,             // of this host
		runtimes.CardSDK:      loadCardSDK,          // of cards
		"zlib":                loadZlib,
	}
	for _, name := range unsupportedModules {
		builtinModules[name] = func(e *engine) goja.Value { return e.unsupported(name) }
	}
	builtinGlobals = map[string]loader{
		"AbortController":      fromInternal("event_target", "AbortController"),
		"AbortSignal":          fromInternal("event_target", "AbortSignal"),
		"Blob":                 fromInternal("blob", "Blob"),
		"Buffer":               fromBuiltin("buffer", "Buffer"),
		"CustomEvent":          fromInternal("event_target", "CustomEvent"),
		"DOMException":         func(e *engine) goja.Value { return e.internal("dom_exception") },
		"Event":                fromInternal("event_target", "Event"),
		"EventTarget":          fromInternal("event_target", "EventTarget"),
		"File":                 fromInternal("blob", "File"),
		"FinalizationRegistry": fromInternal("weak", "FinalizationRegistry"),
		"FormData":             fromInternal("form_data", "FormData"),
		"Headers":              fromInternal("headers", "Headers"),
		"Intl":                 fromInternal("intl", "Intl"),
		"Iterator":             fromInternal("iterator", "Iterator"),
		"RegExp":               func(e *engine) goja.Value { return e.internal("regexp") },
		"SharedArrayBuffer":    fromInternal("weak", "SharedArrayBuffer"),
		"Request":              fromInternal("fetch", "Request"),
		"Response":             fromInternal("fetch", "Response"),
		"TextDecoder":          fromInternal("text_codecs", "TextDecoder"),
		"TextEncoder":          fromInternal("text_codecs", "TextEncoder"),
		"URL":                  fromInternal("whatwg_url", "URL"),
		"URLSearchParams":      fromInternal("whatwg_url", "URLSearchParams"),
		"WeakRef":              fromInternal("weak", "WeakRef"),
		"atob":                 fromBuiltin("buffer", "atob"),
		"btoa":                 fromBuiltin("buffer", "btoa"),
		"console":              func(e *engine) goja.Value { m, _ := e.require("console"); return m },
		"Crypto":               fromInternal("webcrypto", "Crypto"),
		"CryptoKey":            fromInternal("webcrypto", "CryptoKey"),
		"SubtleCrypto":         fromInternal("webcrypto", "SubtleCrypto"),
		"crypto":               fromInternal("webcrypto", "crypto"),
		"fetch":                func(e *engine) goja.Value { return e.fetch() },
		"global":               func(e *engine) goja.Value { return e.vm.GlobalObject() },
		"performance":          fromBuiltin("perf_hooks", "performance"),
		"process":              func(e *engine) goja.Value { m, _ := e.require("process"); return m },
		"queueMicrotask":       fromInternal("turns", "queueMicrotask"),
		"structuredClone":      func(e *engine) goja.Value { return e.internal("clone") },
	}
	for _, name := range []string{"setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval", "clearImmediate"} {
		builtinGlobals[name] = fromBuiltin("timers", name)
	}
	for _, name := range []string{"BroadcastChannel", "MessageChannel", "MessageEvent", "MessagePort"} {
		builtinGlobals[name] = fromInternal("message_channel", name)
	}
	for _, name := range webStreams() {
		builtinGlobals[name] = fromBuiltin("stream/web", name)
	}
}

// unsupportedModules are those that can be imported, and throw when they are used.
var unsupportedModules = []string{
	"child_process", "cluster", "dgram", "domain", "http2", "inspector", "inspector/promises",
	"repl", "sea", "sqlite", "test", "test/reporters",
	"trace_events", "tty", "v8", "vm", "wasi", "worker_threads",
}
