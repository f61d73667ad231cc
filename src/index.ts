/**
 * The public modules that need no optional package, one namespace each. The others are imported by their paths:
 * `effect-mcp-runtime/node/*`, `effect-mcp-runtime/testing`, and the adapters for agent libraries.
 */
/** Serves an agent as an MCP server. */
export * as AgentServer from "./server/AgentServer.ts"
/** Resources, prompts and instructions of servers for a model. */
export * as AgentTools from "./agent/AgentTools.ts"
/** Asks a person about one call. */
export * as Approval from "./safety/Approval.ts"
/** Stops calls to a server that keeps failing. */
export * as CircuitBreaker from "./resilience/CircuitBreaker.ts"
/** Finds the servers in configuration files. */
export * as ConfigDiscovery from "./config/ConfigDiscovery.ts"
/** The port that opens a connection to one server. */
export * as Connector from "./client/Connector.ts"
/** The logins of remote servers. */
export * as Credentials from "./auth/Credentials.ts"
/** Combines an application's own tools with those of servers. */
export * as HostTools from "./agent/HostTools.ts"
/** Serves an MCP server as an `HttpApp`. */
export * as HttpEndpoint from "./server/HttpEndpoint.ts"
/** Finds instructions to the model in tool output. */
export * as InjectionScan from "./safety/InjectionScan.ts"
/** Answers what servers ask: sampling, elicitation, roots. */
export * as InputHandlers from "./client/InputHandlers.ts"
/** Brings a person to a login page. */
export * as Interaction from "./auth/Interaction.ts"
/** Time and size limits with their defaults. */
export * as Limits from "./config/Limits.ts"
/** The protocol with one connected server. */
export * as McpClient from "./client/McpClient.ts"
/** Every error, with the fields that decide. */
export * as McpError from "./McpError.ts"
/** The events of a runtime. */
export * as McpEvent from "./McpEvent.ts"
/** The runtime: all configured servers behind one service. */
export * as McpRuntime from "./McpRuntime.ts"
/** Serves the tools of all servers of a runtime: the gateway. */
export * as McpServe from "./server/McpServe.ts"
/** Makes tool output safe for a model. */
export * as OutputGuard from "./safety/OutputGuard.ts"
/** Decides which calls are allowed, asked about or denied. */
export * as Permissions from "./safety/Permissions.ts"
/** When a lost server is connected again. */
export * as ReconnectPolicy from "./resilience/ReconnectPolicy.ts"
/** Removes secrets from text. */
export * as Redaction from "./safety/Redaction.ts"
/** The metrics of a runtime. */
export * as RuntimeMetrics from "./observability/RuntimeMetrics.ts"
/** The configuration of one server. */
export * as ServerConfig from "./config/ServerConfig.ts"
/** Reads the skills that servers offer. */
export * as Skills from "./agent/Skills.ts"
/** Stores long tool output outside of the context of a model. */
export * as Spill from "./safety/Spill.ts"
/** Serves an MCP server over stdio. */
export * as StdioServer from "./server/StdioServer.ts"
/** How connections and processes are ended. */
export * as Teardown from "./resilience/Teardown.ts"
/** Stores OAuth tokens. */
export * as TokenStore from "./auth/TokenStore.ts"
/** Counts tokens. */
export * as Tokens from "./safety/Tokens.ts"
/** Keeps tool lists between runs. */
export * as ToolCache from "./tools/ToolCache.ts"
/** Tool definitions in the formats of OpenAI and Anthropic. */
export * as ToolDefinitions from "./agent/ToolDefinitions.ts"
/** Calls tools for a model. */
export * as ToolHandler from "./agent/ToolHandler.ts"
/** Quarantines tools that changed since they were first seen. */
export * as ToolPins from "./tools/ToolPins.ts"
/** The result of a call. */
export * as ToolResult from "./tools/ToolResult.ts"
/** Searches tools by words. */
export * as ToolSearch from "./tools/ToolSearch.ts"
/** The port that carries messages to one server. */
export * as Transport from "./transport/Transport.ts"
/** Which found servers may start. */
export * as Trust from "./config/Trust.ts"
