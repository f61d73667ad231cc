/**
 * The servers of one `.mcp.json`-shaped file, as the demo needs them: one file, no scopes, no expansion.
 *
 * @since 0.1.0
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as JsonRpc from "../transport/JsonRpc.ts"

// The servers stay as JSON.parse made them: their names are foreign keys, and a copy could lose `__proto__`.
const File = Schema.parseJson(
  Schema.Struct({
    mcpServers: Schema.Unknown.pipe(Schema.filter(JsonRpc.isObject, { message: () => "not an object" }))
  })
)

const transports: ReadonlyMap<unknown, ServerConfig.ServerConfig["transport"]> = new Map([
  ["stdio", "stdio"],
  ["http", "streamable-http"],
  ["streamable-http", "streamable-http"],
  ["sse", "sse"],
  ["ws", "ws"]
])

/**
 * Reads the file. Relative folders, and a server's own, are taken from the folder of the file.
 *
 * @since 0.1.0
 * @category constructors
 */
export const read = Effect.fn("DemoConfig.read")(function*(file: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const invalid = (detail: string) => new McpError.ConfigurationError({ server: "(file)", path: file, detail })
  const text = yield* Effect.mapError(fs.readFileString(file), (error) => invalid(error.message))
  const { mcpServers } = yield* Effect.mapError(
    Schema.decode(File)(text),
    (error) => invalid(`not a file of servers: ${error.message}`)
  )
  return yield* Effect.forEach(Object.entries(mcpServers as object), ([name, entry]: [string, unknown]) => {
    if (!JsonRpc.isObject(entry)) return invalid(`the entry ${JSON.stringify(name)} is not an object`)
    const type = entry["type"] ?? ("url" in entry ? "http" : "stdio")
    const cwd = path.resolve(path.dirname(file), typeof entry["cwd"] === "string" ? entry["cwd"] : ".")
    return ServerConfig.decode({ ...entry, name, cwd, transport: transports.get(type) ?? type })
  })
})
