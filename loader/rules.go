package loader

// Severity of a [Rule].
type Severity string

const (
	SeverityError   Severity = "error"   // the plugin does not load
	SeverityWarning Severity = "warning" // it loads, and the author is told
	SeverityInfo    Severity = "info"    // shown only when everything is asked for
)

// Rule is one thing that a plugin is checked for. Ids are stable: they are never given
// to another rule.
type Rule struct {
	ID       string
	Severity Severity
	Text     string
}

const (
	ruleUnreadable     = "P01"
	ruleSyntax         = "P02"
	ruleTwice          = "P03"
	ruleType           = "P04"
	ruleChoice         = "P05"
	ruleMissing        = "P06"
	ruleBlank          = "P07"
	ruleUnknown        = "P08"
	ruleName           = "P09"
	ruleNameAndID      = "P10"
	ruleVersion        = "P11"
	ruleRange          = "P12"
	ruleNotClaimed     = "P13"
	ruleToolsTwice     = "P14"
	ruleLegacy         = "P15"
	ruleToolID         = "P16"
	ruleToolDot        = "P17"
	ruleToolMount      = "P18"
	ruleToolTwice      = "P19"
	rulePath           = "P20"
	ruleHandler        = "P21"
	ruleCommand        = "P22"
	ruleOtherRuntime   = "P23"
	ruleTimeout        = "P24"
	ruleExtension      = "P25"
	rulePolicy         = "P26"
	ruleMemory         = "P27"
	ruleSetting        = "P28"
	ruleAction         = "P29"
	ruleNotRun         = "P30"
	ruleNotOffered     = "P31"
	ruleNoTitle        = "P32"
	ruleShort          = "P33"
	ruleNothing        = "P34"
	ruleAdvisory       = "P35"
	ruleNoFile         = "P36"
	ruleModule         = "P37"
	ruleNoRuntime      = "P38"
	ruleNameTaken      = "P39"
	ruleInternal       = "P40"
	ruleNoSetting      = "P41"
	ruleRefused        = "P42"
	ruleNoTool         = "P43"
	ruleEntryTwice     = "P44"
	ruleHidden         = "P45"
	ruleCommands       = "P46"
	ruleWhen           = "P47"
	ruleSlow           = "P48"
	ruleNoModule       = "P49"
	ruleUndeclared     = "P50"
	ruleUnused         = "P51"
	ruleIDTaken        = "P52"
	ruleSameText       = "P53"
	ruleSaysNothing    = "P54"
	ruleCardField      = "P55"
	ruleCardBounds     = "P56"
	ruleCardVersion    = "P57"
	ruleCardName       = "P58"
	ruleCardText       = "P59"
	ruleCardAddress    = "P60"
	ruleCardEntry      = "P61"
	ruleCardPermission = "P62"
	ruleCardSetting    = "P63"
	ruleCardPort       = "P64"
	ruleCardTool       = "P65"
	ruleCardSchema     = "P66"
	ruleTwoManifests   = "P67"
	ruleCardPage       = "P68"
	ruleNoFileRule     = "P69"
)

// Rules gives every rule of manifests, in the order of their ids. The rules of schema
// files have ids that begin with S (errors) and M (warnings).
func Rules() []Rule {
	return []Rule{
		{ruleUnreadable, SeverityError, "the manifest is a regular file of at most 256 KiB and 10,000 values inside the plugin folder"},
		{ruleSyntax, SeverityError, "the manifest is one JSON document in UTF-8"},
		{ruleTwice, SeverityError, "an object names each of its members once"},
		{ruleType, SeverityError, "each field has its type"},
		{ruleChoice, SeverityError, "a field with a list of choices has one of them"},
		{ruleMissing, SeverityError, "required fields are there"},
		{ruleBlank, SeverityError, "fields that somebody reads are not empty or blank"},
		{ruleUnknown, SeverityWarning, "fields are known; those that are not are ignored"},
		{ruleName, SeverityError, "the plugin's name matches ^[a-z0-9][a-z0-9-]{0,63}$"},
		{ruleNameAndID, SeverityError, "the plugin has a name, or an id as its synonym, not both"},
		{ruleVersion, SeverityError, "version is a semantic version"},
		{ruleRange, SeverityError, "engines.filer is a range of semantic versions"},
		{ruleNotClaimed, SeverityWarning, "engines.filer takes in the Filer version that this host claims"},
		{ruleToolsTwice, SeverityError, "tools stand in tools or in contributes.tools, not in both"},
		{ruleLegacy, SeverityError, "tools have id and schema, not the legacy name, parameters or inputSchema"},
		{ruleToolID, SeverityError, "a tool's id matches ^[A-Za-z0-9_-]{1,64}$"},
		{ruleToolDot, SeverityError, "a tool's id has no dot; dots are reserved for namespace prefixing"},
		{ruleToolMount, SeverityError, "a tool's id has no __; it is reserved for mounted MCP servers"},
		{ruleToolTwice, SeverityError, "a tool's id stands once in a manifest; at load the later tool is skipped with a warning"},
		{rulePath, SeverityError, "paths are relative slash paths that stay inside the plugin folder"},
		{ruleHandler, SeverityError, "a tool has a handler in the node runtime, and none in the process runtime"},
		{ruleCommand, SeverityError, "a plugin has a command in the process runtime, and none in the node runtime"},
		{ruleOtherRuntime, SeverityError, "keepAlive and protocol are for the process runtime, state and engine for the node runtime"},
		{ruleTimeout, SeverityError, "timeouts have a unit, are above zero and within the host's limit"},
		{ruleExtension, SeverityError, "file extensions begin with a dot and have no wildcard; an empty list is left out"},
		{rulePolicy, SeverityError, "permissions have globs and hosts that can be granted"},
		{ruleMemory, SeverityError, "permissions.execution.memory is a size above zero with its unit"},
		{ruleSetting, SeverityError, "settings are named for their plugin, and their defaults fit their types and choices"},
		{ruleAction, SeverityError, "actions name what they run"},
		{ruleNotRun, SeverityWarning, "hooks and views are kept; this host does not run them"},
		{ruleNotOffered, SeverityInfo, "generate and toolScope of actions are kept; this host does not use them"},
		{ruleNoTitle, SeverityWarning, "a tool has a title for people"},
		{ruleShort, SeverityWarning, "a tool's description has at least 20 characters"},
		{ruleNothing, SeverityWarning, "a plugin contributes something"},
		{ruleAdvisory, SeverityWarning, "somebody holds the plugin to each rule of its permissions and to its limits, on this machine"},
		{ruleNoFile, SeverityError, "files that the manifest names are there"},
		{ruleModule, SeverityError, "handler modules load, and commands can be run"},
		{ruleNoRuntime, SeverityError, "the host has the runtime that the plugin needs"},
		{ruleNameTaken, SeverityError, "no other folder has a plugin of the same name"},
		{ruleInternal, SeverityError, "loading does not fail by a fault of the host"},
		{ruleNoSetting, SeverityWarning, "settings that permissions name are declared in contributes.settings"},
		{ruleRefused, SeverityError, "the host takes the plugin's tools"},
		{ruleNoTool, SeverityWarning, "actions call tools of their own plugin"},
		{ruleEntryTwice, SeverityWarning, "ids of actions, of commands and of views stand once"},
		{ruleHidden, SeverityWarning, "a tool's title and description hold no hidden characters: control, bidirectional or without width"},
		{ruleCommands, SeverityError, "a command's id is 1 to 128 bytes without white space, no tool's, and it has a handler in the node runtime, none in the process runtime"},
		{ruleWhen, SeverityError, "conditions of commands are names with !, && and ||"},
		{ruleSlow, SeverityWarning, "handler modules append to no text in a loop: each time the whole text is copied"},
		{ruleNoModule, SeverityWarning, "the modules of Node that handlers import are ones that they can use here"},
		{ruleUndeclared, SeverityWarning, "what handlers use of the host is declared in permissions"},
		{ruleUnused, SeverityInfo, "what permissions declare is used by the handlers"},
		{ruleIDTaken, SeverityWarning, "a tool's id is not that of a built-in tool, nor of a plugin checked before it"},
		{ruleSameText, SeverityWarning, "the tools of a plugin have descriptions that differ"},
		{ruleSaysNothing, SeverityWarning, "a tool's description says more than its id"},
		{ruleCardField, SeverityError, "a card's manifest has only fields that cards have"},
		{ruleCardBounds, SeverityError, "lengths, numbers and lists of a card's manifest are within their bounds"},
		{ruleCardVersion, SeverityError, "manifestVersion is 1, and protocol is one that this host speaks"},
		{ruleCardName, SeverityError, "a card's name matches ^[a-z][a-z0-9-]{1,47}$ and is not reserved"},
		{ruleCardText, SeverityError, "the texts of a card hold no control, bidirectional or invisible characters"},
		{ruleCardAddress, SeverityError, "the addresses of a card begin with https://"},
		{ruleCardEntry, SeverityError, "a card's entry is a page or a module, and its icon a .png or .webp file"},
		{ruleCardPermission, SeverityError, "a card's permissions are ones that there are, with hosts where they take some"},
		{ruleCardSetting, SeverityError, "a card's settings have keys of their own, options where they choose, and defaults that fit"},
		{ruleCardPort, SeverityError, "a card's ports have ids of their own and types that there are"},
		{ruleCardTool, SeverityError, "a card's tools have names of their own, which match ^[a-z][a-z0-9_]{0,39}$ and make no __ with the card's"},
		{ruleCardSchema, SeverityError, "the schemas of a card keep to the part of JSON Schema that cards have, and none declares the argument card"},
		{ruleTwoManifests, SeverityError, "a folder holds one manifest"},
		{ruleCardPage, SeverityInfo, "a card's tools can be called without its page"},
		{ruleNoFileRule, SeverityWarning, "where a schema marks arguments that name files, the permissions have a rule for files"},
	}
}
