package permissions

import "slices"

// hostWriteGlobs are closed to writing in every folder: files that tell an agent, an
// editor, git, a shell or a package manager what to do or to run. Whoever writes them acts later
// with the user's rights.
var hostWriteGlobs = [...]string{
	// git, and hooks that it runs
	"**/.git/**", "**/.gitmodules", "**/.gitattributes", "**/.husky/**",
	// agents: their instructions, commands and servers
	"**/.claude/**", "**/.codex/**", "**/.gemini/**", "**/.qwen/**", "**/.opencode/**", "**/.kilocode/**",
	"**/claude.md", "**/claude.local.md", "**/agents.md", "**/gemini.md", "**/qwen.md",
	"**/.mcp.json", "**/opencode.json", "**/opencode.jsonc",
	// editors, with their agents and tasks
	"**/.vscode/**", "**/.idea/**", "**/.cursor/**", "**/.cursorrules", "**/.windsurf/**", "**/.windsurfrules",
	"**/.continue/**", "**/.devcontainer/**",
	// CI workflows
	"**/.github/workflows/**",
	// shells and package managers
	"**/.envrc", "**/.npmrc", "**/.yarnrc", "**/.yarnrc.yml", "**/.pnpmfile.cjs",
	"**/.bashrc", "**/.bash_profile", "**/.bash_login", "**/.bash_logout", "**/.bash_aliases", "**/.profile",
	"**/.zshrc", "**/.zshenv", "**/.zprofile", "**/.zlogin", "**/.zlogout", "**/.config/fish/**",
	// what a home folder that is the agent's folder has besides: who may log in, what
	// git runs, what starts with the session, and this host's own configuration and plugins
	"**/.ssh/**", "**/.gnupg/**", "**/.gitconfig", "**/.config/git/**", "**/.config/autostart/**", "**/.config/systemd/**",
	"**/.config/toolhost/**", "**/.local/share/toolhost/**", "**/.local/state/toolhost/**",
}

// hostReadGlobs are closed to reading in every folder: private keys, and files whose
// purpose is to hold a password or a token.
var hostReadGlobs = [...]string{
	// SSH: everything in its folder, and keys by their usual names wherever they are
	"**/.ssh/**", "**/id_rsa", "**/id_dsa", "**/id_ecdsa", "**/id_ecdsa_sk", "**/id_ed25519", "**/id_ed25519_sk", "**/*.ppk",
	// OpenPGP
	"**/.gnupg/**",
	// keys and key stores by their extension
	"**/*.pem", "**/*.key", "**/*.p12", "**/*.pfx", "**/*.jks", "**/*.keystore",
	// cloud and cluster credentials
	"**/.aws/credentials", "**/.azure/**", "**/.config/gcloud/**", "**/.kube/config", "**/.docker/config.json",
	// passwords of tools
	"**/.netrc", "**/_netrc", "**/.pgpass", "**/.git-credentials", "**/.htpasswd",
	// what other plugins were told and have stored
	"**/.local/state/toolhost/state.db*",
}

// The same, made ready for matching. They are never changed.
var (
	hostWriteDeny = newDenyList(hostWriteGlobs[:], false)
	hostReadDeny  = newDenyList(hostReadGlobs[:], false)
)

// HostWriteDeny gives the globs that the host closes to writing for every call,
// whatever its manifest says: configuration of agents, editors, git, CI, shells, package
// managers and this host itself. They match without case, and close what is below a match too.
func HostWriteDeny() []string { return slices.Clone(hostWriteGlobs[:]) }

// HostReadDeny gives the globs that the host closes to reading and listing for every
// call, whatever its manifest says: private keys and stored credentials. They match
// without case, and close what is below a match too. They do not hold for the files
// that a plugin brings along in its own folder.
func HostReadDeny() []string { return slices.Clone(hostReadGlobs[:]) }
