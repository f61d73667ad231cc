/**
 * The application that the official suite's server scenarios expect, as a real server in both eras of the protocol:
 * `node conformance/reference.mjs` over stdio, `node conformance/reference.mjs --http 0` over Streamable HTTP on the
 * loopback, which prints its url when it is ready.
 */
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import { parseArgs } from "node:util"
import { makeChanges } from "./reference/changes.mjs"
import { listen } from "./reference/http.mjs"
import { makeServers } from "./reference/servers.mjs"

const { values } = parseArgs({ options: { http: { type: "string" } } })
const changes = makeChanges()

const started = async () => {
  if (values.http === undefined) return serveStdio(makeServers(changes))
  const port = Number(values.http)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error(`not a port: ${values.http}`)
  const listening = await listen(port, changes)
  console.log(listening.url)
  return listening
}

const server = await started()

/** An open peer must not keep the process alive after a signal. */
const longest = 2000
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    setTimeout(() => process.exit(1), longest).unref()
    void server.close().finally(() => process.exit(0))
  })
}
