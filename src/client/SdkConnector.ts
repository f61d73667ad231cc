/**
 * The connector over `@modelcontextprotocol/sdk` (1.x): the session era only, and the only one with its experimental
 * tasks. Loaded when the first server connects.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as Hold from "../internal/hold.ts"
import * as McpError from "../McpError.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import * as JsonRpc from "../transport/JsonRpc.ts"
import * as Connector from "./Connector.ts"
import type * as Adapter from "./internal/adapter.ts"
import * as Establish from "./internal/establish.ts"
import * as SdkClient from "./internal/sdkClient.ts"
import type * as McpClient from "./McpClient.ts"

const load: Effect.Effect<Adapter.Loaded> = Effect.map(
  Effect.promise(() =>
    Promise.all([
      import("@modelcontextprotocol/sdk/client/index.js"),
      import("@modelcontextprotocol/sdk/types.js")
    ])
  ),
  ([{ Client }, Types]): Adapter.Loaded => {
    const schemas = {
      "roots/list": Types.ListRootsRequestSchema,
      "elicitation/create": Types.ElicitRequestSchema,
      "sampling/createMessage": Types.CreateMessageRequestSchema
    }
    return {
      handshake: (host) =>
        Effect.gen(function*() {
          const client = new Client(host.clientInfo, {
            // the cast: capabilities are the application's words, of any version
            capabilities: host.capabilities as never,
            jsonSchemaValidator: SdkClient.noValidator
          })
          yield* SdkClient.closing(client)
          for (const method of host.methods) {
            // the cast: the SDK checks the answer against its own type when it is there
            client.setRequestHandler(schemas[method], (request, extra) =>
              host.asked(method, SdkClient.paramsOf(request), extra.signal) as never)
          }
          yield* SdkClient.attempt(() =>
            client.connect(host.transport as never, { timeout: SdkClient.never })
          )
          return {
            tasks: {
              callTool: (params, options) =>
                followed(host.server, (signal) =>
                  client.experimental.tasks.callToolStream(
                    { ...params, name: String(params["name"]) },
                    Types.CallToolResultSchema,
                    {
                      task: {},
                      signal,
                      timeout: SdkClient.never,
                      ...(options?.onProgress === undefined ? {} : { onprogress: options.onProgress })
                    }
                  ))
            }
          }
        })
    }
  }
)

/** What the SDK says of a task, of which only these parts are read. */
type Said =
  | { readonly type: "taskCreated" | "taskStatus"; readonly task: Task }
  | { readonly type: "result"; readonly result: unknown }
  | { readonly type: "error"; readonly error: unknown }

interface Task {
  readonly taskId: string
  readonly status: string
  readonly statusMessage?: string | undefined
}

const followed = (
  server: string,
  start: (signal: AbortSignal) => AsyncGenerator<Said>
): Stream.Stream<McpClient.TaskUpdate, McpError.CallError> =>
  Stream.unwrapScoped(
    Effect.map(
      Hold.make(() => new AbortController(), (controller) => controller.abort()),
      (controller) => {
        let created = false
        const failed = (cause: unknown): McpError.CallError => {
          const error = failure(server, cause)
          // what cannot be asked about a task any more has been McpError.partlySent all the same
          return created ? McpError.partlySent(error) : error
        }
        return Stream.mapEffect(
          Stream.fromAsyncIterable(start(controller.signal), failed),
          (said): Effect.Effect<McpClient.TaskUpdate, McpError.CallError> => {
            switch (said.type) {
              case "taskCreated":
                created = true
                return Effect.succeed({ _tag: "Created", taskId: said.task.taskId, status: said.task.status })
              case "taskStatus":
                return Effect.succeed({
                  _tag: "Status",
                  taskId: said.task.taskId,
                  status: said.task.status,
                  message: said.task.statusMessage
                })
              case "result":
                return Effect.succeed({
                  _tag: "Result",
                  result: JsonRpc.isObject(said.result) ? said.result as JsonRpc.JsonObject : {}
                })
              case "error":
                return Effect.fail(failed(said.error))
            }
          }
        )
      }
    )
  )

const failure = (server: string, cause: unknown): McpError.CallError =>
  SdkClient.carried(cause) ?? new McpError.ProtocolViolation({
    server,
    what: "a task could not be followed",
    excerpt: UntrustedText.excerpt(cause instanceof Error ? cause.message : String(cause)),
    outcome: "unknown",
    phase: "ready"
  })

/**
 * @since 0.1.0
 * @category constructors
 */
export const make: Effect.Effect<Connector.Connector["Type"], never, Establish.Services> = Establish.make({
  stateless: false,
  load
})

/**
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<Connector.Connector, never, Establish.Services> = Layer.effect(
  Connector.Connector,
  make
)
