/**
 * The official suite imports `globSync` from `fs`, which Node 20 does not have; it is used for nothing that runs here.
 * Loaded by `node --import`.
 */
import { register } from "node:module"

const fs = `data:text/javascript,${encodeURIComponent(`
export * from "node:fs"
export { default } from "node:fs"
export const globSync = () => { throw new Error("globSync needs Node 22") }
`)}`

register(`data:text/javascript,${encodeURIComponent(`
export const resolve = (name, context, next) =>
  name === "fs" && /conformance[^/]*\\/dist\\/index\\.js$/.test(context.parentURL ?? "")
    ? { url: ${JSON.stringify(fs)}, shortCircuit: true }
    : next(name, context)
`)}`)
