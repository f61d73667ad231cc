/**
 * The MCP client runtime for Effect applications, one namespace per module. `effect-mcp-runtime/node/NodeConnector`,
 * which needs `@effect/platform-node`, and `effect-mcp-runtime/demo/DemoServer` are imported by their paths only.
 *
 * @since 0.1.0
 */

/**
 * What an application provides to be served as an agent: how it begins a conversation, and how it goes on.
 *
 * @since 0.1.0
 */
export * as Agent from "./server/Agent.ts"

/**
 * An application's agent as an MCP server with two tools: one begins a conversation, one goes on with it.
 *
 * @since 0.1.0
 */
export * as AgentServer from "./server/AgentServer.ts"

/**
 * What an agent gets of MCP beside the tools of servers: tools of our own to list and read resources and to read on in
 * long outputs, prompts as commands, and the servers' instructions.
 *
 * @since 0.1.0
 */
export * as AgentTools from "./agent/AgentTools.ts"

/**
 * The transports of an application, chosen by the `transport` field of a server's configuration.
 *
 * @since 0.1.0
 */
export * as AnyTransport from "./transport/AnyTransport.ts"

/**
 * Who is asked when a call needs the consent of a person.
 *
 * @since 0.1.0
 */
export * as Approval from "./safety/Approval.ts"

/**
 * When a model is given a search for tools instead of all their definitions, and how large a definition may be.
 *
 * @since 0.1.0
 */
export * as AutoSearch from "./tools/AutoSearch.ts"

/**
 * A wait with a limit that also holds in finalizers, where interruption is not allowed.
 *
 * @since 0.1.0
 */
export * as BoundedWait from "./resilience/BoundedWait.ts"

/**
 * Bounds the calls that a server executes at once, and the calls that wait for a permit.
 *
 * @since 0.1.0
 */
export * as Bulkhead from "./resilience/Bulkhead.ts"

/**
 * The manifest of a bundle (`manifest.json` in an `.mcpb` or `.dxt` file): one server that was installed with all it
 * needs.
 *
 * @since 0.1.0
 */
export * as Bundle from "./config/Bundle.ts"

/**
 * A span around an operation on a server, after OpenTelemetry's semantic conventions for MCP, and its W3C trace context
 * in the request's `_meta` (SEP-414), so that the server's spans become its children. Without a tracer it costs nothing.
 *
 * @since 0.1.0
 */
export * as CallSpan from "./observability/CallSpan.ts"

/**
 * Rejects calls to a server that keeps failing, and admits one probe after a while.
 *
 * @since 0.1.0
 */
export * as CircuitBreaker from "./resilience/CircuitBreaker.ts"

/**
 * Finds the servers that a person already has: where each comes from, what is wrong with the rest, and which of them
 * may be started.
 *
 * @since 0.1.0
 */
export * as ConfigDiscovery from "./config/ConfigDiscovery.ts"

/**
 * The text of a configuration file as data, with the places of its parts: JSON with comments, TOML and YAML in one
 * shape that no key of a file can pollute.
 *
 * @since 0.1.0
 */
export * as ConfigDocument from "./config/ConfigDocument.ts"

/**
 * One server as a file describes it, in one shape for all hosts. Its texts are templates in the canonical syntax of
 * `Interpolation`: nothing is resolved yet, so nothing in it is secret that was not written into the file.
 *
 * @since 0.1.0
 */
export * as ConfigEntry from "./config/ConfigEntry.ts"

/**
 * One file of a known host, from its bytes to its servers and what is wrong with them: what discovery reads files with,
 * and what tells the author of a file what it means.
 *
 * @since 0.1.0
 */
export * as ConfigFile from "./config/ConfigFile.ts"

/**
 * The files of configurations: read so that nothing in them and nothing about them can hold up or mislead who reads, and
 * watched.
 *
 * @since 0.1.0
 */
export * as ConfigFiles from "./config/ConfigFiles.ts"

/**
 * What is wrong with a configuration: a kind to decide on, a place, and a sentence that says what to do.
 *
 * @since 0.1.0
 */
export * as ConfigIssue from "./config/ConfigIssue.ts"

/**
 * All the servers of an application, each with one supervisor that connects, reconnects, idles and closes it.
 *
 * @since 0.1.0
 */
export * as ConnectionPool from "./runtime/ConnectionPool.ts"

/**
 * Opening a client: the port that connects, and the reading of a configuration's variables before each connect.
 *
 * @since 0.1.0
 */
export * as Connector from "./client/Connector.ts"

/**
 * What remote servers are shown of us: the headers of their configuration, or a login that is kept, renewed and asked a
 * person for.
 *
 * @since 0.1.0
 */
export * as Credentials from "./auth/Credentials.ts"

/**
 * The limits of one call, over everything it does: queueing, connecting, its attempts and the delays between them.
 *
 * @since 0.1.0
 */
export * as Deadline from "./resilience/Deadline.ts"

/**
 * How one host writes down its servers: where its files are and what their fields mean. A table for each host, and one
 * reader for all tables.
 *
 * @since 0.1.0
 */
export * as Dialect from "./config/Dialect.ts"

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
export * as EraMemory from "./client/EraMemory.ts"

/**
 * What the templates of one server may be resolved with. A configuration that has it is made of templates; one without
 * it, as code writes them, is made of plain texts.
 *
 * @since 0.1.0
 */
export * as Expansion from "./config/Expansion.ts"

/**
 * The identity of a configuration as a short text that gives nothing away: equal for equal servers, whatever the order
 * in which their fields and variables were written.
 *
 * @since 0.1.0
 */
export * as Fingerprint from "./config/Fingerprint.ts"

/**
 * How a token is come by: by a person who logs in, or by what a program holds.
 *
 * @since 0.1.0
 */
export * as Grant from "./auth/Grant.ts"

/**
 * What somebody has agreed to for longer than one call.
 *
 * @since 0.1.0
 */
export * as Grants from "./safety/Grants.ts"

/**
 * Probes idle connections.
 *
 * @since 0.1.0
 */
export * as HealthCheck from "./resilience/HealthCheck.ts"

/**
 * What hides in the text of a server: characters that a person does not see and a model reads.
 *
 * @since 0.1.0
 */
export * as HiddenText from "./safety/HiddenText.ts"

/**
 * What of the host process matters to the servers it starts: its platform, its user and its environment variables.
 *
 * @since 0.1.0
 */
export * as HostEnvironment from "./config/HostEnvironment.ts"

/**
 * The tools of an application together with those of MCP servers: its own are there at once, whatever the servers do.
 *
 * @since 0.1.0
 */
export * as HostTools from "./agent/HostTools.ts"

/**
 * Serves callers over Streamable HTTP, of either era, as an `HttpApp` that any server of @effect/platform can mount.
 *
 * @since 0.1.0
 */
export * as HttpEndpoint from "./server/HttpEndpoint.ts"

/**
 * Streamable HTTP, on node's own HTTP client: one POST per message, answers as JSON or as a stream of events, the
 * session and its stream of notifications in the session era, headers that mirror the message in the stateless one.
 *
 * @since 0.1.0
 */
export * as HttpTransport from "./transport/Http.ts"

/**
 * Looks for orders to a model in the text of a server. It labels and decides nothing: whoever means harm and tries long
 * enough finds words it does not know.
 *
 * @since 0.1.0
 */
export * as InjectionScan from "./safety/InjectionScan.ts"

/**
 * What a server may ask of the application: its roots, its user, its model. Nothing unless a Layer says so.
 *
 * @since 0.1.0
 */
export * as InputHandlers from "./client/InputHandlers.ts"

/**
 * The way to the person who logs in: where the page is shown, and how what it answers comes back.
 *
 * @since 0.1.0
 */
export * as Interaction from "./auth/Interaction.ts"

/**
 * Variables in configurations: every host's spelling is turned into one canonical template when a file is read, and
 * resolved when the server is connected, in one pass over the text, each time anew.
 *
 * @since 0.1.0
 */
export * as Interpolation from "./config/Interpolation.ts"

/**
 * The JSON-RPC 2.0 envelope, as plain data.
 *
 * @since 0.1.0
 */
export * as JsonRpc from "./transport/JsonRpc.ts"

/**
 * Judges values by JSON Schemas within a bounded number of steps, without fetching anything, running code made from a
 * schema, or holding the event loop.
 *
 * @since 0.1.0
 */
export * as JsonSchema from "./json/JsonSchema.ts"

/**
 * Every limit and duration in one place. Each can be set per server; a duration is a hard cap, not a hope.
 *
 * @since 0.1.0
 */
export * as Limits from "./config/Limits.ts"

/**
 * Everything that the application can do with one connected MCP server.
 *
 * @since 0.1.0
 */
export * as McpClient from "./client/McpClient.ts"

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
 * The gateway: all that the servers of a runtime offer, behind one server, for callers of either era.
 *
 * @since 0.1.0
 */
export * as McpServe from "./server/McpServe.ts"

/**
 * The port between what a server offers and the ways in which callers reach it: the same for both eras, for stdio and for
 * HTTP. What an offer gets is whole requests of known callers; framing, eras, cancellation and limits are below it.
 *
 * @since 0.1.0
 */
export * as McpServer from "./server/McpServer.ts"

/**
 * Many files as one list of servers: who owns a name, and whom that shadows. Pure, and the same whatever the order in
 * which the files were read.
 *
 * @since 0.1.0
 */
export * as Merge from "./config/Merge.ts"

/**
 * The format of our own files (`mcp-client.json`, `.jsonc` and `.toml`): what it is, for editors and for people, and how
 * servers are written in it.
 *
 * @since 0.1.0
 */
export * as NativeConfig from "./config/NativeConfig.ts"

/**
 * The default connector: speaks both eras by itself, over any transport.
 *
 * @since 0.1.0
 */
export * as NativeConnector from "./client/NativeConnector.ts"

/**
 * Names that nobody can guess: 128 random bits in hexadecimal.
 *
 * @since 0.1.0
 */
export * as Nonce from "./safety/Nonce.ts"

/**
 * What a model is given of a server's words: of bounded length, with nothing hidden in it, and marked as somebody else's.
 * It labels what reads like orders to the model, and holds nothing back for that.
 *
 * @since 0.1.0
 */
export * as OutputGuard from "./safety/OutputGuard.ts"

/**
 * Rules on what may be called: which tools, resources and prompts of which servers, with which arguments. Pure data, and
 * the decision over it.
 *
 * @since 0.1.0
 */
export * as PermissionRule from "./safety/PermissionRule.ts"

/**
 * Who may use what: the one place where it is decided, on every way to a server.
 *
 * @since 0.1.0
 */
export * as Permissions from "./safety/Permissions.ts"

/**
 * The constants of the protocol: versions by era, and the names of the stateless era's `_meta` keys.
 *
 * @since 0.1.0
 */
export * as Protocol from "./client/Protocol.ts"

/**
 * Which words of which file an entry was read from.
 *
 * @since 0.1.0
 */
export * as Provenance from "./config/Provenance.ts"

/**
 * When to connect again to a server that was lost or did not answer: a `Schedule` per server.
 *
 * @since 0.1.0
 */
export * as ReconnectPolicy from "./resilience/ReconnectPolicy.ts"

/**
 * Hides secrets in what is told: in errors, logs, spans, events and on terminals. What a server and an application tell
 * each other is left as it is.
 *
 * @since 0.1.0
 */
export * as Redaction from "./safety/Redaction.ts"

/**
 * The documents of the MCP registry (`server.json`): one server, and the ways in which it can be configured.
 *
 * @since 0.1.0
 */
export * as Registry from "./config/Registry.ts"

/**
 * The headers that a remote server wants beside those of the protocol: from its configuration, an environment variable
 * or a program, and, where a Layer says so, from a login.
 *
 * @since 0.1.0
 */
export * as RemoteHeaders from "./transport/RemoteHeaders.ts"

/**
 * Turns the templates of a configuration into what a connector takes, at each connect anew, so that what has changed in
 * the meantime is picked up and what was resolved is not kept.
 *
 * @since 0.1.0
 */
export * as Resolution from "./config/Resolution.ts"

/**
 * Which failed calls are sent again, and after which delay.
 *
 * @since 0.1.0
 */
export * as RetryPolicy from "./resilience/RetryPolicy.ts"

/**
 * Counts and durations of calls, and the state of servers, in Effect's metric registry.
 *
 * @since 0.1.0
 */
export * as RuntimeMetrics from "./observability/RuntimeMetrics.ts"

/**
 * Where a gateway has its runtimes from: one that all callers share for what there is, and one for each caller whose servers
 * may ask it something or remember what it did.
 *
 * @since 0.1.0
 */
export * as Runtimes from "./server/Runtimes.ts"

/**
 * Where a configuration comes from: how strong it is, and who could have written it.
 *
 * @since 0.1.0
 */
export * as Scope from "./config/Scope.ts"

/**
 * The connector over `@modelcontextprotocol/sdk` (1.x): the session era only, and the only one with its experimental
 * tasks. Loaded when the first server connects.
 *
 * @since 0.1.0
 */
export * as SdkConnector from "./client/SdkConnector.ts"

/**
 * Records in a trust store that nobody without the key can write: each is signed, with what it is and whose.
 *
 * @since 0.1.0
 */
export * as Sealed from "./config/Sealed.ts"

/**
 * What each conversation with a model has found among the tools, and so what it is offered.
 *
 * @since 0.1.0
 */
export * as SearchSession from "./tools/SearchSession.ts"

/**
 * The configuration of one server, tagged by its transport.
 *
 * @since 0.1.0
 */
export * as ServerConfig from "./config/ServerConfig.ts"

/**
 * Which servers may be used at all: lists of what is allowed and what is denied, by name, command or address.
 *
 * @since 0.1.0
 */
export * as ServerPolicy from "./config/ServerPolicy.ts"

/**
 * What a server is doing: a value for people and programs to look at, and the table of what may follow what.
 *
 * @since 0.1.0
 */
export * as ServerStatus from "./runtime/ServerStatus.ts"

/**
 * Skills that servers offer (SEP-2640): what there is, and the files of one that is loaded, each held to what its entry
 * said of it before. Nothing of a skill is read before somebody loads it.
 *
 * @since 0.1.0
 */
export * as Skills from "./agent/Skills.ts"

/**
 * What a model was not given of a long result, kept for a while to be read page by page. The text is the server's own
 * words: only what `OutputGuard` makes of a page is for a model.
 *
 * @since 0.1.0
 */
export * as Spill from "./safety/Spill.ts"

/**
 * The HTTP+SSE transport of 2024-11-05: one stream of events on which everything comes, and an endpoint, named in its
 * first event, to which everything is POSTed.
 *
 * @since 0.1.0
 */
export * as LegacySseTransport from "./transport/LegacySse.ts"

/**
 * The two pipes at which a program is served that has started this one: `NodeStdioLink.layer` has those of the process.
 *
 * @since 0.1.0
 */
export * as StdioLink from "./server/StdioLink.ts"

/**
 * Serves the program that has started this one, over its two pipes: callers of either era.
 *
 * @since 0.1.0
 */
export * as StdioServer from "./server/StdioServer.ts"

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
export * as Supervisor from "./runtime/Supervisor.ts"

/**
 * How servers are ended, and the record of how each one went.
 *
 * @since 0.1.0
 */
export * as Teardown from "./resilience/Teardown.ts"

/**
 * Where logins are kept: one secret text for each, and a turn for whoever wants to change it.
 *
 * @since 0.1.0
 */
export * as TokenStore from "./auth/TokenStore.ts"

/**
 * How many tokens a text is for a model: an estimate, or a count with a real vocabulary.
 *
 * @since 0.1.0
 */
export * as Tokens from "./safety/Tokens.ts"

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
 * The tools of all servers: what is known of them at once, what must be waited for, and what is not there and why.
 *
 * @since 0.1.0
 */
export * as ToolCatalog from "./tools/ToolCatalog.ts"

/**
 * Definitions of tools as the APIs of OpenAI and Anthropic take them, the calls in what these APIs answer, and the outputs
 * as they want them back. Pure functions over plain data; no package of theirs is needed.
 *
 * @since 0.1.0
 */
export * as ToolDefinitions from "./agent/ToolDefinitions.ts"

/**
 * Which tools of a server are offered at all: by their own names, with `*` for any text and `?` for one character.
 *
 * @since 0.1.0
 */
export * as ToolFilter from "./tools/ToolFilter.ts"

/**
 * Answers the tool calls of a model: what it may call, and for every call an output that it can go on with, whatever
 * became of the call.
 *
 * @since 0.1.0
 */
export * as ToolHandler from "./agent/ToolHandler.ts"

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
 * What each tool was when it was first seen. A server may be agreed to once and change what its tools say later: a tool
 * that is not what it was is set aside until somebody has looked at the difference, and the others are unharmed.
 *
 * It is not seen if a tool does something else and still says the same. Instructions, prompts and resources of a server
 * are not pinned.
 *
 * @since 0.1.0
 */
export * as ToolPins from "./tools/ToolPins.ts"

/**
 * The result of a tool call: decoded once, leniently, part by part. Unknown kinds of content are kept.
 *
 * @since 0.1.0
 */
export * as ToolResult from "./tools/ToolResult.ts"

/**
 * Finds tools for a task by what a person or a model says of it: words in any form, half a word, a slip of the hand.
 *
 * @since 0.1.0
 */
export * as ToolSearch from "./tools/ToolSearch.ts"

/**
 * One line of log for each transition of a server: failures as warnings, recoveries as information, the rest for
 * debugging. A line holds no text of a server and no payload.
 *
 * @since 0.1.0
 */
export * as TransitionLog from "./observability/TransitionLog.ts"

/**
 * The port between the connection and the ways to reach a server.
 *
 * @since 0.1.0
 */
export * as Transport from "./transport/Transport.ts"

/**
 * Which servers of a workspace may be started: those whose very words a person of this machine has agreed to.
 *
 * @since 0.1.0
 */
export * as Trust from "./config/Trust.ts"

/**
 * Where decisions about trust are kept: small texts by key, of which one can be made by whoever comes first.
 *
 * @since 0.1.0
 */
export * as TrustStore from "./config/TrustStore.ts"

/**
 * Text that a server chose, made safe to stand in an error, a log line or a terminal.
 *
 * @since 0.1.0
 */
export * as UntrustedText from "./text/UntrustedText.ts"

/**
 * What may be done with an address that a server has chosen: fetched, or shown in a browser. Pure; names are looked up and
 * their addresses checked again when they are dialled.
 *
 * @since 0.1.0
 */
export * as UrlGuard from "./auth/UrlGuard.ts"

/**
 * MCP over a WebSocket: one JSON message per text frame, subprotocol `mcp`.
 *
 * @since 0.1.0
 */
export * as WebSocketTransport from "./transport/WebSocket.ts"
