package devui

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/toolhost/toolhost/host"
	"github.com/toolhost/toolhost/loader"
)

// mode says what keys do.
type mode int

const (
	watching mode = iota
	editing       // the argument line has the keys
	picking       // a tool is chosen by typing a part of its name
	reading       // the schema of a tool is shown
)

// model is what a screen shows.
type model struct {
	ctx  context.Context
	feed *Feed
	o    Options

	width, height int
	mode          mode
	plugins       []plugin
	history       history
	back          int             // how many lines of the history are below the shown ones
	tool          string          // the chosen one
	line          string          // its arguments
	input         textinput.Model // the argument line, or what is typed to choose a tool
	chosen        int             // among the tools that match what was typed
	page          []Line          // what is read
	from          int             // its first shown line
	calling       int             // calls of this screen that run
	testing       bool            // the tests run
	notice        string          // why a key did nothing
}

// plugin is how one stands.
type plugin struct {
	status   loader.PluginStatus
	problems []Line
}

func newModel(ctx context.Context, feed *Feed, options *Options) *model {
	m := &model{ctx: ctx, feed: feed, width: 80, height: 24}
	if options != nil {
		m.o = *options
	}
	m.input = textinput.New()
	m.input.SetStyles(textinput.Styles{})
	m.input.SetVirtualCursor(false)
	m.input.Prompt = ""
	m.input.CharLimit = 64 << 10
	return m
}

// Messages beside those of the terminal.
type (
	updates []Update
	called  struct {
		tool string
		err  error
	}
	tested struct{ err error }
)

// Init waits for the first thing to show.
func (m *model) Init() tea.Cmd { return m.next }

// next waits for something to show.
func (m *model) next() tea.Msg {
	list, err := m.feed.Next(m.ctx)
	if err != nil {
		return nil
	}
	return updates(list)
}

// Update takes a message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case updates:
		for _, u := range msg {
			m.take(u)
		}
		if m.tool == "" {
			m.step(1)
		}
		return m, m.next
	case called:
		m.calling--
		if msg.err != nil {
			m.add([]Line{{Kind: Bad, Text: short(msg.tool, 200) + " was not called: " + short(msg.err.Error(), maxText)}})
		}
	case tested:
		m.testing = false
		if msg.err != nil {
			m.add([]Line{{Kind: Bad, Text: "the tests did not run: " + short(msg.err.Error(), maxText)}})
		}
	case tea.PasteMsg:
		if m.mode == editing {
			m.beginAnew()
		}
		if m.mode == editing || m.mode == picking {
			return m, m.typed(tea.PasteMsg{Content: strings.Join(strings.Fields(msg.Content), " ")})
		}
	case tea.KeyPressMsg:
		m.notice = ""
		return m, m.key(msg)
	}
	return m, nil
}

// take shows something that happened.
func (m *model) take(u Update) {
	m.add(u.Lines)
	if u.Load == nil {
		return
	}
	s := u.Load.Status
	at := slices.IndexFunc(m.plugins, func(p plugin) bool { return p.status.Dir == s.Dir })
	now := plugin{s, u.Problems}
	switch {
	case u.Load.Kind == loader.PluginRemoved && at >= 0:
		m.plugins = slices.Delete(m.plugins, at, at+1)
	case u.Load.Kind == loader.PluginRemoved:
	case at >= 0:
		m.plugins[at] = now
	default:
		m.plugins = append(m.plugins, now)
	}
}

// add adds lines to the history. Who has scrolled back goes on seeing the same.
func (m *model) add(list []Line) {
	before := len(m.history.lines)
	m.history.add(list)
	if m.back > 0 {
		m.back = max(0, m.back+len(m.history.lines)-before)
	}
}

// tools gives the names of what can be called.
func (m *model) tools() []host.Registered {
	if m.o.Tools == nil {
		return nil
	}
	return m.o.Tools()
}

// step chooses the tool that is so many places after the chosen one.
func (m *model) step(by int) {
	tools := m.tools()
	if len(tools) == 0 {
		return
	}
	at := slices.IndexFunc(tools, func(t host.Registered) bool { return t.Name == m.tool })
	if at < 0 && by > 0 {
		at = -1
	} else if at < 0 {
		at = 0
	}
	m.choose(tools[((at+by)%len(tools)+len(tools))%len(tools)].Name)
}

func (m *model) choose(tool string) {
	m.tool, m.line = tool, ""
	if m.o.Arguments != nil {
		m.line = m.o.Arguments(tool)
	}
}

// key does what a key asks for.
func (m *model) key(k tea.KeyPressMsg) tea.Cmd {
	if k.String() == "ctrl+c" {
		return tea.Quit
	}
	if k.String() == "ctrl+z" {
		return tea.Suspend
	}
	switch m.mode {
	case editing:
		return m.editKey(k)
	case picking:
		return m.pickKey(k)
	case reading:
		m.readKey(k)
		return nil
	}
	switch k.String() {
	case "q":
		return tea.Quit
	case "enter", "r":
		return m.call()
	case "e":
		if m.tool != "" {
			m.mode = editing
			m.input.SetValue(m.line)
			m.input.CursorEnd()
			return m.input.Focus()
		}
		m.notice = "there is no tool yet"
	case "tab", "right":
		m.step(1)
	case "shift+tab", "left":
		m.step(-1)
	case "p", "/":
		m.mode, m.chosen = picking, 0
		m.input.SetValue("")
		return m.input.Focus()
	case "s":
		m.read()
	case "t":
		return m.test()
	case "T":
		m.toggleTests()
	default:
		m.scroll(k.String())
	}
	return nil
}

// scroll goes through the history.
func (m *model) scroll(key string) {
	const page = 10
	switch key {
	case "up", "k":
		m.back++
	case "down", "j":
		m.back--
	case "pgup":
		m.back += page
	case "pgdown":
		m.back -= page
	case "home", "g":
		m.back = len(m.history.lines)
	case "end", "G", "esc":
		m.back = 0
	}
	m.back = min(max(m.back, 0), max(len(m.history.lines)-1, 0))
}

func (m *model) test() tea.Cmd {
	switch {
	case m.o.Test == nil:
		m.notice = "there are no tests to run"
	case m.testing:
		m.notice = "the tests run already"
	default:
		m.testing = true
		return func() tea.Msg { return tested{m.o.Test(m.ctx)} }
	}
	return nil
}

func (m *model) toggleTests() {
	if m.o.TestOnReload == nil {
		m.notice = "there are no tests to run"
		return
	}
	m.o.Testing = !m.o.Testing
	m.o.TestOnReload(m.o.Testing)
}

// maxCalling is how many calls of the screen may run at a time.
const maxCalling = 8

// call calls the chosen tool.
func (m *model) call() tea.Cmd {
	switch {
	case m.tool == "" || m.o.Call == nil:
		m.notice = "there is no tool yet"
		return nil
	case m.calling >= maxCalling:
		m.notice = fmt.Sprintf("%d calls run already", m.calling)
		return nil
	}
	m.calling++
	m.back = 0
	tool, line := m.tool, m.line
	if m.o.Remember != nil {
		m.o.Remember(tool, line)
	}
	return func() tea.Msg { return called{tool, m.o.Call(m.ctx, tool, line)} }
}

// typed gives a message to the input.
func (m *model) typed(msg tea.Msg) tea.Cmd {
	var cmd tea.Cmd
	m.input, cmd = m.input.Update(msg)
	return cmd
}

func (m *model) editKey(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "enter":
		m.line = strings.TrimSpace(m.input.Value())
		m.leave()
		return m.call()
	case "esc":
		m.leave()
		return nil
	}
	if strings.TrimSpace(k.Text) != "" {
		m.beginAnew()
	}
	return m.typed(k)
}

// beginAnew empties the line where somebody begins to type behind a JSON object that was there:
// nothing can follow one, so that other arguments are meant. Esc brings it back.
func (m *model) beginAnew() {
	line := m.input.Value()
	if line == m.line && strings.HasPrefix(line, "{") && m.input.Position() == len([]rune(line)) {
		m.input.SetValue("")
	}
}

func (m *model) leave() {
	m.mode = watching
	m.input.Blur()
}

// matching gives the tools whose names hold what was typed.
func (m *model) matching() []host.Registered {
	part := strings.ToLower(strings.TrimSpace(m.input.Value()))
	return slices.DeleteFunc(m.tools(), func(t host.Registered) bool { return !strings.Contains(strings.ToLower(t.Name), part) })
}

func (m *model) pickKey(k tea.KeyPressMsg) tea.Cmd {
	found := m.matching()
	switch k.String() {
	case "enter":
		if len(found) > 0 {
			m.choose(found[min(m.chosen, len(found)-1)].Name)
		}
		m.leave()
	case "esc":
		m.leave()
	case "up":
		m.chosen = max(min(m.chosen, len(found)-1)-1, 0)
	case "down", "tab":
		m.chosen = min(m.chosen+1, max(len(found)-1, 0))
	default:
		m.chosen = 0
		return m.typed(k)
	}
	return nil
}

// read shows what the chosen tool says of itself.
func (m *model) read() {
	tools := m.tools()
	at := slices.IndexFunc(tools, func(t host.Registered) bool { return t.Name == m.tool })
	if at < 0 {
		m.notice = "there is no tool yet"
		return
	}
	t := tools[at]
	m.page = []Line{{Kind: Strong, Text: short(t.Name+"  "+t.Title, 300)}}
	m.page = append(m.page, lines(Plain, "", t.Description)...)
	for _, s := range []struct {
		name string
		json json.RawMessage
	}{{"arguments", t.InputSchema}, {"result", t.OutputSchema}} {
		if len(s.json) > 0 {
			m.page = append(m.page, Line{Kind: Strong, Text: s.name})
			m.page = append(m.page, schemaLines(s.json)...)
		}
	}
	m.mode, m.from = reading, 0
}

// schemaLines lays a schema out.
func schemaLines(schema json.RawMessage) []Line {
	text, err := json.MarshalIndent(schema, "  ", "  ")
	if err != nil {
		text = schema
	}
	var list []Line
	for l := range strings.Lines("  " + string(text)) {
		l, _ = cut(strings.TrimRight(l, "\n"), maxText)
		list = append(list, Line{Text: oneLine(l)})
	}
	return list
}

func (m *model) readKey(k tea.KeyPressMsg) {
	const page = 10
	switch k.String() {
	case "up", "k":
		m.from--
	case "down", "j":
		m.from++
	case "pgup":
		m.from -= page
	case "pgdown", "space":
		m.from += page
	case "home", "g":
		m.from = 0
	case "end", "G":
		m.from = len(m.page)
	case "q", "esc", "s", "enter":
		m.mode, m.page = watching, nil
	}
	m.from = min(max(m.from, 0), max(len(m.page)-1, 0))
}
