/**
 * What an entry may say of itself, by who could have written it: what it has no right to is taken away, and said.
 *
 * @internal
 */
import type * as ConfigEntry from "../../ConfigEntry.ts"
import * as Scope from "../../Scope.ts"

/** Variables with which somebody else's code is loaded into a program, or run beside it. */
const loaders: ReadonlySet<string> = new Set([
  "_JAVA_OPTIONS",
  "BASH_ENV",
  "BROWSER",
  "BUN_OPTIONS",
  "BUNDLE_GEMFILE",
  "CLASSPATH",
  "CORECLR_ENABLE_PROFILING",
  "CORECLR_PROFILER",
  "CORECLR_PROFILER_PATH",
  "COR_PROFILER",
  "DENO_OPTIONS",
  "DOTNET_ADDITIONAL_DEPS",
  "DOTNET_STARTUP_HOOKS",
  "EDITOR",
  "ELECTRON_RUN_AS_NODE",
  "ENV",
  "GCONV_PATH",
  "GEM_HOME",
  "GEM_PATH",
  "GIT_ASKPASS",
  "GIT_EDITOR",
  "GIT_EXEC_PATH",
  "GIT_EXTERNAL_DIFF",
  "GIT_PAGER",
  "GIT_PROXY_COMMAND",
  "GIT_SEQUENCE_EDITOR",
  "GIT_SSH",
  "GIT_SSH_COMMAND",
  "GIT_TEMPLATE_DIR",
  "GLIBC_TUNABLES",
  "IFS",
  "JAVA_OPTS",
  "JAVA_TOOL_OPTIONS",
  "JDK_JAVA_OPTIONS",
  "LUA_CPATH",
  "LUA_INIT",
  "LUA_PATH",
  "MAVEN_OPTS",
  "NODE_OPTIONS",
  "NODE_PATH",
  "NODE_REPL_EXTERNAL_MODULE",
  "OPENSSL_CONF",
  "OPENSSL_ENGINES",
  "OPENSSL_MODULES",
  "PAGER",
  "PERL5DB",
  "PERL5LIB",
  "PERL5OPT",
  "PERLLIB",
  "PHPRC",
  "PHP_INI_SCAN_DIR",
  "PROMPT_COMMAND",
  "PS4",
  "PSMODULEPATH",
  "PYTHONBREAKPOINT",
  "PYTHONHOME",
  "PYTHONINSPECT",
  "PYTHONPATH",
  "PYTHONSTARTUP",
  "PYTHONUSERBASE",
  "PYTHONWARNINGS",
  "R_ENVIRON",
  "R_PROFILE",
  "RUBYLIB",
  "RUBYOPT",
  "RUSTC_WRAPPER",
  "SHELLOPTS",
  "SSH_ASKPASS",
  "SUDO_ASKPASS",
  "TS_NODE_PROJECT",
  "VISUAL",
  "ZDOTDIR"
])

/** Families of them: all variables of the dynamic linkers, and of git's and npm's settings. */
const families = /^(LD_|DYLD_|GIT_CONFIG|NPM_CONFIG_|YARN_|BASH_FUNC_)/

/** Variables with which a program does not look any more whom it speaks to, or tells everybody what it says. */
const unguarded: ReadonlySet<string> = new Set([
  "GIT_SSL_NO_VERIFY",
  "NODE_EXTRA_CA_CERTS",
  "NODE_TLS_REJECT_UNAUTHORIZED",
  "PYTHONHTTPSVERIFY",
  "SSLKEYLOGFILE"
])

/**
 * Whether a variable is nothing that somebody else may set for a program: it makes it load code, or takes the protection
 * of its connections away. In any case of letters, because Windows does not tell them apart and npm neither.
 *
 * @internal
 */
export const isHostile = (name: string): boolean => {
  const upper = name.toUpperCase()
  return loaders.has(upper) || unguarded.has(upper) || families.test(upper)
}

/** Variables that decide which programs and packages are found, where their settings are, and whom they believe. */
const finders: ReadonlySet<string> = new Set([
  "ALL_PROXY",
  "APPDATA",
  "COMSPEC",
  "CURL_CA_BUNDLE",
  "GOFLAGS",
  "GOPROXY",
  "HOME",
  "HTTPS_PROXY",
  "HTTP_PROXY",
  "LOCALAPPDATA",
  "PATH",
  "PATHEXT",
  "REQUESTS_CA_BUNDLE",
  "SHELL",
  "SSL_CERT_DIR",
  "SSL_CERT_FILE",
  "SYSTEMROOT",
  "USERPROFILE",
  "VIRTUAL_ENV"
])

const finding = /^(XDG_|PIP_|PIPX_|UV_|BUN_|DENO_|COREPACK_|PNPM_|CARGO_|CONDA_|DOCKER_)/

/**
 * Whether a variable can make something else of a program that was agreed to. A file beside the configuration is not
 * shown to whoever agrees, and may change afterwards, so none of these are taken from it.
 *
 * @internal
 */
export const isDeciding = (name: string): boolean => {
  const upper = name.toUpperCase()
  return isHostile(name) || finders.has(upper) || finding.test(upper)
}

/** The words with which a host approves less than it would without them. */
const stricter: ReadonlySet<string> = new Set(["prompt", "ask", "deny", "never"])

const withoutApprovals = (
  tools: ConfigEntry.Tools,
  ignored: (at: string) => void
): ConfigEntry.Tools | undefined => {
  const { approval, autoApprove, ...rest } = tools
  if (autoApprove !== undefined) ignored("tools.autoApprove")
  const kept = new Map(Array.from(approval ?? []).filter(([, mode]) => stricter.has(mode)))
  if (kept.size !== (approval?.size ?? 0)) ignored("tools.approval")
  const tools_ = { ...rest, ...(kept.size === 0 ? {} : { approval: kept }) }
  return Object.keys(tools_).length === 0 ? undefined : tools_
}

/**
 * The entry with what its origin may say, and warnings about the rest.
 *
 * @internal
 */
export const withRights = (
  entry: ConfigEntry.ConfigEntry,
  origin: Scope.Origin
): { readonly entry: ConfigEntry.ConfigEntry; readonly warnings: ReadonlyArray<ConfigEntry.EntryWarning> } => {
  const rights = Scope.rights(origin)
  const warnings: Array<ConfigEntry.EntryWarning> = []
  let left = entry
  if (!rights.approveTools && left.tools !== undefined) {
    const { tools, ...others } = left
    const kept = withoutApprovals(tools, (at) => warnings.push({ kind: "ignored-in-project", at }))
    left = kept === undefined ? others : { ...others, tools: kept }
  }
  if (!rights.loaderVariables && left.env !== undefined) {
    const { env, ...others } = left
    const kept = new Map(Array.from(env).filter(([name, value]) => value === null || !isHostile(name)))
    for (const name of env.keys()) if (!kept.has(name)) warnings.push({ kind: "env-dropped", at: `env.${name}` })
    left = kept.size === 0 ? others : { ...others, env: kept }
  }
  if (!rights.environment && left.transport === "stdio" && left.inheritEnv !== undefined && left.inheritEnv !== false) {
    const { inheritEnv: _, ...others } = left
    warnings.push({ kind: "ignored-in-project", at: "inheritEnv" })
    left = others
  }
  return { entry: left, warnings }
}
