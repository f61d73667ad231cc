import type * as ToolName from "../ToolName.ts"
import { identityHash } from "./identityHash.ts"

// Why no two identities share a name, whoever chose them.
//
// Every name is of one of three forms, and none has two:
// - hashed: it ends in `_` and 12 characters of the hash's alphabet. What would be plain but ends so is hashed as well.
// - plain: the parts as they are between prefix and separator. Of these the parts can be read back in one way only:
//   double: the server neither contains `__` nor ends in `_`, so the first `__` behind the prefix is the separator.
//   single: `_` in the server is written `__`, and the tool does not begin with `_`, so runs of `_` within the server
//   are even and the one that ends in the separator is the first that is odd.
// - bare: the prefix and a long hash, without a separator. Only the index gives these, to names that collide.
// So two plain names of different identities differ, and two hashed ones are the same only if 59 bits of SHA-256 are
// and what is readable of both identities is: something that has to be searched for, and of which the index makes two
// bare names. The two styles share nothing, since a single name never begins with `mcp__`.

const maxLength = 64

const hashLength = 12

const legal = /^[A-Za-z0-9_-]+$/

const hashed = /_[0-9b-df-hj-np-tv-z]{12}$/

/** What a server's name keeps at least of its length where a name must be shortened. */
const serverShare = 20

/** More than a qualified name ever has, but a person may write one from the parts as they are. */
const maxReadable = 512

interface Writing {
  readonly prefix: string
  readonly separator: string
  /** A plain name up to its tool, or nothing if the server cannot be plain. */
  readonly before: (server: string) => string | undefined
  readonly admits: (tool: string) => boolean
  readonly read: (text: string) => ToolName.Identity | undefined
}

const double: Writing = {
  prefix: "mcp__",
  separator: "__",
  before: (server) => server.endsWith("_") || server.includes("__") ? undefined : `mcp__${server}__`,
  admits: () => true,
  read: (text) => {
    const at = text.indexOf("__")
    return at < 1 ? undefined : { server: text.slice(0, at), tool: text.slice(at + 2) }
  }
}

const single: Writing = {
  prefix: "mcp_",
  separator: "_",
  before: (server) => server.startsWith("_") ? undefined : `mcp_${server.replaceAll("_", "__")}_`,
  admits: (tool) => !tool.startsWith("_"),
  read: (text) => {
    const run = /(?<!_)_(?:__)*(?!_)/.exec(text)
    if (run === null) return undefined
    const end = run.index + run[0].length
    return { server: text.slice(0, end - 1).replaceAll("__", "_"), tool: text.slice(end) }
  }
}

const writings: { readonly [S in ToolName.Style]: Writing } = { double, single }

/** What models accept of a text, without accents, for the eye only. */
const readable = (text: string, otherwise: string): string => {
  const kept = text.slice(0, maxLength).normalize("NFD").replace(/[\u0300-\u036f]+/g, "")
    .replace(/[^A-Za-z0-9-]+/g, "_").replace(/^[_-]+|[_-]+$/g, "")
  return kept === "" ? otherwise : kept
}

const shortened = (text: string, length: number): string => text.slice(0, length).replace(/[_-]+$/, "")

const changed = ({ prefix, separator }: Writing, rawServer: string, rawTool: string): string => {
  const server = readable(rawServer, "server")
  const tool = readable(rawTool, "tool")
  const room = maxLength - prefix.length - separator.length - 1 - hashLength
  const first = shortened(server, Math.max(serverShare, room - tool.length))
  const second = shortened(tool, room - first.length)
  return `${prefix}${first}${separator}${second}_${identityHash(rawServer, rawTool, hashLength)}`
}

/**
 * Names the tools of one server.
 *
 * @internal
 */
export const qualifier = (server: string, style: ToolName.Style): (tool: string) => string => {
  const writing = writings[style]
  const before = server.length < maxLength && legal.test(server) ? writing.before(server) : undefined
  if (before === undefined) return (tool) => changed(writing, server, tool)
  return (tool) => {
    if (before.length + tool.length <= maxLength && legal.test(tool) && writing.admits(tool)) {
      const name = before + tool
      if (!hashed.test(name)) return name
    }
    return changed(writing, server, tool)
  }
}

/** @internal */
export const qualify = (server: string, tool: string, style: ToolName.Style): string => qualifier(server, style)(tool)

/** @internal */
export const bare = (server: string, tool: string, style: ToolName.Style): string =>
  `${writings[style].prefix}${identityHash(server, tool, 32)}`

/** @internal */
export const parse = (name: string): ToolName.Identity | undefined => {
  if (name.length > maxReadable || hashed.test(name)) return undefined
  const writing = name.startsWith(double.prefix) ? double : single
  if (!name.startsWith(writing.prefix)) return undefined
  const identity = writing.read(name.slice(writing.prefix.length))
  return identity?.tool === "" ? undefined : identity
}
