/** Tool names that models accept: qualified by the server, of few characters, short, and unique for each identity. */
// @effect-diagnostics nodeBuiltinImport:off
// Names need a cryptographic hash in pure code, and only Node's own is synchronous.
import { hash } from "node:crypto"

/** `mcp__server__tool` or `mcp_server_tool`. */
export type Style = "double" | "single"

/** A tool, whatever its name looks like to a model. */
export interface Identity {
  readonly server: string
  readonly tool: string
}

// No two identities share a name, because each name has exactly one of three forms:
// - hashed: it ends in `_` and 12 characters of the hash's alphabet. A plain name that would end so is hashed as well.
// - plain: prefix, server, separator and tool, which can be read back in one way only:
//   double: the server neither contains `__` nor ends in `_`, so the first `__` behind the prefix is the separator.
//   single: `_` in the server is written `__`, and the tool does not begin with `_`, so runs of `_` within the server
//   are even and the one that ends in the separator is the first that is odd.
// - bare: the prefix and a long hash, without a separator. Only the index gives these, to names that collide.
// So two plain names of different identities differ, and two hashed ones are the same only if 59 bits of SHA-256 and the
// readable parts are: that takes a search, and the index gives both identities bare names. The two styles share nothing,
// since a single name never begins with `mcp__`.

const maxLength = 64

const hashLength = 12

const legal = /^[A-Za-z0-9_-]+$/

const hashed = /_[0-9b-df-hj-np-tv-z]{12}$/

/** The least length that a server's name keeps where a name must be shortened. */
const serverShare = 20

/** Longer than any qualified name, because a person may write one from the unshortened parts. */
const maxReadable = 512

// no vowels, so that no word looks like a hash; one case, for readers that ignore case
const alphabet = "0123456789bcdfghjklmnpqrstvwxyz"

/** The hash in up to 32 characters of almost 5 bits each, of JSON, because UTF-8 merges unpaired surrogates. */
const identityHash = (server: string, tool: string, length: number): string => {
  const digest = hash("sha256", JSON.stringify([server, tool]), "binary")
  let text = ""
  for (let at = 0; at < length; at++) text += alphabet[digest.charCodeAt(at) % alphabet.length]
  return text
}

interface Writing {
  readonly prefix: string
  readonly separator: string
  /** A plain name up to its tool; `undefined` if the server cannot be written plainly. */
  readonly before: (server: string) => string | undefined
  readonly admits: (tool: string) => boolean
  readonly read: (text: string) => Identity | undefined
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

const writings: { readonly [S in Style]: Writing } = { double, single }

/** The characters of a text that models accept, without accents, for a reader only. */
const readable = (text: string, otherwise: string): string => {
  const kept = text.slice(0, maxLength).normalize("NFD").replace(/[\u0300-\u036f]+/g, "")
    .replace(/[^A-Za-z0-9-]+/g, "_").replace(/^[_-]+|[_-]+$/g, "")
  return kept === "" ? otherwise : kept
}

const shortened = (text: string, length: number): string => text.slice(0, length).replace(/[_-]+$/, "")

const hashedName = ({ prefix, separator }: Writing, rawServer: string, rawTool: string): string => {
  const server = readable(rawServer, "server")
  const tool = readable(rawTool, "tool")
  const room = maxLength - prefix.length - separator.length - 1 - hashLength
  const first = shortened(server, Math.max(serverShare, room - tool.length))
  const second = shortened(tool, room - first.length)
  return `${prefix}${first}${separator}${second}_${identityHash(rawServer, rawTool, hashLength)}`
}

/** `qualify` for the tools of one server. */
export const qualifier = (server: string, style: Style): (tool: string) => string => {
  const writing = writings[style]
  const before = server.length < maxLength && legal.test(server) ? writing.before(server) : undefined
  if (before === undefined) return (tool) => hashedName(writing, server, tool)
  return (tool) => {
    if (before.length + tool.length <= maxLength && legal.test(tool) && writing.admits(tool)) {
      const name = before + tool
      if (!hashed.test(name)) return name
    }
    return hashedName(writing, server, tool)
  }
}

/**
 * The name of a tool for a model: `^[a-zA-Z0-9_-]{1,64}$`, a function of the identity and the style alone, and different
 * for different identities.
 *
 * An identity that fits is written as it is. One that does not (other characters, too long, or a server that contains the
 * separator) is written as readably as possible and ends in a hash. In the single style `_` within a server is written
 * `__`. Case is significant.
 */
export const qualify = (server: string, tool: string, style: Style): string => qualifier(server, style)(tool)

/** A name of a hash alone, for identities whose qualified names collide. */
export const bare = (server: string, tool: string, style: Style): string =>
  `${writings[style].prefix}${identityHash(server, tool, 32)}`

/**
 * The identity that a name of either style seems to mean, where a model or a person made the name up: for a lookup, and
 * never to decide on. Reads back what `qualify` writes plainly, and nothing that ends in a hash.
 */
export const parse = (name: string): Identity | undefined => {
  if (name.length > maxReadable || hashed.test(name)) return undefined
  const writing = name.startsWith(double.prefix) ? double : single
  if (!name.startsWith(writing.prefix)) return undefined
  const identity = writing.read(name.slice(writing.prefix.length))
  return identity?.tool === "" ? undefined : identity
}
