/**
 * Reads the stderr of a failed or silent program: the line with the reason, and the party at fault. No other module
 * interprets stderr.
 */

/**
 * The party at fault, if the text names it: a package or registry of the launcher, an upstream of the server, or the
 * server.
 */
export type Fault =
  | { readonly _tag: "PackageMissing"; readonly program: string; readonly package: string }
  | {
    readonly _tag: "RegistryUnreachable"
    readonly program: string
    readonly registry: string | undefined
    readonly code: string
  }
  | { readonly _tag: "UpstreamUnreachable"; readonly address: string | undefined; readonly code: string }
  | { readonly _tag: "ModuleMissing"; readonly module: string }

export interface Reading {
  /** The most telling line; undefined if stderr is empty. */
  readonly line: string | undefined
  readonly fault: Fault | undefined
}

/** The most characters that are read of a text and of a line, because patterns must stay fast on hostile text. */
const longest = 16 * 1024
const longestLine = 1_000

const escapes = /\u001b\[[\d;?]*[A-Za-z]/g

/** Messages of launchers for a package that does not exist; the name is in the first group. */
const noPackage: ReadonlyArray<readonly [program: string, pattern: RegExp]> = [
  ["npm", /^npm (?:error|ERR!) 404 .*'([^'\n]+?)(?:@\*)?' (?:is not in this registry|could not be found)/m],
  ["npm", /^npm (?:error|ERR!) 404 Not Found - GET \S+?\/((?:@[^/\s]+(?:\/|%2f))?[^/\s]+)(?:\s|$)/im],
  ["npm", /^npm (?:error|ERR!) notarget No matching version found for (\S+?)\.?$/m],
  ["pnpm", /ERR_PNPM_FETCH_404\s+GET \S+?\/((?:@[^/\s]+(?:\/|%2f))?[^/\s]+): /i],
  ["pnpm", /ERR_PNPM_NO_MATCHING_VERSION\s+No matching version found for (\S+)/],
  ["bun", /^error: GET \S+?\/((?:@[^/\s]+(?:\/|%2f))?[^/\s]+) - 404$/im],
  ["bun", /^error: No version matching .* found for specifier "([^"]+)"/m],
  ["deno", /npm package ["'](\S+?)["'] does not exist/],
  ["uv", /Because (\S+) was not found in the package registry/],
  ["uv", /Because there is no version of (\S+)/],
  ["pip", /No matching distribution found for (\S+)/],
  ["docker", /(?:pull access denied for|manifest for) ([^\s,]+)/],
  ["docker", /Unable to find image '(\S+?)' locally[^]*manifest unknown/]
]

/** Messages of launchers for a registry that does not answer. */
const noRegistry: ReadonlyArray<readonly [program: string, pattern: RegExp]> = [
  ["npm", /^npm (?:error|ERR!) .*request to (?<url>\S+) failed, reason:.*?\b(?<code>E[A-Z_]{3,})/m],
  [
    "npm",
    /^npm (?:error|ERR!) code (?<code>ENOTFOUND|EAI_AGAIN|ECONN\w+|ETIMEDOUT|E\w+UNREACH|ERR_SOCKET_TIMEOUT|\w*CERT\w*|UNABLE_TO\w+)$/m
  ],
  ["pnpm", /ERR_PNPM_META_FETCH_FAIL\s+GET (?<url>\S+?): .*?\b(?<code>E[A-Z_]{3,})/],
  ["bun", /^error: (?<code>\w+) downloading (?:package manifest|tarball) /m],
  ["deno", /Failed loading (?<url>\S+) for package "[^]*?(?<code>dns error|tcp connect error|UnknownIssuer|timed out)/],
  ["uv", /Failed to fetch: `(?<url>\S+)`[^]*?(?<code>dns error|Connection refused|tcp connect error|timed out)/i],
  ["pip", /Failed to establish a new connection: \[Errno -?\d+\] (?<code>[\w ]+)/]
]

const decoded = (name: string): string => name.replace(/%2f/i, "/")

/** An address without its path and its credentials. */
const originOf = (url: string | undefined): string | undefined =>
  url !== undefined && URL.canParse(url) ? new URL(url).origin : undefined

const ofInstall = (text: string): Fault | undefined => {
  for (const [program, pattern] of noRegistry) {
    const groups = pattern.exec(text)?.groups
    if (groups === undefined) continue
    return { _tag: "RegistryUnreachable", program, registry: originOf(groups["url"]), code: groups["code"] ?? "" }
  }
  for (const [program, pattern] of noPackage) {
    const name = pattern.exec(text)?.[1]
    if (name !== undefined) return { _tag: "PackageMissing", program, package: decoded(name) }
  }
  return undefined
}

const host = String.raw`\[?[\w.:-]+\]?`

/** Messages of programs that cannot reach an address. */
const unreachable: ReadonlyArray<RegExp> = [
  new RegExp(
    String
      .raw`\b(?<code>ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)\b(?: (?<address>${host}))?`
  ),
  new RegExp(
    String
      .raw`\b(?:dial (?:tcp|udp)|lookup) (?<address>${host})(?: on ${host})?: .*?(?<code>connection refused|no such host|i/o timeout)`
  ),
  /(?<code>connection refused|ConnectionRefused|connection timed out|no route to host|name or service not known|nodename nor servname|temporary failure in name resolution|getaddrinfo failed)/i
]

const inText = /(?<![\w.])((?:[\w-]+\.)*[\w-]+:\d{2,5})\b/

const ofServer = (line: string): Fault | undefined => {
  for (const pattern of unreachable) {
    const groups = pattern.exec(line)?.groups
    if (groups === undefined) continue
    const address = groups["address"] ?? inText.exec(line)?.[1]
    return { _tag: "UpstreamUnreachable", address, code: groups["code"] ?? "" }
  }
  const module = /(?:Cannot find (?:module|package) |No module named )['"]?([^'"\s]+)/.exec(line)?.[1]
  return module === undefined ? undefined : { _tag: "ModuleMissing", module }
}

/** Lines that only point into a program, or do not contain the cause. */
const noise: ReadonlyArray<RegExp> = [
  // punctuation only
  /^[\s\p{P}\p{S}]*$/u,
  // stack frames and the lines around them
  /^\s*at .+(?:[:(]\d|\(native|<anonymous>)/,
  /^\s*File ".+", line \d+/,
  /^\s*\.{3} \d+ (?:more|common frames)/,
  /^(?:Traceback \(most recent|\s*\+ Exception Group Traceback)/,
  /^(?:During handling of the above|The above exception was the direct)/,
  /^Emitted '\w+' event/,
  /^goroutine \d+ \[|^\t\S+:\d+( |$)|^[\w./]+\(.*\)$|^exit status \d+$/,
  /^note: run with `RUST_BACKTRACE/,
  /^(?:node:\S+|file:\S+|\[\w+\]|(?:\/|[A-Za-z]:\\).+):\d+$/,
  // properties of an error that is printed as an object
  /^\s+['"]?[\w$]+['"]?: .*[,[{]?$/,
  // versions, warnings, generic advice
  /^Node\.js v\d/,
  /^\(node:\d+\) |^\(Use `node --trace/,
  /^Run '.+ --help'/
]

/** The prefix of npm's error lines, and those of them that do not contain the cause. */
const ofNpm = /^npm (?:error|ERR!) ?/
const npmNoise: ReadonlyArray<RegExp> = [
  /^(?:code|errno|syscall|path|dest|command|signal|cwd|host|port|type|address) /,
  /^(?:\d+|\w+)$/,
  /^A complete log of this run/,
  /^(?:\w+ )?(?:In most cases|If you are behind a proxy|Note that you can also|tarball, folder|This is a problem related)/
]

/** Error lines in the words of most languages and loggers. */
const strong: ReadonlyArray<RegExp> = [
  /^\W*(?:\[?cause\]?: )?[\w.$]*(?:Error|Exception|Rejection)(?: \[\w+\])?(?:$|[:\s(])/,
  /(?:^|[\s\]):])[\w.$]*(?:Error|Exception)(?: \[\w+\])?: \S/,
  /(?:^\W*|\W)(?:error|fatal|panic|critical): /i,
  /\b(?:ERROR|FATAL|CRITICAL|SEVERE|PANIC)\b/,
  /ERR_PNPM_/
]

const weak: ReadonlyArray<RegExp> = [
  /\b(?:failed|failure|cannot|can't|could not|couldn't|unable|missing|required|requires|refused|denied|invalid|expired)\b/i,
  /\b(?:not set|not found|no such|must be|is not)\b/i,
  /\bE[A-Z]{4,}\b/
]

interface Line {
  readonly text: string
  readonly isError: boolean
}

/** Parses a line of a JSON logger into its message, and whether its level is that of an error. */
const ofJson = (text: string): Line | undefined => {
  if (!text.startsWith("{") || !text.endsWith("}")) return undefined
  let entry: Readonly<Record<string, unknown>>
  try {
    entry = JSON.parse(text)
  } catch {
    return undefined
  }
  const { err, error, level, message, msg, severity } = entry
  const inside = (value: unknown): unknown =>
    typeof value === "object" && value !== null && "message" in value ? value.message : value
  const words = [msg, message, inside(err), inside(error)].find((value) => typeof value === "string" && value !== "")
  if (typeof words !== "string") return undefined
  const degree = level ?? severity
  return {
    text: words,
    isError: typeof degree === "number" ? degree >= 50 : /^(?:error|fatal|critical|panic)$/i.test(String(degree))
  }
}

const some = (patterns: ReadonlyArray<RegExp>) => (text: string): boolean =>
  patterns.some((pattern) => pattern.test(text))
const isNoise = some(noise)
const isNpmNoise = some(npmNoise)
const isStrong = some(strong)
const isWeak = some(weak)

/** A caret marks the line above it as source code, which is no message. */
const isCaret = (text: string | undefined): boolean => text !== undefined && /^\s*[~^]+\s*$/.test(text)

const candidates = (text: string): ReadonlyArray<Line> => {
  const lines = text.split(/\r?\n/)
  return lines.flatMap((whole, at) => {
    const json = ofJson(whole.trim())
    if (json !== undefined) return [json]
    const line = whole.slice(0, longestLine)
    const isNpm = ofNpm.test(line)
    const body = line.replace(ofNpm, "")
    if (
      isNoise(body) || isCaret(lines[at + 1]) || (isNpm ? isNpmNoise(body) : /^npm (?:notice|warn|WARN)\b/.test(line))
    ) {
      return []
    }
    const label = isNpm ? /^(?:\d+|network|notarget) +/ : /^[\s|+>*]*(?:\[cause\]: )?/
    return [{ text: body.replace(label, "").replaceAll(/\s+/g, " ").trim(), isError: isNpm || isStrong(body) }]
  })
}

const most = (text: string): string | undefined => {
  const all = candidates(text)
  const line = all.findLast(({ isError }) => isError) ?? all.findLast(({ text }) => isWeak(text)) ?? all.at(-1)
  return line?.text ?? text.split(/\r?\n/).findLast((last) => last.trim() !== "")?.trim()
}

export const read = (stderr: string | undefined): Reading => {
  const text = stderr?.slice(-longest).replaceAll(escapes, "") ?? ""
  const line = most(text)
  if (line === undefined) return { line: undefined, fault: undefined }
  return { line, fault: ofInstall(text) ?? ofServer(line.slice(0, longestLine)) }
}

const quote = (text: string): string => `"${text}"`

/** The party at fault and its failure. */
export const sentence = (fault: Fault): string => {
  switch (fault._tag) {
    case "PackageMissing": {
      const { package: name, program } = fault
      return `${program} cannot find the ${program === "docker" ? "image" : "package"} ${quote(name)}`
    }
    case "RegistryUnreachable": {
      const details = [fault.registry, fault.code].filter((detail) => detail !== undefined && detail !== "").join(", ")
      return `${fault.program} cannot reach its registry (${details})`
    }
    case "UpstreamUnreachable":
      return `the server cannot reach ${fault.address ?? "its upstream"} (${fault.code})`
    case "ModuleMissing":
      return `the server lacks the module ${quote(fault.module)}`
  }
}
