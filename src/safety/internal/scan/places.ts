/**
 * What a word with dots, slashes or an at sign in it stands for: a place where secrets lie, one that changes what runs
 * later, a page, a host, a mailbox.
 *
 * @internal
 */

const secrets =
  /(^|[/\\~])\.ssh([/\\]|$)|id_(rsa|ed25519|ecdsa|dsa)(?!\.pub)|(^|[/\\~])\.(aws|gnupg|azure|kube|netrc|npmrc|pypirc|pgpass|git-credentials|docker[/\\]config|config[/\\]gcloud|config[/\\]gh|password-store)|(^|[/\\])\.env($|\.(local|production|prod|staging|development|dev)$)|^\.env\.$|[/\\]etc[/\\](passwd|shadow|sudoers)|[/\\]proc[/\\](self|\d+)[/\\]environ|wallet\.dat|\.(pem|p12|pfx|kdbx|keystore|jks)$|(^|[/\\._-])(credentials?|secrets?|tokens?|passwords?)(\.(json|csv|ya?ml|toml|txt|env|db))$|[/\\]credentials$|cookies\.(sqlite|db|txt)|login\.keychain|\.(bash|zsh)_history|(^|[/\\.])mcp\.json$|master\.key$|[/\\]keychains?([/\\]|$)|private\.key$/

const settings =
  /(^|[/\\.])mcp\.json$|claude_desktop_config\.json|(^|[/\\~])\.(bashrc|bash_profile|zshrc|zshenv|zprofile|profile|bash_login)$|config\.fish$|(^|[/\\])(claude|agents|gemini|memory|copilot-instructions|soul|conventions)(\.local)?\.md$|\.(cursorrules|windsurfrules|clinerules|goosehints|gitconfig|npmrc|pypirc|curlrc|envrc)$|(^|[/\\~])\.(cursor|claude|codex|gemini|windsurf|continue|roo|kiro|vscode|config[/\\]autostart|config[/\\]systemd|git[/\\]hooks|git[/\\]config|ssh[/\\]config|ssh[/\\]rc|husky)([/\\]|$)|settings(\.local)?\.json$|authorized_keys|crontab|[/\\]etc[/\\](cron|sudoers|hosts|profile|rc|ld\.so|systemd|passwd)|launchagents|launchdaemons|\.github[/\\]workflows|mcp_settings\.json|mcp_config\.json|mcp\.toml$|config\.toml$/

/** What lies there for people to copy. */
const sample = /\.(example|sample|template|dist)$/

const topLevel =
  /^(com|org|net|io|dev|example|test|invalid|local|localhost|ai|app|co|xyz|info|biz|cloud|site|online|top|ru|cn|de|uk|fr|eu|us|me|sh|page|tech|evil|attacker|internal|onion|link|click|zip|ly|gg|to|cc|tk|pw|su|club|shop|live)$/

/** @internal */
export type Place =
  | "SECRETPATH"
  | "SAMPLEPATH"
  | "SETTINGSPATH"
  | "URL"
  | "URLDATA"
  | "HOST"
  | "EMAIL"
  | "PATH"
  | "SNAKE"

/** In a query: a place to fill in, or a word for what is taken. */
const gaps =
  /\{\{|\}\}|\$\{|<[a-z_]|%[a-z_]{3,}%|\[[a-z_ ]{3,}\]|__[a-z]+__|=.{0,20}base64|last_?message|conversation|chat_?history|system_?prompt|secret|\{[a-z_]+\}|history|api_?key|password|context=|=(data|token|payload|content|here|the|your|insert|encoded|env)|=\.\.\.$|exfil|stolen/

/** In the path: a place to fill in. */
const templates = /\{\{|\$\{|<[a-z_]+>/

const noGaps =
  /\{(owner|repo|id|version|name|branch|user|username|number|page|host|port|path|org|project|sha|tag|file)\}/

/** What the places of a chunk of text are; it holds no spaces and is in small letters. @internal */
export const placesOf = (chunk: string): ReadonlyArray<Place> => {
  const scheme = chunk.indexOf("://")
  if (scheme > 1) {
    const query = chunk.indexOf("?")
    const data = (templates.test(chunk) || (query !== -1 && gaps.test(chunk.slice(query)))) && !noGaps.test(chunk)
    return data ? ["URL", "URLDATA"] : ["URL"]
  }
  const places: Array<Place> = []
  const copied = chunk.replace(sample, "")
  if (copied.length < chunk.length && secrets.test(copied)) return ["SAMPLEPATH"]
  if (secrets.test(chunk) && !chunk.endsWith(".pub")) places.push("SECRETPATH")
  if (settings.test(chunk)) places.push("SETTINGSPATH")
  if (places.length > 0) return places
  const at = chunk.indexOf("@")
  const last = chunk.slice(chunk.lastIndexOf(".") + 1)
  if (at > 0 && chunk.indexOf(".", at) > at + 1) return ["EMAIL"]
  if (/^[a-z][a-z0-9-]*\.[a-z0-9]+_[a-z0-9_]+$/.test(chunk)) return ["SNAKE"]
  const slash = chunk.indexOf("/")
  const host = slash === -1 ? chunk : chunk.slice(0, slash)
  if (at === -1 && slash !== 0 && host.includes(".") && topLevel.test(host.slice(host.lastIndexOf(".") + 1))) {
    return slash !== -1 && chunk.includes("?") && gaps.test(chunk.slice(chunk.indexOf("?")))
      ? ["HOST", "URLDATA"]
      : ["HOST"]
  }
  if (/^(~|\.{0,2})[/\\]/.test(chunk) || (/^[a-z0-9_-]*\.[a-z0-9]{1,5}$/.test(chunk) && fileEnding.test(last))) {
    return ["PATH"]
  }
  return places
}

const fileEnding =
  /^(md|txt|json|ya?ml|toml|ts|js|mjs|py|rs|go|java|c|h|cpp|sh|csv|html|css|xml|log|lock|cfg|ini|conf|db|pdf|png|jpe?g|gif|svg|zip|gz)$/
