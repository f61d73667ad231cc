// @effect-diagnostics nodeBuiltinImport:off
// Dozens of files are read when a program starts, step by step: as Effects the steps cost ten times what the system takes.
/**
 * What is in a file that may be anything: bounded, and decided on what was opened.
 *
 * @internal
 */
import { open, readdir, realpath, stat } from "node:fs/promises"
import * as UntrustedText from "../../../text/UntrustedText.ts"
import type * as ConfigFiles from "../../ConfigFiles.ts"
import type * as Scope from "../../Scope.ts"

/** @internal */
export interface Stats {
  readonly isFile: () => boolean
  readonly isDirectory: () => boolean
  readonly size: number
  readonly mode: number
  readonly uid: number
}

/** @internal */
export interface Handle {
  readonly stat: () => Promise<Stats>
  readonly read: (buffer: Uint8Array) => Promise<{ readonly bytesRead: number }>
  readonly close: () => Promise<void>
}

/**
 * What is asked of a disk.
 *
 * @internal
 */
export interface Disk {
  readonly stat: (path: string) => Promise<Stats>
  readonly realpath: (path: string) => Promise<string>
  readonly readdir: (path: string) => Promise<ReadonlyArray<string>>
  readonly open: (path: string) => Promise<Handle>
}

/** @internal */
export const disk: Disk = { stat, realpath, readdir: (path) => readdir(path), open: (path) => open(path, "r") }

/**
 * What ends the reading of a file.
 *
 * @internal
 */
export class Refusal {
  readonly kind: ConfigFiles.Refused["kind"]
  readonly detail: string
  constructor(kind: ConfigFiles.Refused["kind"], detail: string) {
    this.kind = kind
    this.detail = detail
  }
}

/** @internal */
export interface Reading {
  readonly disk: Disk
  /** As whom this process runs; absent where files have no owners that say anything. */
  readonly uid: number | undefined
  /** Whether the modes of files mean anything. */
  readonly hasModes: boolean
  readonly folderOf: (path: string) => string
}

/** @internal */
export interface Wanted {
  readonly at: string
  readonly origin: Scope.Origin
  readonly maxBytes: number
}

const othersMayWrite = 0o022
const sticky = 0o1000
const chunkBytes = 64 * 1024

/** Whose files are as good as an approval. What code gives has no file, and a workspace belongs to nobody. */
const isTrusted: { readonly [O in Scope.Origin]: boolean } = {
  system: true,
  home: true,
  plugin: true,
  code: false,
  workspace: false
}

const checkFile = (stats: Stats, maxBytes: number): void => {
  if (!stats.isFile()) throw new Refusal("not-a-file", `this is no file${stats.isDirectory() ? ", but a folder" : ""}`)
  if (stats.size > maxBytes) {
    throw new Refusal("file-too-large", `${stats.size} bytes, and ${maxBytes} are allowed`)
  }
}

/** Whether somebody else could have written this, or put it there. */
const checkOwner = (stats: Stats, at: string, what: string, uid: number | undefined): void => {
  const shown = UntrustedText.excerpt(at, 256)
  if (uid !== undefined && stats.uid !== 0 && stats.uid !== uid) {
    throw new Refusal("insecure-file", `${what} belongs to another user (${stats.uid}): ${shown}`)
  }
  // Nobody can take away or exchange what belongs to somebody else in a folder like /tmp.
  const isShared = stats.isDirectory() && (stats.mode & sticky) !== 0
  if ((stats.mode & othersMayWrite) !== 0 && !isShared) {
    throw new Refusal("insecure-file", `others may write to ${what}: chmod go-w ${shown}`)
  }
}

const content = async (handle: Handle, size: number, maxBytes: number): Promise<Uint8Array> => {
  const chunks: Array<Uint8Array> = []
  let total = 0
  let wanted = size + 1
  for (;;) {
    const buffer = new Uint8Array(wanted)
    const { bytesRead } = await handle.read(buffer)
    total += bytesRead
    if (total > maxBytes) throw new Refusal("file-too-large", `more than ${maxBytes} bytes`)
    chunks.push(buffer.subarray(0, bytesRead))
    // only the end of a file gives less than was asked for
    if (bytesRead < buffer.length) break
    // it has grown since
    wanted = Math.min(chunkBytes, maxBytes + 1 - total)
  }
  if (chunks.length === 1) return chunks[0]!
  const bytes = new Uint8Array(total)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
}

/**
 * The bytes of a file and where it really is; nothing but that, if `isPlace` does not know the place. Throws a `Refusal`,
 * or what the disk throws.
 *
 * @internal
 */
export const read = async (
  { disk, folderOf, hasModes, uid }: Reading,
  { at, maxBytes, origin }: Wanted,
  isPlace: (real: string) => boolean
): Promise<ConfigFiles.Content | string> => {
  // Before it is opened, because a pipe would be waited for.
  checkFile(await disk.stat(at), maxBytes)
  const real = await disk.realpath(at)
  if (!isPlace(real)) return real
  const handle = await disk.open(at)
  try {
    // Once more, because only now nobody can put something else in its place.
    const stats = await handle.stat()
    checkFile(stats, maxBytes)
    if (isTrusted[origin] && hasModes) {
      checkOwner(stats, at, "it", uid)
      for (const folder of new Set([folderOf(at), folderOf(real)])) {
        checkOwner(await disk.stat(folder), folder, "its folder", uid)
      }
    }
    // What the kernel makes up has no size, and may have no end.
    const bytes = stats.size === 0 ? new Uint8Array() : await content(handle, stats.size, maxBytes)
    return { _tag: "Content", path: at, realPath: real, bytes }
  } finally {
    await handle.close()
  }
}
