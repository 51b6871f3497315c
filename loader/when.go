package loader

import (
	"fmt"
	"strings"
)

// condition is a parsed "when" of a command: names with !, && and ||, and brackets.
type condition struct {
	operator string // "name", "!", "&&", "||"
	name     string
	parts    []*condition
}

// conditionNames are the names that a condition may have, besides setting:key.
func conditionNames() []string {
	return []string{"fileSelected", "multiSelected", "sessionActive", "agentRunning", "vaultOpen", "hasSelection"}
}

const (
	maxCondition = 1000 // bytes
	maxBrackets  = 50
)

// parseCondition parses a condition; an empty one is nil, and always holds.
func parseCondition(text string) (*condition, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	if len(text) > maxCondition {
		return nil, fmt.Errorf("it is longer than %d bytes", maxCondition)
	}
	p := conditionParser{rest: text}
	c, err := p.any(0)
	if err == nil && p.next() != "" {
		err = fmt.Errorf("there is %q where && or || could stand", cut(p.rest))
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

type conditionParser struct{ rest string }

// next gives the first sign or name of the rest, and leaves it there.
func (p *conditionParser) next() string {
	p.rest = strings.TrimLeft(p.rest, " \t\r\n")
	for _, sign := range []string{"&&", "||", "!", "(", ")"} {
		if strings.HasPrefix(p.rest, sign) {
			return sign
		}
	}
	end := strings.IndexFunc(p.rest, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.:-", r))
	})
	switch {
	case end < 0:
		return p.rest
	case end == 0:
		return p.rest[:1]
	}
	return p.rest[:end]
}

func (p *conditionParser) take(sign string) bool {
	if p.next() != sign {
		return false
	}
	p.rest = p.rest[len(sign):]
	return true
}

func (p *conditionParser) any(depth int) (*condition, error) {
	return p.chain("||", func() (*condition, error) { return p.all(depth) })
}

func (p *conditionParser) all(depth int) (*condition, error) {
	return p.chain("&&", func() (*condition, error) { return p.one(depth) })
}

func (p *conditionParser) chain(operator string, part func() (*condition, error)) (*condition, error) {
	first, err := part()
	if err != nil {
		return nil, err
	}
	c := &condition{operator: operator, parts: []*condition{first}}
	for p.take(operator) {
		next, err := part()
		if err != nil {
			return nil, err
		}
		c.parts = append(c.parts, next)
	}
	if len(c.parts) == 1 {
		return first, nil
	}
	return c, nil
}

func (p *conditionParser) one(depth int) (*condition, error) {
	if depth > maxBrackets {
		return nil, fmt.Errorf("it is nested more than %d deep", maxBrackets)
	}
	switch {
	case p.take("!"):
		c, err := p.one(depth + 1)
		return &condition{operator: "!", parts: []*condition{c}}, err
	case p.take("("):
		c, err := p.any(depth + 1)
		if err == nil && !p.take(")") {
			err = fmt.Errorf("a bracket is not closed")
		}
		return c, err
	}
	name := p.next()
	if name == "" {
		return nil, fmt.Errorf("it ends where a name should stand")
	}
	key, isSetting := strings.CutPrefix(name, "setting:")
	if isSetting && key == "" || !isSetting && !oneOfNames(name) {
		return nil, fmt.Errorf("%q is none of %s or setting:key", cut(name), strings.Join(conditionNames(), ", "))
	}
	p.rest = p.rest[len(name):]
	return &condition{operator: "name", name: name}, nil
}

func oneOfNames(name string) bool {
	for _, known := range conditionNames() {
		if name == known {
			return true
		}
	}
	return false
}

// holds reports whether the condition holds, where value gives what a name stands for.
func (c *condition) holds(value func(name string) bool) bool {
	switch {
	case c == nil:
		return true
	case c.operator == "name":
		return value(c.name)
	case c.operator == "!":
		return !c.parts[0].holds(value)
	}
	all := c.operator == "&&"
	for _, part := range c.parts {
		if part.holds(value) != all {
			return !all
		}
	}
	return all
}
