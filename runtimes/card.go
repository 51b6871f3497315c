package runtimes

import "encoding/json"

// CardSDK is the name of the module through which a card reaches its host.
const CardSDK = "@neurosquad/card-sdk"

// Card is what a runtime is told of a NeuroSquad card. Its handlers are not exported by a
// module: they are registered while the card runs.
type Card struct {
	Name        string            `json:"name"`
	DisplayName map[string]string `json:"displayName"` // by language; "en" is there
	// ID and Title are those of the copy that is opened.
	ID    string `json:"id"`
	Title string `json:"title"`
	// Tools are the names of the tools of the manifest.
	Tools       []string         `json:"tools,omitempty"`
	Permissions []CardPermission `json:"permissions,omitempty"`
	Settings    []CardSetting    `json:"settings,omitempty"`
	Ports       json.RawMessage  `json:"ports,omitempty"` // as the manifest has them
	// Page is the slash path of the page below the folder; "" where the card has none.
	Page string `json:"page,omitempty"`
}

// CardPermission is a permission of a card, as the user has granted it with the card.
type CardPermission struct {
	ID       string            `json:"id"`
	Hosts    []string          `json:"hosts,omitempty"`
	Optional bool              `json:"optional"`
	Reason   map[string]string `json:"reason,omitempty"`
}

// CardSetting is one setting of a card.
type CardSetting struct {
	Key    string `json:"key"`
	Secret bool   `json:"secret"` // the card is told whether it is set, never its value
}
