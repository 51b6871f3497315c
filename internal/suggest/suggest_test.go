package suggest

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"fileExtensions", "description", "id", "newText"}
	for word, want := range map[string]string{
		"fileExtension": "fileExtensions", "new_text": "newText", "NewText": "newText",
		"descripton": "description", "ix": "id", "di": "id", "name": "", "": "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
