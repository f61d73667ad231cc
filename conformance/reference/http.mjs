/** Streamable HTTP for both eras at one url: sessions up to 2025-11-25, and a server for each request from 2026-07-28 on. */
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  isLegacyRequest,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
  WebStandardStreamableHTTPServerTransport
} from "@modelcontextprotocol/server"
import { randomUUID } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:http"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { makeEventLog } from "./eventLog.mjs"
import { makeServers } from "./servers.mjs"

const path = "/mcp"

/** Clients leave sessions behind: the one that began first makes room. */
const mostSessions = 200

/** How long a client waits before it takes up a stream again. */
const retryInterval = 100

const refusal = (status, message) =>
  Response.json({ jsonrpc: "2.0", error: { code: -32_000, message }, id: null }, { status })

const makeSessions = (servers) => {
  const sessions = new Map()

  const begin = async (request) => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: makeEventLog(),
      retryInterval,
      onsessioninitialized: (id) => {
        const [eldest] = sessions
        if (sessions.size >= mostSessions) {
          sessions.delete(eldest[0])
          void eldest[1].close()
        }
        sessions.set(id, transport)
      },
      onsessionclosed: (id) => void sessions.delete(id)
    })
    await servers({ era: "legacy" }).connect(transport)
    const response = await transport.handleRequest(request)
    // a request without a session that is not a handshake is refused
    if (transport.sessionId === undefined) await transport.close()
    return response
  }

  return {
    fetch: async (request) => {
      const id = request.headers.get("mcp-session-id")
      if (id === null) return begin(request)
      return sessions.get(id)?.handleRequest(request) ?? refusal(404, "Session not found")
    },
    close: () => Promise.all(Array.from(sessions.values(), (transport) => transport.close()))
  }
}

const headersOf = ({ rawHeaders }) => {
  const headers = new Headers()
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at], rawHeaders[at + 1])
  return headers
}

/** Carries an exchange between node's server and a handler of web requests. */
const carry = (handle) => async (incoming, outgoing) => {
  const gone = new AbortController()
  outgoing.on("close", () => gone.abort())
  const hasBody = incoming.method !== "GET" && incoming.method !== "HEAD"
  const response = await handle(
    new Request(new URL(incoming.url, "http://localhost"), {
      method: incoming.method,
      headers: headersOf(incoming),
      signal: gone.signal,
      ...(hasBody ? { body: Readable.toWeb(incoming), duplex: "half" } : {})
    })
  )
  outgoing.writeHead(response.status, Object.fromEntries(response.headers))
  if (response.body === null) return void outgoing.end()
  // a stream may be silent for a while after it was opened
  outgoing.flushHeaders()
  await pipeline(Readable.fromWeb(response.body), outgoing)
}

/** Serves on the loopback; port 0 is any that is free. */
export const listen = async (port, changes) => {
  const servers = makeServers(changes)
  const stateless = createMcpHandler(servers, { legacy: "reject" })
  const sessions = makeSessions(servers)
  const stop = changes.listen({
    tools: () => stateless.notify.toolsChanged(),
    prompts: () => stateless.notify.promptsChanged(),
    resource: (uri) => stateless.notify.resourceUpdated(uri)
  })

  const handle = async (request) => {
    // nothing else stands before a server on the loopback, whose names any page of a browser may claim
    const foreign = hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
      originValidationResponse(request, localhostAllowedOrigins())
    if (foreign !== undefined) return foreign
    if (new URL(request.url).pathname !== path) return refusal(404, `Only ${path} is served`)
    return await isLegacyRequest(request) ? sessions.fetch(request) : stateless.fetch(request)
  }
  const carried = carry(handle)
  // a client that leaves while it is read or answered is no failure
  const server = createServer((incoming, outgoing) => void carried(incoming, outgoing).catch(() => outgoing.destroy()))
  server.listen(port, "127.0.0.1")
  await once(server, "listening")

  return {
    url: `http://127.0.0.1:${server.address().port}${path}`,
    close: async () => {
      stop()
      await Promise.all([stateless.close(), sessions.close()])
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  }
}
