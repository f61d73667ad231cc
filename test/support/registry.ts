/** A registry on this machine, over HTTP. */
import { Effect } from "effect"
import { createServer, type OutgoingHttpHeaders } from "node:http"

export const weather = {
  server: {
    name: "io.github.acme/weather",
    description: "Tells the weather",
    version: "1.2.0",
    packages: [
      {
        registryType: "npm",
        identifier: "@acme/weather",
        version: "1.2.0",
        transport: { type: "stdio" },
        environmentVariables: [
          { name: "KEY", description: "The key", isRequired: true, isSecret: true },
          { name: "LOG_FILE", description: "Where to log" }
        ]
      },
      { registryType: "mcpb", identifier: "https://acme.example/weather.mcpb" }
    ],
    remotes: [{
      type: "streamable-http",
      url: "https://weather.example/mcp",
      headers: [{ name: "X-Client", value: "us" }]
    }]
  }
}

interface Answer {
  readonly status?: number
  readonly headers?: OutgoingHttpHeaders
  readonly body?: unknown
  readonly text?: string
}

/** Its address. Without an answer to a path it never answers. */
export const registry = (answer: (path: string) => Answer | undefined = () => ({ body: weather })) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.async<ReturnType<typeof createServer>>((resume) => {
        const server = createServer((request, response) => {
          const given = answer(request.url ?? "")
          if (given === undefined) return
          response.writeHead(given.status ?? 200, { "content-type": "application/json", ...given.headers })
          response.end(given.text ?? JSON.stringify(given.body))
        })
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) => Effect.sync(() => (server.closeAllConnections(), server.close()))
    ),
    (server) => {
      const address = server.address()
      return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`
    }
  )
