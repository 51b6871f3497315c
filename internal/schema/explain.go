package schema

import (
	"fmt"
	"strings"
)

// maxLines is how many issues are explained; a model corrects one after the other.
const maxLines = 10

func explain(lead string, issues []Issue) string {
	var b strings.Builder
	b.WriteString(lead)
	for i, issue := range issues {
		if i == maxLines {
			fmt.Fprintf(&b, "\n… and %d more", len(issues)-i)
			break
		}
		b.WriteString("\n- ")
		if issue.Pointer != "" {
			b.WriteString(issue.Pointer)
			b.WriteString(": ")
		}
		b.WriteString(issue.Message)
	}
	return b.String()
}
