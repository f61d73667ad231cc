#!/usr/bin/env node
// Runs the bundle beside it. What V8 has compiled of it is kept between runs in the folder for caches of the user, for
// this very bundle and this very Node: compiling is half of the time that a command takes. Without such a folder, or if
// anything about it is not as it should be, everything works as well, and takes longer.
"use strict"
const fs = require("node:fs")
const path = require("node:path")
const v8 = require("node:v8")
const vm = require("node:vm")

const file = path.join(__dirname, "mcp-runtime.bundle.cjs")

/** Commands that end well only if a server has answered: what they compile is all that others need who ask servers. */
const asking = ["call", "prompt", "read", "show", "smoke"]
const looking = ["doctor", "events", "list", "prompts", "repl", "resources", "serve", "status", "tools"]

/** The kinds of compiled code to read, best first; the last one is written if none exists. */
const kinds = () => {
  const words = new Set(process.argv.slice(2))
  if (words.has("--help") || words.has("-h")) return ["help"]
  if (asking.some((word) => words.has(word))) return ["call"]
  return looking.some((word) => words.has(word)) ? ["call", "list"] : ["help"]
}

const parent = () => {
  const { HOME, LOCALAPPDATA, XDG_CACHE_HOME } = process.env
  const folder = process.platform === "win32"
    ? LOCALAPPDATA
    : XDG_CACHE_HOME || (HOME && path.join(HOME, process.platform === "darwin" ? "Library/Caches" : ".cache"))
  return folder && path.isAbsolute(folder) ? path.join(folder, "mcp-runtime", "compiled") : undefined
}

/** True for a file of this user that no other user can write to. */
const isOwn = (at) => {
  const { mode, uid } = fs.lstatSync(at)
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0 && (mode & 0o170000) !== 0o120000)
}

const folder = parent()
// the tag covers the version of V8, its flags and the processor
const places = folder ? kinds().map((kind) => path.join(folder, `BUILD_ID-${v8.cachedDataVersionTag()}-${kind}`)) : []

const read = () => {
  for (const kept of places) {
    try {
      if (isOwn(folder) && isOwn(kept)) return fs.readFileSync(kept)
    } catch {
      // none is stored
    }
  }
}

/** What other versions of Node or of this program may still use. */
const others = 6

/** Whole or not at all; of older ones, few are left. */
const write = (script) => {
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
    if (!isOwn(folder)) return
    const mine = path.join(folder, `${process.pid}.new`)
    fs.writeFileSync(mine, script.createCachedData(), { mode: 0o600, flag: "wx" })
    fs.renameSync(mine, places.at(-1))
    const age = (file) => fs.lstatSync(path.join(folder, file)).mtimeMs
    const old = fs.readdirSync(folder).filter((file) => !file.startsWith("BUILD_ID")).toSorted((a, b) => age(b) - age(a))
    for (const file of old.slice(others)) fs.rmSync(path.join(folder, file), { force: true })
  } catch {
    // it is compiled again next time
  }
}

const cachedData = read()
// the bundle has no other characters
const script = new vm.Script(fs.readFileSync(file, "latin1"), { filename: file, cachedData })
if (folder && (cachedData === undefined || script.cachedDataRejected)) {
  process.on("exit", (code) => code === 0 && write(script))
}
// effect looks at a stack while it is loaded, for whose lines all of the bundle is read again; without one it takes the
// other of two ways that do the same
const { stackTraceLimit } = Error
Error.stackTraceLimit = 0
script.runInThisContext()(require, file)
Error.stackTraceLimit = stackTraceLimit
