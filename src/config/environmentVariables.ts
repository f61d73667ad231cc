/**
 * The known variables of a process environment. One table decides which of them an entry may set, a server inherits and
 * consent shows first.
 *
 * @internal
 */

/**
 * The effect of a variable that an entry sets.
 *
 * - `code`: the program loads or runs other code.
 * - `trust`: the program accepts any peer, or writes down its keys.
 * - `program`: programs, packages or settings are looked up elsewhere.
 * - `peer`: connections go through another host, or trust other authorities.
 *
 * @internal
 */
export type Effect = "code" | "trust" | "program" | "peer"

interface Facts {
  readonly effect?: Effect
  /** A server's process inherits it on these platforms. */
  readonly inherited?: "posix" | "windows" | "both"
  /** Its value names a path, a locale or a user, and is no secret. POSIX names are case-sensitive. */
  readonly harmless?: "posix" | "windows"
  /** Goose passes it to no server. */
  readonly refusedByGoose?: true
}

/** A name may be in several groups. */
const groups: ReadonlyArray<readonly [facts: Facts, names: string]> = [
  [
    { effect: "code" },
    `_JAVA_OPTIONS BASH_ENV BROWSER BUN_OPTIONS BUNDLE_GEMFILE CLASSPATH CORECLR_ENABLE_PROFILING CORECLR_PROFILER
     CORECLR_PROFILER_PATH COR_PROFILER DENO_OPTIONS DOTNET_ADDITIONAL_DEPS DOTNET_STARTUP_HOOKS EDITOR
     ELECTRON_RUN_AS_NODE ENV GCONV_PATH GEM_HOME GEM_PATH GIT_ASKPASS GIT_EDITOR GIT_EXEC_PATH GIT_EXTERNAL_DIFF
     GIT_PAGER GIT_PROXY_COMMAND GIT_SEQUENCE_EDITOR GIT_SSH GIT_SSH_COMMAND GIT_TEMPLATE_DIR GLIBC_TUNABLES IFS
     JAVA_OPTS JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS LUA_CPATH LUA_INIT LUA_PATH MAVEN_OPTS NODE_OPTIONS NODE_PATH
     NODE_REPL_EXTERNAL_MODULE OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES PAGER PERL5DB PERL5LIB PERL5OPT PERLLIB
     PHPRC PHP_INI_SCAN_DIR PROMPT_COMMAND PS4 PSMODULEPATH PYTHONBREAKPOINT PYTHONHOME PYTHONINSPECT PYTHONPATH
     PYTHONSTARTUP PYTHONUSERBASE PYTHONWARNINGS R_ENVIRON R_PROFILE RUBYLIB RUBYOPT RUSTC_WRAPPER SHELLOPTS
     SSH_ASKPASS SUDO_ASKPASS TS_NODE_PROJECT VISUAL ZDOTDIR`
  ],
  [
    { effect: "trust" },
    "GIT_SSL_NO_VERIFY NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED PYTHONHTTPSVERIFY SSLKEYLOGFILE"
  ],
  [
    { effect: "program" },
    `APPDATA AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE COMSPEC GO111MODULE GOBIN GOENV GOFLAGS GOPATH GOPROXY GOROOT
     HOME HOMEDRIVE HOMEPATH JAVA_HOME KUBECONFIG LOCALAPPDATA NETRC NVM_DIR PATH PATHEXT PROGRAMDATA PROGRAMFILES
     SHELL SYSTEMDRIVE SYSTEMROOT USERPROFILE VIRTUAL_ENV VOLTA_HOME WINDIR`
  ],
  [
    { effect: "peer" },
    `AWS_CA_BUNDLE CURL_CA_BUNDLE DOCKER_CERT_PATH DOCKER_CONTEXT DOCKER_HOST DOCKER_TLS_VERIFY GIT_SSL_CAINFO
     GIT_SSL_CAPATH GRPC_DEFAULT_SSL_ROOTS_FILE_PATH HOSTALIASES REQUESTS_CA_BUNDLE SSL_CERT_DIR SSL_CERT_FILE`
  ],
  [{ inherited: "posix", harmless: "posix" }, "HOME LANG LOGNAME PATH SHELL TERM TMPDIR TZ USER"],
  [
    { harmless: "posix" },
    "HOSTNAME LANGUAGE PWD XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_RUNTIME_DIR XDG_STATE_HOME"
  ],
  [
    { inherited: "windows", harmless: "windows" },
    `APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA NUMBER_OF_PROCESSORS PATHEXT PROCESSOR_ARCHITECTURE PROGRAMDATA
     PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432 PUBLIC SYSTEMDRIVE SYSTEMROOT TEMP TMP USERNAME USERPROFILE WINDIR`
  ],
  [{ harmless: "windows" }, "COMPUTERNAME"],
  [{ inherited: "both" }, "PATH"],
  [
    { refusedByGoose: true },
    `APPINIT_DLLS CLASSPATH COMSPEC DYLD_FRAMEWORK_PATH DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH GEM_HOME GEM_PATH
     GO111MODULE GOROOT HOMEDRIVE HOMEPATH LD_ASSUME_KERNEL LD_AUDIT LD_BIND_NOW LD_DEBUG LD_LIBRARY_PATH LD_PRELOAD
     LOCALAPPDATA NODE_OPTIONS PATH PATHEXT PYTHONHOME PYTHONPATH RUBYOPT SESSIONNAME SYSTEMROOT TEMP TMP USERPROFILE
     WINDIR`
  ]
]

/** Families of names: a name of the table wins over them, and the first match wins among them. */
const families: ReadonlyArray<readonly [pattern: RegExp, effect: Effect]> = [
  [/^(LD_|DYLD_|GIT_CONFIG|NPM_CONFIG_|YARN_|BASH_FUNC_)/, "code"],
  [/(^|_)(HTTPS?|ALL|NO|FTP|WSS?|SOCKS|GRPC)_PROXY$/, "peer"],
  [/^(XDG_|PIP_|PIPX_|UV_|BUN_|DENO_|COREPACK_|PNPM_|CARGO_|CONDA_|DOCKER_|ASDF_|MISE_|PYENV_|RUSTUP_)/, "program"]
]

const table: ReadonlyMap<string, Facts> = (() => {
  const all = new Map<string, Facts>()
  for (const [facts, names] of groups) {
    for (const name of names.split(/\s+/)) all.set(name, { ...all.get(name), ...facts })
  }
  return all
})()

/**
 * The effect of a variable; `undefined` for one that only the program knows. Ignores case, because Windows and npm do
 * and proxies are written both ways.
 *
 * @internal
 */
export const effect = (name: string): Effect | undefined => {
  const upper = name.toUpperCase()
  return table.get(upper)?.effect ?? families.find(([pattern]) => pattern.test(upper))?.[1]
}

/**
 * True if a file of the workspace may not set it, because it injects code or switches off checks of connections.
 *
 * @internal
 */
export const isHostile = (name: string): boolean => {
  const changes = effect(name)
  return changes === "code" || changes === "trust"
}

/**
 * True if a server inherits the host's value without configuration. On Windows the name has to be in upper case.
 *
 * @internal
 */
export const isInherited = (name: string, platform: "posix" | "windows"): boolean => {
  const inherited = table.get(name)?.inherited
  return inherited === "both" || inherited === platform || (platform === "posix" && name.startsWith("LC_"))
}

/** @internal */
export const isHarmless = (name: string): boolean =>
  table.get(name)?.harmless === "posix" || /^LC_[A-Z]+$/.test(name) ||
  table.get(name.toUpperCase())?.harmless === "windows"

/** @internal */
export const isRefusedByGoose = (name: string): boolean => table.get(name.toUpperCase())?.refusedByGoose === true
