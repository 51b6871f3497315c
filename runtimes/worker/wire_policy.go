package worker

import (
	"encoding/json"

	"github.com/toolhost/toolhost/permissions"
)

// wirePolicy is a policy as JSON. The values of settings that name hosts stay in the host,
// which decides on every connection: the outer field hides the one of the policy.
type wirePolicy struct {
	permissions.Policy
	Setting *struct{} `json:",omitempty"`
}

func encodePolicy(p *permissions.Policy) ([]byte, error) {
	if p == nil {
		return nil, nil
	}
	return json.Marshal(wirePolicy{Policy: *p})
}

// decodePolicy gives the policy of JSON; nil for none.
func decodePolicy(raw []byte) (*permissions.Policy, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	var w wirePolicy
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, err
	}
	return &w.Policy, nil
}
