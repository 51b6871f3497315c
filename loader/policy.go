package loader

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/toolhost/toolhost/permissions"
)

// permissions makes the policy from the manifest's permissions, and checks it.
func (c *checker) permissions() {
	raw := object(c.root, "permissions")
	files := object(raw, "fs")
	policy := &permissions.Policy{
		FS: permissions.FSPolicy{
			Read:  access(object(files, "read")),
			Write: access(object(files, "write")),
		},
		Fetch:                        hosts(object(raw, "fetch")),
		Net:                          hosts(object(raw, "net")),
		Env:                          texts(raw["env"]),
		Settings:                     raw["settings"] == true,
		Store:                        raw["store"] == true,
		Log:                          raw["log"] == true,
		Toast:                        raw["toast"] == true,
		HostTrigger:                  raw["hostTrigger"] == true,
		RenderHTMLToPDF:              raw["renderHtmlToPdf"] == true,
		SessionGetActive:             granted(raw["session"], "getActive"),
		ChannelsGetIntegrationConfig: granted(raw["channels"], "getIntegrationConfig"),
		AIComplete:                   granted(raw["ai"], "complete"),
	}
	if l := object(files, "list"); l != nil {
		list := access(l)
		policy.FS.List = &list
	}
	c.manifest.Policy = policy
	c.manifest.Timeout = c.timeout("/permissions/execution/timeout", object(raw, "execution"))
	c.manifest.Memory = c.memory("/permissions/execution/memory", object(raw, "execution"))

	c.permissionShapes(raw, files)
	for _, p := range policy.Check() {
		if _, ok := c.value("/permissions" + p.Pointer).(string); !ok && c.value("/permissions"+p.Pointer) != nil {
			continue // the schema says that it must be a text
		}
		c.error("/permissions"+p.Pointer, rulePolicy, p.Message, p.Hint)
	}
	c.permissionSettings(raw)
}

// permissionShapes speaks of short forms that do not say enough: whoever grants must
// see what is asked for.
func (c *checker) permissionShapes(raw, files map[string]any) {
	const which = `write {"parameter": true} for what the arguments name, or {"folder": true} for the agent's whole folder`
	refuse := func(pointer string, value any, hint string) {
		switch value.(type) {
		case nil, map[string]any:
		default:
			c.error(pointer, ruleType, fmt.Sprintf("%s must be an object, not %s", field(pointer), kind(value)), hint)
		}
	}
	refuse("/permissions/fs", raw["fs"], `write "fs": {"read": {"parameter": true}}`)
	for _, name := range []string{"read", "write", "list"} {
		refuse("/permissions/fs/"+name, files[name], which)
	}
	for _, name := range []string{"fetch", "net"} {
		refuse("/permissions/"+name, raw[name], fmt.Sprintf(`name the hosts: %q: {"static": ["api.example.com"]}`, name))
	}
}

// permissionSettings warns about settings that permissions name and nobody can set.
func (c *checker) permissionSettings(raw map[string]any) {
	declared := object(object(c.root, "contributes"), "settings")
	for _, name := range []string{"fetch", "net"} {
		for i, item := range list(object(raw, name), "settings") {
			key, ok := item.(string)
			if _, there := declared[key]; ok && !there {
				c.warn("/permissions/"+name+"/settings/"+strconv.Itoa(i), ruleNoSetting,
					fmt.Sprintf("%s grants nothing by the setting %q: it is not in contributes.settings", name, cut(key)),
					"declare the setting, or take its key away")
			}
		}
	}
}

func access(raw map[string]any) permissions.Access {
	return permissions.Access{
		Parameter: raw["parameter"] == true,
		Folder:    raw["folder"] == true,
		Paths:     texts(raw["paths"]),
		Deny:      texts(raw["deny"]),
	}
}

func hosts(raw map[string]any) permissions.HostPolicy {
	return permissions.HostPolicy{Static: texts(raw["static"]), Settings: texts(raw["settings"])}
}

// granted reads a capability that is written {"name": true}, or true for all there are.
func granted(value any, name string) bool {
	if o, ok := value.(map[string]any); ok {
		return o[name] == true
	}
	return value == true
}

// texts gives a list of texts with its places kept: what is no text is "", and is
// reported by the schema.
func texts(value any) []string {
	l, ok := value.([]any)
	if !ok {
		return nil
	}
	t := make([]string, len(l))
	for i, item := range l {
		t[i], _ = item.(string)
	}
	return slices.Clip(t)
}
