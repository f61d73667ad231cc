/**
 * Reads the stderr of a failed or silent program: the line with the reason, and the party at fault. No other module
 * interprets stderr.
 */

/** A party at fault that stderr names, and the next step for a person. */
export interface Fault {
  readonly cause: string
  readonly remedy: string
}

export interface Reading {
  /** The most telling line; undefined if stderr is empty. */
  readonly line: string | undefined
  readonly fault: Fault | undefined
}

/** The most characters that are read of a text and of a line, because patterns must stay fast on hostile text. */
const longest = 16 * 1024
const longestLine = 1_000

const escapes = /\u001b\[[\d;?]*[A-Za-z]/g

/**
 * Messages of launchers, each with the `code` and perhaps the `url` of a registry that does not answer, or with the `name` of
 * a package that does not exist.
 */
const ofInstall: ReadonlyArray<readonly [program: string, pattern: RegExp]> = [
  ["npm", /^npm (?:error|ERR!) .*request to (?<url>\S+) failed, reason:.*?\b(?<code>E[A-Z_]{3,})/m],
  [
    "npm",
    /^npm (?:error|ERR!) code (?<code>ENOTFOUND|EAI_AGAIN|ECONN\w+|ETIMEDOUT|E\w+UNREACH|ERR_SOCKET_TIMEOUT|\w*CERT\w*|UNABLE_TO\w+)$/m
  ],
  ["pnpm", /ERR_PNPM_META_FETCH_FAIL\s+GET (?<url>\S+?): .*?\b(?<code>E[A-Z_]{3,})/],
  ["bun", /^error: (?<code>\w+) downloading (?:package manifest|tarball) /m],
  ["deno", /Failed loading (?<url>\S+) for package "[^]*?(?<code>dns error|tcp connect error|UnknownIssuer|timed out)/],
  ["uv", /Failed to fetch: `(?<url>\S+)`[^]*?(?<code>dns error|Connection refused|tcp connect error|timed out)/i],
  ["pip", /Failed to establish a new connection: \[Errno -?\d+\] (?<code>[\w ]+)/],
  ["npm", /^npm (?:error|ERR!) 404 .*'(?<name>[^'\n]+?)(?:@\*)?' (?:is not in this registry|could not be found)/m],
  ["npm", /^npm (?:error|ERR!) 404 Not Found - GET \S+?\/(?<name>(?:@[^/\s]+(?:\/|%2f))?[^/\s]+)(?:\s|$)/im],
  ["npm", /^npm (?:error|ERR!) notarget No matching version found for (?<name>\S+?)\.?$/m],
  ["pnpm", /ERR_PNPM_FETCH_404\s+GET \S+?\/(?<name>(?:@[^/\s]+(?:\/|%2f))?[^/\s]+): /i],
  ["pnpm", /ERR_PNPM_NO_MATCHING_VERSION\s+No matching version found for (?<name>\S+)/],
  ["bun", /^error: GET \S+?\/(?<name>(?:@[^/\s]+(?:\/|%2f))?[^/\s]+) - 404$/im],
  ["bun", /^error: No version matching .* found for specifier "(?<name>[^"]+)"/m],
  ["deno", /npm package ["'](?<name>\S+?)["'] does not exist/],
  ["uv", /Because (?<name>\S+) was not found in the package registry/],
  ["uv", /Because there is no version of (?<name>\S+)/],
  ["pip", /No matching distribution found for (?<name>\S+)/],
  ["docker", /(?:pull access denied for|manifest for) (?<name>[^\s,]+)/],
  ["docker", /Unable to find image '(?<name>\S+?)' locally[^]*manifest unknown/]
]

/** An address without its path and its credentials. */
const originOf = (url: string): string => URL.canParse(url) ? `${new URL(url).origin}, ` : ""

const installFault = (text: string): Fault | undefined => {
  for (const [program, pattern] of ofInstall) {
    const groups = pattern.exec(text)?.groups
    if (groups === undefined) continue
    const { code, name = "", url = "" } = groups
    return code === undefined
      ? {
        cause: `${program} cannot find the ${program === "docker" ? "image" : "package"} "${
          name.replace(/%2f/i, "/")
        }"`,
        remedy: "Check the name and the version in \"args\". A private package needs a login to its registry."
      }
      : {
        cause: `${program} cannot reach its registry (${originOf(url)}${code})`,
        remedy: `Check the network, the proxy and the registry of ${program}. Or install the package and set "command" `
          + "to its program."
      }
  }
  return undefined
}

/** Messages of programs that cannot reach an address. */
const unreachable: ReadonlyArray<RegExp> = [
  /\b(?<code>ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)\b(?: (?<address>\[?[\w.:-]+\]?))?/,
  /\b(?:dial (?:tcp|udp)|lookup) (?<address>\[?[\w.:-]+\]?)(?: on \S+)?: .*?(?<code>connection refused|no such host|i\/o timeout)/,
  /(?<code>connection refused|ConnectionRefused|connection timed out|no route to host|name or service not known|nodename nor servname|temporary failure in name resolution|getaddrinfo failed)/i
]

const inText = /(?<![\w.])((?:[\w-]+\.)*[\w-]+:\d{2,5})\b/

const serverFault = (line: string): Fault | undefined => {
  for (const pattern of unreachable) {
    const groups = pattern.exec(line)?.groups
    if (groups === undefined) continue
    return {
      cause: `the server cannot reach ${groups["address"] ?? inText.exec(line)?.[1] ?? "its upstream"} (${
        groups["code"]
      })`,
      remedy: "Start the service that it connects to, or correct the address in \"env\" or \"args\" of the server."
    }
  }
  const module = /(?:Cannot find (?:module|package) |No module named )['"]?([^'"\s]+)/.exec(line)?.[1]
  return module === undefined ? undefined : {
    cause: `the server cannot find the module "${module}"`,
    remedy: "Install the server's dependencies in its folder, or correct the path in \"args\"."
  }
}

/** Lines that only point into a program, or do not contain the cause. */
const noise: ReadonlyArray<RegExp> = [
  // punctuation only
  /^[\s\p{P}\p{S}]*$/u,
  // the lines around stack frames
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
  // warnings, generic advice
  /^\(node:\d+\) |^\(Use `node --trace/,
  /^Run '.+ --help'/
]

/** The prefix of npm's error lines, and those of them that do not contain the cause. */
const ofNpm = /^npm (?:error|ERR!) ?/
const npmNoise: ReadonlyArray<RegExp> = [
  /^(?:code|errno|syscall|path|dest|command|signal|cwd|host|port|type|address) /,
  /^(?:\d+|\w+)$/,
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

/** The version of a runtime, the log and the stack of npm, and bare braces, of which a person has no use in any view. */
const clutter: ReadonlyArray<RegExp> = [
  /^Node\.js v\d/,
  /^npm (?:error|ERR!)\s+(?:A complete log of this run|\S.*[\\/]_logs[\\/]|at \S.*:\d)/,
  /^(?:npm (?:error|ERR!))?[\s{}()[\],;]*$/
]

const frames: ReadonlyArray<RegExp> = [/^\s*at .+(?:[:(]\d|\(native|<anonymous>)/]

const some = (patterns: ReadonlyArray<RegExp>) => (text: string): boolean =>
  patterns.some((pattern) => pattern.test(text))
const isClutter = some(clutter)
const isFrame = some(frames)
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
      isClutter(line) || isFrame(body) || isNoise(body) || isCaret(lines[at + 1]) ||
      (isNpm ? isNpmNoise(body) : /^npm (?:notice|warn|WARN)\b/.test(line))
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
  return { line, fault: installFault(text) ?? serverFault(line.slice(0, longestLine)) }
}

/** The most lines of a tail. */
const mostLines = 12

/** The last lines for a person, without clutter; without stack frames too where another line has the cause already. */
export const tail = (stderr: string | undefined, { frames }: { readonly frames: boolean }): ReadonlyArray<string> =>
  (stderr?.slice(-longest).split(/\r?\n/) ?? []).filter((line) => !isClutter(line) && (frames || !isFrame(line))).slice(
    -mostLines
  )
