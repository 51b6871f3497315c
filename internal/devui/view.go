package devui

import (
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/toolhost/toolhost/loader"
)

// View draws the screen: as many lines as it is high, none wider than it is.
func (m *model) View() tea.View {
	rows, cursor := m.rows()
	v := tea.NewView(strings.Join(rows, "\n"))
	v.AltScreen = true
	v.WindowTitle = "toolhost dev"
	if cursor != nil {
		v.Cursor = cursor
	}
	return v
}

// rows draws the rows of the screen, and gives the place of the cursor where keys are typed.
func (m *model) rows() ([]string, *tea.Cursor) {
	foot := m.foot()
	if m.height <= len(foot) {
		return foot[:max(m.height, 0)], nil
	}
	room := m.height - len(foot)
	rows := []string{m.draw(m.head())}
	switch m.mode {
	case reading:
		for _, l := range m.page[min(m.from, len(m.page)):] {
			rows = append(rows, m.wrap("", l)...)
		}
	case picking:
		rows = append(rows, m.pickRows(room-1)...)
	default:
		rows = append(rows, m.pluginRows(max(1, room/5))...)
		rows = append(rows, m.problemRows(room/2)...)
		rows = append(rows, m.draw(m.rule("calls and log")))
		rows = append(rows, m.historyRows(room-len(rows))...)
	}
	if len(rows) > room {
		rows = rows[:room]
	}
	for len(rows) < room {
		rows = append(rows, "")
	}
	var cursor *tea.Cursor
	if m.mode == editing || m.mode == picking {
		if cursor = m.input.Cursor(); cursor != nil {
			cursor.X += lipgloss.Width(m.label())
			cursor.Y = room
		}
	}
	return append(rows, foot...), cursor
}

// style gives how a kind of line looks. Colours are those of the terminal's own palette;
// where it has none, or NO_COLOR is set, the writer below leaves them out.
func style(k Kind) lipgloss.Style {
	s := lipgloss.NewStyle()
	switch k {
	case Faint:
		return s.Faint(true)
	case Strong:
		return s.Bold(true)
	case Good:
		return s.Foreground(lipgloss.Green)
	case Warning:
		return s.Foreground(lipgloss.Yellow)
	case Bad:
		return s.Foreground(lipgloss.Red)
	default:
		return s
	}
}

// draw draws a line in one row, cut at the edge.
func (m *model) draw(l Line) string {
	text := l.Text
	switch {
	case lipgloss.Width(text) <= m.width:
	case m.width < 2: // to lipgloss, no width is any width
		text = strings.Repeat("…", max(m.width, 0))
	default:
		text = lipgloss.NewStyle().MaxWidth(m.width-1).Render(text) + "…"
	}
	return style(l.Kind).Render(text)
}

// wrap draws a line in as many rows as it needs. Further rows begin below where the text of
// the first one does, where the screen is wide enough for that.
func (m *model) wrap(lead string, l Line) []string {
	text := lead + l.Text
	if lipgloss.Width(text) <= m.width {
		return []string{style(l.Kind).Render(text)}
	}
	indent := lipgloss.Width(lead) + len(l.Text) - len(strings.TrimLeft(l.Text, " "))
	if indent > m.width/2 {
		indent = 0
	}
	rows := strings.Split(lipgloss.Wrap(strings.TrimLeft(l.Text, " "), max(m.width-indent, 1), ""), "\n")
	for i, r := range rows {
		before := strings.Repeat(" ", indent)
		if i == 0 && indent > 0 {
			before = lead + strings.Repeat(" ", indent-lipgloss.Width(lead))
		}
		rows[i] = style(l.Kind).Render(before + r)
	}
	return rows
}

func (m *model) head() Line {
	text := "toolhost dev  " + short(m.o.Title, 300)
	if m.o.Address != "" {
		text += "  MCP at " + short(m.o.Address, 300)
	}
	return Line{Kind: Strong, Text: text}
}

func (m *model) rule(title string) Line {
	text := "── " + title + " "
	if m.back > 0 {
		text += fmt.Sprintf("(%d more below) ", m.back)
	}
	return Line{Kind: Faint, Text: text + strings.Repeat("─", max(0, m.width-lipgloss.Width(text)))}
}

// pluginRows draws how the plugins stand, those that need a look first.
func (m *model) pluginRows(most int) []string {
	var bad, good []Line
	for _, p := range m.plugins {
		l := pluginLine(p.status)
		if l.Kind == Good {
			good = append(good, l)
		} else {
			bad = append(bad, l)
		}
	}
	list := append(bad, good...)
	if len(list) == 0 {
		return []string{m.draw(Line{Kind: Faint, Text: "no plugin is loaded yet"})}
	}
	var rows []string
	for i, l := range list {
		if i == most-1 && len(list) > most {
			rows = append(rows, m.draw(Line{Kind: Faint, Text: fmt.Sprintf("… and %d more plugins", len(list)-i)}))
			break
		}
		rows = append(rows, m.draw(l))
	}
	return rows
}

func pluginLine(s loader.PluginStatus) Line {
	name := short(s.Name, 100)
	switch {
	case s.State == loader.Failed:
		return Line{Kind: Bad, Text: "✗ " + name + "  failed"}
	case s.State == loader.Held:
		return Line{Kind: Warning, Text: "? " + name + "  waits for consent  " + toolList(s)}
	case len(s.Errors) > 0:
		return Line{Kind: Bad, Text: fmt.Sprintf("! %s  stale: revision %d serves on  %s", name, s.Revision, toolList(s))}
	}
	l := Line{Kind: Good, Text: fmt.Sprintf("✓ %s  revision %d  %s", name, s.Revision, toolList(s))}
	if len(s.Warnings)+len(s.Skipped) > 0 {
		l.Kind = Warning
	}
	return l
}

func toolList(s loader.PluginStatus) string { return short(strings.Join(s.Tools, ", "), 1000) }

// problemRows draws what is wrong.
func (m *model) problemRows(most int) []string {
	var rows []string
	for _, p := range m.plugins {
		if len(p.problems) == 0 {
			continue
		}
		rows = append(rows, m.draw(m.problemHead(p)))
		for _, l := range p.problems {
			if l.Code {
				rows = append(rows, m.draw(l))
			} else {
				rows = append(rows, m.wrap("", l)...)
			}
			if len(rows) > most+maxCounted {
				break
			}
		}
	}
	if len(rows) <= most || most <= 0 {
		return rows[:min(len(rows), max(most, 0))]
	}
	more := strconv.Itoa(len(rows) - most + 1)
	if len(rows) > most+maxCounted {
		more = fmt.Sprintf("over %d", maxCounted)
	}
	return append(rows[:most-1], m.draw(Line{Kind: Faint, Text: "… and " + more + ` more lines; "toolhost check" has them all`}))
}

// maxCounted is how many rows are drawn only to be counted.
const maxCounted = 1000

func (m *model) problemHead(p plugin) Line {
	text := "── " + short(p.status.Name, 100) + " "
	return Line{Kind: Faint, Text: text + strings.Repeat("─", max(0, m.width-lipgloss.Width(text)))}
}

// historyRows draws the end of what happened, or of what is scrolled back to.
func (m *model) historyRows(room int) []string {
	var rows []string
	end := len(m.history.lines) - m.back
	for at := end - 1; at >= 0 && len(rows) < room; at-- {
		l := m.history.lines[at]
		lead := "         "
		if !l.Time.IsZero() {
			lead = l.Time.Format("15:04:05 ")
		}
		rows = append(m.wrap(lead, l), rows...)
	}
	if len(rows) > room {
		rows = rows[len(rows)-max(room, 0):]
	}
	return rows
}

// pickRows draws the tools to choose from.
func (m *model) pickRows(room int) []string {
	found := m.matching()
	if len(found) == 0 {
		return []string{m.draw(Line{Kind: Faint, Text: "no tool has that in its name"})}
	}
	chosen := min(m.chosen, len(found)-1)
	var rows []string
	for i := max(0, chosen-room+1); i < len(found) && len(rows) < room; i++ {
		l := Line{Text: "  " + found[i].Name + "  " + short(found[i].Title, 200)}
		if i == chosen {
			l.Kind, l.Text = Strong, "> "+strings.TrimPrefix(l.Text, "  ")
		}
		rows = append(rows, m.draw(l))
	}
	return rows
}

// label stands before what is typed.
func (m *model) label() string {
	switch m.mode {
	case picking:
		return "tool: "
	default:
		return short(m.tool, 64) + " "
	}
}

// foot draws the line of the chosen tool and the one that says what keys do.
func (m *model) foot() []string {
	label := m.label()
	m.input.SetWidth(max(m.width-lipgloss.Width(label)-1, 1))
	var line string
	switch {
	case m.mode == editing || m.mode == picking:
		line = m.draw(Line{Text: label + m.input.View()})
	case m.tool == "":
		line = m.draw(Line{Kind: Faint, Text: "no tool yet"})
	default:
		line = m.draw(Line{Kind: Strong, Text: "▸ " + label + short(m.line, 2000)})
	}
	help := Line{Kind: Faint, Text: m.help()}
	if m.notice != "" {
		help = Line{Kind: Warning, Text: m.notice}
	}
	return []string{line, m.draw(help)}
}

func (m *model) help() string {
	switch m.mode {
	case editing:
		return `enter call · esc back · {"path": "a.md"} or path=a.md`
	case picking:
		return "type a part of the name · ↑↓ choose · enter take · esc back"
	case reading:
		return "↑↓ scroll · esc back"
	}
	tests := "t test · T on reload: off"
	if m.o.Testing {
		tests = "t test · T on reload: on"
	}
	if m.testing {
		tests = "testing"
	}
	return "q quit · enter call · e edit · tab tool · p pick · s schema · ↑↓ scroll · " + tests
}
