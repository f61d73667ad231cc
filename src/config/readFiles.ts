/** The first two steps of discovery: which files there are, and what each holds. */
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { sha256 } from "../json/canonical.ts"
import { nearest } from "../text/nearest.ts"
import type * as ConfigDiscovery from "./ConfigDiscovery.ts"
import * as ConfigFile from "./ConfigFile.ts"
import type * as ConfigFiles from "./ConfigFiles.ts"
import * as ConfigIssue from "./ConfigIssue.ts"
import * as Dialect from "./Dialect.ts"
import * as Document from "./document.ts"
import { isList, isText, table } from "./document.ts"
import * as Locate from "./locate.ts"
import * as Scope from "./Scope.ts"

type Issue = ConfigIssue.ConfigIssue

/** What a file holds. */
interface Content extends ConfigFile.ConfigFile {
  readonly digest: string
  readonly exclusive: boolean
}

/** A file that was read. */
export interface File extends Locate.Source, Content {
  /** The file has changed and cannot be used, so its last good content is. */
  readonly isStale: boolean
}

const policyTable = ({ root }: Document.Document): Document.Table => table(root?.get("policy"))

/** An administrator who lists servers means these and no others, unless the file says otherwise. */
const isExclusive = ({ provider, scope }: Locate.Source, { document, items }: ConfigFile.ConfigFile): boolean => {
  if (scope !== "managed" || provider !== "native") return false
  const exclusive = policyTable(document).get("exclusive")
  if (exclusive === false) return false
  // any other value was meant as a limit
  return exclusive !== undefined || items.length > 0 ||
    document.root?.has("mcpServers") === true || document.root?.has("mcp_servers") === true
}

/** A file that cannot be read. One of an administrator could have held any rule, so nothing is allowed. */
const unusable = (source: Locate.Source, issues: ReadonlyArray<Issue>): File => {
  const { origin, provider, scope } = source
  const rules = { allow: [], deny: [], ordered: [], identities: undefined, managedOnly: true, broken: true }
  const policy = scope === "managed" ? { provider, scope, origin, ...rules } : undefined
  return { ...ConfigFile.nothing, ...source, digest: "", policy, issues, isStale: false }
}

interface Asked extends Locate.Import {
  readonly by: File | undefined
}

/** The hosts that the options import, and then those that files import. */
const askedBy = (options: ConfigDiscovery.Options, files: ReadonlyArray<File>): ReadonlyArray<Asked> => [
  ...options.imports.map((host): Asked => ({ host, isOfWorkspace: false, by: undefined })),
  ...files.filter(({ isImported }) => !isImported).flatMap((by) =>
    (by.imports ?? []).map((host): Asked => ({ host, isOfWorkspace: !Scope.rights(by.origin).start, by }))
  )
]

const unknownImport = ({ by, host }: Asked): ReadonlyArray<Issue> => {
  if (Locate.dialectsOf(host).length > 0) return []
  const about: ConfigIssue.Subject = by === undefined
    ? { provider: "code", scope: "session" }
    : { provider: by.provider, scope: by.scope, path: by.path, ...by.document.position(["imports"]) }
  const [near] = nearest(host, [...new Set(Dialect.all.map((dialect) => dialect.host)), Locate.everything])
  const detail = near === undefined ? host : `${host}; did you mean ${near}?`
  return [ConfigIssue.make(about, "warning", "unknown-import", { at: "imports", detail })]
}

/** How many files are read at the same time, and held until they are decoded. */
const together = 16

/** Bytes of a file that takes about 100 ms to decode. */
const large = 1024 * 1024

/** Reads files. It remembers the last good content of each while the file exists, and decodes no content twice. */
export const reading = (disk: ConfigFiles.ConfigFiles["Type"]) => {
  let before: ReadonlyMap<string, Content> = new Map()
  return Effect.fnUntraced(function*(machine: Locate.Machine, options: ConfigDiscovery.Options) {
    const now = new Map<string, Content>()
    const { strict } = options

    const readOne = (
      source: Locate.Source,
      found: ConfigFiles.Content | ConfigFiles.Refused | undefined,
      decode: Document.Decode
    ): File | undefined => {
      const { format, origin, path, pointer = [], provider, scope } = source
      const fault = (kind: ConfigIssue.FileFault, detail: string) => [
        ConfigIssue.make({ provider, scope, path }, "error", kind, { detail })
      ]
      if (found === undefined) {
        return source.isNamed ? unusable(source, fault("unreadable", "the file does not exist")) : undefined
      }
      // a file that is read in two ways is remembered for each
      const key = [provider, scope, origin, ...pointer, path].join("\0")
      const last = before.get(key)
      const failed = (issues: ReadonlyArray<Issue>): File => {
        if (last === undefined) return unusable(source, issues)
        now.set(key, last)
        return { ...source, ...last, issues: [...issues, ...last.issues], isStale: true }
      }
      if (found._tag === "Refused") return failed(fault(found.kind, found.detail))
      const digest = sha256(found.bytes)
      let content = last
      if (content?.digest !== digest) {
        const variable = machine.started
        const options = {
          host: provider,
          scope,
          origin,
          path,
          pointer: source.pointer,
          strict,
          variable,
          restricted: true
        }
        const file = ConfigFile.read(decode(found.bytes, format), options)
        if (file.issues.some(({ server, severity }) => severity === "error" && server === undefined)) {
          return failed(file.issues)
        }
        const exclusive = source.exclusive || isExclusive(source, file)
        content = { ...file, digest, exclusive }
      }
      now.set(key, content)
      return { ...source, ...content, isStale: false }
    }

    const readAll = Effect.fnUntraced(function*(sources: ReadonlyArray<Locate.Source>) {
      const files: Array<File> = []
      if (sources.length === 0) return files
      const found = yield* disk.find(sources.map(({ path }) => path))
      const wanted: Array<Locate.Source> = []
      for (const source of sources) {
        for (const path of found.get(source.path) ?? []) wanted.push({ ...source, path })
        // a file that the options name is missed
        if (source.isNamed && found.get(source.path)?.length === 0) wanted.push(source)
      }
      const loading = yield* Effect.fork(Document.decoder(new Set(wanted.map(({ format }) => format))))
      for (const some of Arr.chunksOf(wanted, together)) {
        const contents = yield* disk.readAll(some.map(({ origin, path }) => ({ path, origin, root: machine.root })))
        const decode = yield* Fiber.join(loading)
        for (const [at, source] of some.entries()) {
          const content = contents[at]
          const file = readOne(source, content, decode)
          if (file !== undefined) files.push(file)
          if (content?._tag === "Content" && content.bytes.length > large) yield* Effect.yieldNow()
        }
      }
      return files
    })

    const early = Locate.locate(machine, options, askedBy(options, []))
    const first = yield* readAll(early)
    const asked = askedBy(options, first)
    const sources = asked.length === options.imports.length ? early : Locate.locate(machine, options, asked)
    const second = yield* readAll(sources.slice(early.length))
    before = now
    const files = [...first, ...second].filter(permitted(first))
    return {
      files,
      issues: [...asked.flatMap(unknownImport), ...files.flatMap(({ issues }) => issues)],
      // every path that was looked at, whether it exists or not
      paths: sources.map(({ path }) => path)
    }
  })
}

/**
 * The hosts that an administrator or a person lets be read, by `policy.providers` of a native file. What an administrator
 * has written for a host is left out only by an administrator.
 */
const permitted = (files: ReadonlyArray<File>): (file: File) => boolean => {
  const lists = files.flatMap(({ document, isImported, origin, provider, scope }) => {
    const providers = !isImported && provider === "native" && Scope.rights(origin).allow
      ? policyTable(document).get("providers")
      : undefined
    // a value that is no list was meant as a limit
    return providers === undefined ? [] : [{ scope, hosts: isList(providers) ? providers.filter(isText) : [] }]
  })
  return ({ provider, scope }) =>
    provider === "native" ||
    lists.every((list) =>
      list.hosts.some((one) => Locate.isOf(provider, one)) || (scope === "managed" && list.scope !== "managed")
    )
}
