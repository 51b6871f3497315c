// Package scaffold writes the folder of a new plugin: one that works at once, with a tool,
// its schema, a handler, cases, and what an editor needs to help.
//
//	made, err := scaffold.New("my-plugin", &scaffold.Options{Lang: "ts"})
//	fmt.Println(made.Tool) // "my_plugin_find"
package scaffold

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/toolhost/toolhost/internal/lazyregexp"
)

//go:embed templates
var templates embed.FS

// Options of a new plugin.
type Options struct {
	Lang    string // "js", the default, "ts", "python" or "go"; of a card "js" or "ts"
	Runtime string // "node" or "process"; what fits Lang where it is ""
	// ManifestSchema is written beside the types, for the editor.
	ManifestSchema []byte
	// Card has a card written instead of a Filer plugin; CardSchema is that of its manifest.
	Card       bool
	CardSchema []byte
	// CardName says what is wrong with the name of a card; "" where nothing is. nil takes all.
	CardName func(name string) string
}

// Made is a plugin that was written.
type Made struct {
	Name  string   // of the plugin
	Tool  string   // its id
	Files []string // slash paths below its folder, in the order in which they were written
	// Build is the command that makes the program; empty where nothing is to be built.
	Build []string
}

// UsageError says that what is asked for does not go together.
type UsageError struct{ Msg, Hint string }

func (e *UsageError) Error() string { return e.Msg }

// data is what the templates know.
type data struct {
	Name, Title, Tool, Type string
	Process                 bool
	Command                 string // JSON
	Handler, Main           string
	Build                   string
}

var notInName = lazyregexp.New(`[^a-z0-9]+`)

// maxName is how long a plugin's name may be.
const maxName = 64

// pluginName makes a plugin's name of a folder's.
func pluginName(folder string) string {
	name := strings.Trim(notInName.ReplaceAllString(strings.ToLower(folder), "-"), "-")
	return strings.TrimRight(name[:min(len(name), maxName)], "-")
}

// kinds gives the folders of templates for a language in a runtime.
var kinds = map[[2]string][]string{
	{"card", "js"}:        {"card", "card-js", "js-config", "card-types"},
	{"card", "ts"}:        {"card", "card-ts", "ts-config", "card-types"},
	{"node", "js"}:        {"common", "js", "js-config", "types"},
	{"node", "ts"}:        {"common", "ts", "ts-config", "types"},
	{"process", "js"}:     {"common", "process-js", "types"},
	{"process", "python"}: {"common", "python", "types"},
	{"process", "go"}:     {"common", "go", "types"},
}

// New writes a new plugin into dir, which must not be there or be empty. Where it fails it
// leaves nothing behind. The error is a *UsageError where the options or dir do not fit.
func New(dir string, options *Options) (*Made, error) {
	o := *options
	if o.Lang == "" {
		o.Lang = "js"
	}
	if o.Runtime == "" {
		o.Runtime = "node"
		if o.Lang == "python" || o.Lang == "go" {
			o.Runtime = "process"
		}
	}
	if o.Card {
		return newCard(dir, &o)
	}
	folders, ok := kinds[[2]string{o.Runtime, o.Lang}]
	if !ok || o.Runtime == "card" {
		message := fmt.Sprintf("there is no new plugin in the language %q for the runtime %q", o.Lang, o.Runtime)
		switch {
		case !slices.Contains([]string{"js", "ts", "python", "go"}, o.Lang):
			message = fmt.Sprintf("--lang %q is unknown", o.Lang)
		case o.Runtime != "node" && o.Runtime != "process":
			message = fmt.Sprintf("--runtime %q is unknown", o.Runtime)
		}
		return nil, &UsageError{message, "the runtime node takes js and ts; process takes js, python and go. For another language, write \"command\" in the manifest of one of these"}
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	d := data{Name: pluginName(filepath.Base(abs)), Process: o.Runtime == "process"}
	if d.Name == "" {
		return nil, &UsageError{fmt.Sprintf("no plugin can be named for the folder %q", filepath.Base(abs)), "name the folder with letters or digits"}
	}
	d.Tool = strings.ReplaceAll(d.Name[:min(len(d.Name), maxName-len("_find"))], "-", "_") + "_find"
	d.Title = titleOf(d.Name)
	d.Type = TypeName(d.Tool)
	made := &Made{Name: d.Name, Tool: d.Tool}
	switch {
	case !d.Process:
		d.Handler = "find." + o.Lang
	case o.Lang == "python":
		d.Command, d.Main = `["python3", "./main.py"]`, "main.py"
	case o.Lang == "js":
		d.Command, d.Main = `["node", "./main.mjs"]`, "main.mjs"
	default:
		d.Command, d.Main = fmt.Sprintf(`"./bin/%s"`, d.Name), "main.go"
		made.Build = []string{"go", "build", "-o", "bin/" + d.Name, "."}
		d.Build = strings.Join(made.Build, " ")
	}
	files, err := render(folders, d)
	if err != nil {
		return nil, err
	}
	files = append(files, file{"types/filer-plugin.schema.json", o.ManifestSchema})
	if !d.Process {
		i := slices.IndexFunc(files, func(f file) bool { return f.name == "find.schema.json" })
		types, err := Types(map[string]json.RawMessage{d.Tool: files[i].text})
		if err != nil {
			return nil, err
		}
		files = append(files, file{"types/params.d.ts", []byte(types)})
	} else {
		files = slices.DeleteFunc(files, func(f file) bool { return f.name == "types/toolhost.d.ts" }) // of handlers
	}
	for _, f := range files {
		made.Files = append(made.Files, f.name)
	}
	return made, write(abs, files)
}

// newCard writes a card without a page.
func newCard(dir string, o *Options) (*Made, error) {
	folders, ok := kinds[[2]string{"card", o.Lang}]
	if !ok || o.Runtime != "node" {
		return nil, &UsageError{fmt.Sprintf("there is no new card in the language %q for the runtime %q", o.Lang, o.Runtime), "cards are written in js or ts, and have no other runtime than node"}
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	d := data{Name: pluginName(filepath.Base(abs)), Handler: "card." + o.Lang}
	if o.CardName != nil {
		if problem := o.CardName(d.Name); problem != "" {
			return nil, &UsageError{fmt.Sprintf("no card can be named for the folder %q: %s", filepath.Base(abs), problem), "name the folder otherwise"}
		}
	}
	d.Tool = strings.ReplaceAll(d.Name, "-", "_") + "_" + cardTool
	d.Title = titleOf(d.Name)
	files, err := render(folders, d)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(files, func(f file) bool { return f.name == cardManifest })
	var m struct {
		Tools []struct{ InputSchema json.RawMessage }
	}
	if err := json.Unmarshal(files[i].text, &m); err != nil {
		return nil, err
	}
	types, err := Types(map[string]json.RawMessage{cardTool: m.Tools[0].InputSchema})
	if err != nil {
		return nil, err
	}
	files = append(files, file{"types/neurosquad-card.schema.json", o.CardSchema}, file{"types/params.d.ts", []byte(types)})
	made := &Made{Name: d.Name, Tool: d.Tool}
	for _, f := range files {
		made.Files = append(made.Files, f.name)
	}
	return made, write(abs, files)
}

const (
	cardManifest = "neurosquad-card.json"
	cardTool     = "find" // the tool of a new card
)

// titleOf makes a title of a plugin's name.
func titleOf(name string) string {
	return strings.ToUpper(name[:1]) + strings.ReplaceAll(name[1:], "-", " ")
}

// WriteTypes writes the declarations for the editor of a plugin anew: its types folder,
// which is made where it is missing. schemas are those of its tools, by tool id.
func WriteTypes(dir string, schemas map[string]json.RawMessage) error {
	types, err := Types(schemas)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	folder, name := "types", "toolhost.d.ts"
	if _, err := root.Lstat(cardManifest); err == nil {
		folder, name = "card-types", "card-sdk.d.ts"
	}
	api, err := templates.ReadFile("templates/" + folder + "/" + name)
	if err != nil {
		return err
	}
	if err := root.Mkdir("types", 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, f := range []file{{"types/" + name, api}, {"types/params.d.ts", []byte(types)}} {
		if old, err := root.ReadFile(f.name); err == nil && bytes.Equal(old, f.text) {
			continue // an editor would read it again for nothing
		}
		if err := root.WriteFile(f.name, f.text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// file is one to be written.
type file struct {
	name string // slash path below the folder
	text []byte
}

// render makes the files of folders of templates.
func render(folders []string, d data) ([]file, error) {
	var files []file
	for _, folder := range folders {
		root := "templates/" + folder
		err := fs.WalkDir(templates, root, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := templates.ReadFile(name)
			if err != nil {
				return err
			}
			below := strings.TrimPrefix(name, root+"/")
			if folder == "types" || folder == "card-types" {
				below = "types/" + below
			}
			if plain, ok := strings.CutSuffix(below, ".tmpl"); ok {
				below = plain
				if text, err = fill(name, text, d); err != nil {
					return err
				}
			}
			if below == "gitignore" {
				below = ".gitignore" // a template of that name would count for this repository
			}
			files = append(files, file{below, text})
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

func fill(name string, text []byte, d data) ([]byte, error) {
	t, err := template.New(name).Option("missingkey=error").Parse(string(text))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, d)
	return out.Bytes(), err
}

// write writes files into a folder that is not there or empty.
func write(dir string, files []file) (err error) {
	entries, err := os.ReadDir(dir)
	existed := err == nil
	switch {
	case existed && len(entries) > 0:
		return &UsageError{fmt.Sprintf("the folder %q is not empty", dir), "name a folder that is not there yet"}
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	defer func() {
		if err == nil {
			return
		}
		for _, f := range files {
			_ = root.RemoveAll(strings.SplitN(f.name, "/", 2)[0]) // the error that counts is the one at hand
		}
		if !existed {
			_ = os.Remove(dir)
		}
	}()
	for _, f := range files {
		name := filepath.FromSlash(f.name)
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := root.WriteFile(name, f.text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
