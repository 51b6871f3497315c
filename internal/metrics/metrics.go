// Package metrics counts what happens in a host, in the form that Prometheus reads.
//
//	m := metrics.New(h, &metrics.Options{Sessions: handler.Sessions})
//	defer m.Close()
//	mux.Handle("/metrics", m.Handler())
//
// Labels are the names of tools and plugins that are there, kinds of failures and kinds of
// events: nothing that a caller makes up. Names beyond a bound share the label "other".
package metrics

import (
	"net/http"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/toolhost/toolhost/host"
)

// maxTools is how many tools have series of their own; plugins come and go while a server
// runs, and none of what they were called is forgotten.
const maxTools = 2000

// other is the label of what has no series of its own.
const other = "other"

// Options of metrics. Each function gives a number that is asked for when the metrics are
// read; where it is nil the number is left out.
type Options struct {
	Version  string
	Sessions func() int // MCP sessions that are open
	Stuck    func() int // calls that were ended and still run
	Children func() int // processes that run for plugins
	Plugins  func() int // plugins that serve
}

// Metrics counts. It is a [host.Observer].
type Metrics struct {
	registry *prometheus.Registry
	stop     func()

	calls    *prometheus.CounterVec
	failures *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	running  prometheus.Gauge
	changes  prometheus.Counter
	plugins  *prometheus.CounterVec

	mu    sync.Mutex
	known map[string]bool // the tools that have series
	begun map[string]bool // the calls that run, by their ids
}

var _ host.Observer = (*Metrics)(nil)

// New counts what happens in h until Close. options may be nil.
func New(h *host.Host, options *Options) *Metrics {
	var o Options
	if options != nil {
		o = *options
	}
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "toolhost_calls_total", Help: "Calls that have ended, by tool and plugin.",
		}, []string{"tool", "plugin"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "toolhost_call_failures_total", Help: "Calls that failed, by tool, plugin and kind of failure.",
		}, []string{"tool", "plugin", "kind"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "toolhost_call_duration_seconds", Help: "How long handlers took, by tool and plugin.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 120},
		}, []string{"tool", "plugin"}),
		running: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "toolhost_calls_running", Help: "Calls whose handlers run.",
		}),
		changes: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "toolhost_tool_list_changes_total", Help: "Changes of the list of tools that agents see.",
		}),
		plugins: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "toolhost_plugin_events_total", Help: "What became of plugins: loaded, reloaded, repaired, failed, removed, held.",
		}, []string{"event"}),
		known: map[string]bool{},
		begun: map[string]bool{},
	}
	for _, kind := range []string{"loaded", "reloaded", "failed", "removed"} {
		m.plugins.WithLabelValues(kind) // so that a rate of them is there from the start
	}
	m.registry.MustRegister(m.calls, m.failures, m.seconds, m.running, m.changes, m.plugins,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.gauge("toolhost_tools", "Tools that agents see.", func() int {
		n := 0
		for _, t := range h.Tools() {
			if t.Enabled {
				n++
			}
		}
		return n
	})
	m.gauge("toolhost_sessions", "MCP sessions that are open; the stateless revision has none.", o.Sessions)
	m.gauge("toolhost_calls_stuck", "Calls that were ended and still run, since nothing can stop them.", o.Stuck)
	m.gauge("toolhost_child_processes", "Processes that run for plugins.", o.Children)
	m.gauge("toolhost_plugins", "Plugins that serve.", o.Plugins)
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "toolhost_info", Help: "The version of the program.", ConstLabels: prometheus.Labels{"version": o.Version},
	})
	info.Set(1)
	m.registry.MustRegister(info)
	m.stop = h.Observe(m)
	return m
}

func (m *Metrics) gauge(name, help string, value func() int) {
	if value == nil {
		return
	}
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 { return float64(value()) }))
}

// Close stops counting.
func (m *Metrics) Close() { m.stop() }

// Observe implements [host.Observer].
func (m *Metrics) Observe(e host.Event) {
	switch e.Kind {
	case host.ToolsChanged:
		m.changes.Inc()
	case host.CallStarted:
		m.begin(e.Call.ID)
	case host.CallEnded:
		tool, plugin := m.labels(e)
		m.calls.WithLabelValues(tool, plugin).Inc()
		if m.end(e.Call) {
			m.seconds.WithLabelValues(tool, plugin).Observe(e.Duration.Seconds())
		}
		if e.Failure != host.NoFailure {
			m.failures.WithLabelValues(tool, plugin, string(e.Failure)).Inc()
		}
	}
}

func (m *Metrics) begin(call string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begun[call] = true
	m.running.Set(float64(len(m.begun)))
}

// end reports whether the call had begun; one that was refused had not.
func (m *Metrics) end(call *host.Call) bool {
	if call == nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	began := m.begun[call.ID]
	delete(m.begun, call.ID)
	m.running.Set(float64(len(m.begun)))
	return began
}

// PluginEvent counts what became of a plugin, by a word for it.
func (m *Metrics) PluginEvent(kind string) { m.plugins.WithLabelValues(kind).Inc() }

// labels gives the tool and its plugin, or "other": for names that nothing has, which are
// the callers' own texts, and for tools beyond the bound.
func (m *Metrics) labels(e host.Event) (tool, plugin string) {
	if e.Tool == nil || e.Call == nil {
		return other, other
	}
	name, owner := e.Tool.Name, e.Call.Plugin
	key := owner + "\x00" + name
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.known[key] {
		if len(m.known) >= maxTools {
			return other, other
		}
		m.known[key] = true
	}
	return name, owner
}

// Handler serves the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}
