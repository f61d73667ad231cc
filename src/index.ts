/**
 * The MCP client runtime for Effect applications, one namespace per module. `effect-mcp-runtime/node/NodeConnector`,
 * which needs `@effect/platform-node`, and `effect-mcp-runtime/demo/DemoServer` are imported by their paths only.
 *
 * @since 0.1.0
 */

/**
 * The transports of an application, chosen by the `transport` field of a server's configuration.
 *
 * @since 0.1.0
 */
export * as AnyTransport from "./transport/AnyTransport.ts"

/**
 * Waiting with a limit that also holds where nothing may be interrupted: in finalizers.
 *
 * @since 0.1.0
 */
export * as BoundedWait from "./resilience/BoundedWait.ts"

/**
 * How many calls a server has to bear at once, and how many may wait for their turn.
 *
 * @since 0.1.0
 */
export * as Bulkhead from "./resilience/Bulkhead.ts"

/**
 * Which calls that failed are made once more, and when.
 *
 * @since 0.1.0
 */
export * as CallPolicy from "./resilience/CallPolicy.ts"

/**
 * A span around an operation on a server, after OpenTelemetry's semantic conventions for MCP, and its W3C trace context
 * in the request's `_meta` (SEP-414), so that the server's spans become its children. Without a tracer it costs nothing.
 *
 * @since 0.1.0
 */
export * as CallSpan from "./observability/CallSpan.ts"

/**
 * Stops asking a server that keeps failing, and asks again with one call after a while.
 *
 * @since 0.1.0
 */
export * as CircuitBreaker from "./resilience/CircuitBreaker.ts"

/**
 * The default connector: reaches servers of both eras. Handshakes of the session era, and what a server asks in it,
 * go through the client of `@modelcontextprotocol/client` (2.x), loaded when the first server connects; the stateless
 * era has neither, so there it stays unloaded work.
 *
 * @since 0.1.0
 */
export * as ClientConnector from "./connection/ClientConnector.ts"

/**
 * All the servers of an application, each with one supervisor that connects, reconnects, idles and closes it.
 *
 * @since 0.1.0
 */
export * as ConnectionPool from "./connection/ConnectionPool.ts"

/**
 * The port to a connected server, free of any SDK: requests, notifications, health, the end.
 *
 * @since 0.1.0
 */
export * as Connector from "./connection/Connector.ts"

/**
 * The time that one call has, over everything it does: waiting for a connection, its attempts, the pauses between them.
 *
 * @since 0.1.0
 */
export * as Deadline from "./resilience/Deadline.ts"

/**
 * Docker's MCP gateway as a server: looked for before each start, started as a child process, ended like one.
 *
 * @since 0.1.0
 */
export * as DockerGateway from "./transport/DockerGateway.ts"

/**
 * What is remembered of how servers speak, so that the next connection need not ask again.
 *
 * @since 0.1.0
 */
export * as EraMemory from "./connection/EraMemory.ts"

/**
 * The identity of a configuration as a short text that gives nothing away: equal for equal servers, whatever the order
 * in which their fields and variables were written.
 *
 * @since 0.1.0
 */
export * as Fingerprint from "./config/Fingerprint.ts"

/**
 * Asks connections that nobody uses whether their servers are still there.
 *
 * @since 0.1.0
 */
export * as HealthCheck from "./resilience/HealthCheck.ts"

/**
 * What of the host process matters to the servers it starts: its platform and its environment variables.
 *
 * @since 0.1.0
 */
export * as HostEnvironment from "./transport/HostEnvironment.ts"

/**
 * Streamable HTTP, on node's own HTTP client: one POST per message, answers as JSON or as a stream of events, the
 * session and its stream of notifications in the session era, headers that mirror the message in the stateless one.
 *
 * @since 0.1.0
 */
export * as HttpTransport from "./transport/HttpTransport.ts"

/**
 * What a server may ask of the application: its roots, its user, its model. Nothing unless a Layer says so.
 *
 * @since 0.1.0
 */
export * as InputHandlers from "./connection/InputHandlers.ts"

/**
 * The JSON-RPC 2.0 envelope, as plain data.
 *
 * @since 0.1.0
 */
export * as JsonRpc from "./transport/JsonRpc.ts"

/**
 * Every limit and duration in one place. Each can be set per server; a duration is a hard cap, not a hope.
 *
 * @since 0.1.0
 */
export * as Limits from "./config/Limits.ts"

/**
 * The error taxonomy: one tag per thing a caller may decide on, with the facets that decide.
 *
 * @since 0.1.0
 */
export * as McpError from "./McpError.ts"

/**
 * What happens to servers and calls, as data, and the bus that carries it.
 *
 * @since 0.1.0
 */
export * as McpEvent from "./McpEvent.ts"

/**
 * All the MCP servers of an application behind one service: they start, fail, recover, idle and stop on their own.
 *
 * @since 0.1.0
 */
export * as McpRuntime from "./McpRuntime.ts"

/**
 * A small but honest MCP server in memory, written as data: tools, resources, prompts, in either era of the protocol.
 *
 * @since 0.1.0
 */
export * as MemoryServer from "./transport/MemoryServer.ts"

/**
 * A transport to a peer in the same process, with faults: for tests of this package and of what is built on it.
 *
 * @since 0.1.0
 */
export * as MemoryTransport from "./transport/MemoryTransport.ts"

/**
 * Judges structured results by the output schema that a tool declares, without ever fetching anything, running code
 * made from the schema, or holding the event loop.
 *
 * @since 0.1.0
 */
export * as OutputSchema from "./tools/OutputSchema.ts"

/**
 * The constants of the protocol: versions by era, and the names of the stateless era's `_meta` keys.
 *
 * @since 0.1.0
 */
export * as Protocol from "./connection/Protocol.ts"

/**
 * When to connect again to a server that was lost or did not answer: a `Schedule` as a value, per server.
 *
 * @since 0.1.0
 */
export * as ReconnectPolicy from "./resilience/ReconnectPolicy.ts"

/**
 * The headers that a remote server wants beside those of the protocol: from its configuration, an environment variable
 * or a program, and, where a Layer says so, from a login.
 *
 * @since 0.1.0
 */
export * as RemoteHeaders from "./transport/RemoteHeaders.ts"

/**
 * Counts and durations of calls, and the state of servers, in Effect's metric registry.
 *
 * @since 0.1.0
 */
export * as RuntimeMetrics from "./observability/RuntimeMetrics.ts"

/**
 * The connector over `@modelcontextprotocol/sdk` (1.x): the session era only, and the only one with its experimental
 * tasks. Loaded when the first server connects.
 *
 * @since 0.1.0
 */
export * as SdkConnector from "./connection/SdkConnector.ts"

/**
 * The configuration of one server, tagged by its transport.
 *
 * @since 0.1.0
 */
export * as ServerConfig from "./config/ServerConfig.ts"

/**
 * What a server is doing: a value for people and programs to look at, and the table of what may follow what.
 *
 * @since 0.1.0
 */
export * as ServerStatus from "./connection/ServerStatus.ts"

/**
 * The whole protocol with one server, typed and lazy: nothing is listed before somebody asks.
 *
 * @since 0.1.0
 */
export * as Session from "./connection/Session.ts"

/**
 * The HTTP+SSE transport of 2024-11-05: one stream of events on which everything comes, and an endpoint, named in its
 * first event, to which everything is POSTed.
 *
 * @since 0.1.0
 */
export * as SseTransport from "./transport/SseTransport.ts"

/**
 * A server as a child process: messages are lines on its stdin and stdout.
 *
 * @since 0.1.0
 */
export * as StdioTransport from "./transport/StdioTransport.ts"

/**
 * Keeps one server connected for as long as it is wanted: a loop that connects, watches, waits and tries again, one
 * connection at a time.
 *
 * @since 0.1.0
 */
export * as Supervisor from "./connection/Supervisor.ts"

/**
 * How servers are ended, and the record of how each one went.
 *
 * @since 0.1.0
 */
export * as Teardown from "./resilience/Teardown.ts"

/**
 * A tool as its server declares it, decoded leniently and one by one.
 *
 * @since 0.1.0
 */
export * as Tool from "./tools/Tool.ts"

/**
 * What is known of each server's tools: in memory, and between runs where the application wants it.
 *
 * @since 0.1.0
 */
export * as ToolCache from "./tools/ToolCache.ts"

/**
 * Which tools of a server are offered at all: by their own names, with `*` for any text and `?` for one character.
 *
 * @since 0.1.0
 */
export * as ToolFilter from "./tools/ToolFilter.ts"

/**
 * The tools of all servers: what is known of them at once, what must be waited for, and what is not there and why.
 *
 * @since 0.1.0
 */
export * as ToolCatalog from "./tools/ToolCatalog.ts"

/**
 * All tools of all servers under names that a model can use: pure data, made anew whenever something changes.
 *
 * @since 0.1.0
 */
export * as ToolIndex from "./tools/ToolIndex.ts"

/**
 * Names of tools that models accept: qualified by the server, of few characters, short, and never two for one.
 *
 * @since 0.1.0
 */
export * as ToolName from "./tools/ToolName.ts"

/**
 * The result of a tool call: decoded once, leniently, part by part. Unknown kinds of content are kept.
 *
 * @since 0.1.0
 */
export * as ToolResult from "./tools/ToolResult.ts"

/**
 * The port between the connection and the ways to reach a server.
 *
 * @since 0.1.0
 */
export * as Transport from "./transport/Transport.ts"

/**
 * One line of log for each transition of a server: failures as warnings, recoveries as information, the rest for
 * debugging. A line holds no text of a server and no payload.
 *
 * @since 0.1.0
 */
export * as TransitionLog from "./observability/TransitionLog.ts"

/**
 * Text that a server chose, made safe to stand in an error, a log line or a terminal.
 *
 * @since 0.1.0
 */
export * as UntrustedText from "./UntrustedText.ts"

/**
 * MCP over a WebSocket: one JSON message per text frame, subprotocol `mcp`.
 *
 * @since 0.1.0
 */
export * as WebSocketTransport from "./transport/WebSocketTransport.ts"
