/**
 * The client that the official suite runs: an application of `McpRuntime` in which a person agrees to everything. Like
 * an agent, it lists tools and calls them, with arguments from their schemas.
 */
import { follow } from "./follow.mjs"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Skills from "effect-mcp-runtime/agent/Skills"
import * as Interaction from "effect-mcp-runtime/auth/Interaction"
import * as ServerConfig from "effect-mcp-runtime/config/ServerConfig"
import * as InputHandlers from "effect-mcp-runtime/client/InputHandlers"
import * as McpError from "effect-mcp-runtime/McpError"
import * as McpRuntime from "effect-mcp-runtime/McpRuntime"
import * as NodeMcpRuntime from "effect-mcp-runtime/node/NodeMcpRuntime"

const server = "suite"
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? ""
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}")
const url = process.argv.at(-1)

const person = InputHandlers.layer({
  roots: () => Effect.succeed([{ uri: "file:///tmp" }]),
  elicit: () => Effect.succeed({ action: "accept", content: {} }),
  sample: () => Effect.succeed({ role: "assistant", model: "none", content: { type: "text", text: "well" } })
})

const redirectUri = "http://127.0.0.1:8765/callback"

const browser = Layer.succeed(Interaction.Interaction, {
  open: () =>
    Effect.succeed({
      redirectUri,
      ask: (page) =>
        Effect.mapError(
          Effect.map(Effect.tryPromise(() => follow(page, redirectUri)), (came) => ({
            code: came.get("code") ?? undefined,
            iss: came.get("iss") ?? undefined,
            error: came.get("error") ?? undefined,
            errorDescription: came.get("error_description") ?? undefined
          })),
          (error) => new McpError.AuthorizationFailed({ server, reason: "cancelled", detail: String(error) })
        )
    })
})

/**
 * The issuer that an operator configures beside a secret. Most scenarios do not contain it, so it is looked up before the
 * client that is tested exists.
 */
const issuerOf = async () => {
  if (context.issuer !== undefined) return context.issuer
  const { origin, pathname } = new URL(url)
  for (const path of [pathname, ""]) {
    const response = await fetch(`${origin}/.well-known/oauth-protected-resource${path}`)
    if (response.ok) return (await response.json()).authorization_servers[0]
  }
  throw new Error("the scenario names no authorization server")
}

/** Programs that log in by themselves, as the scenarios of the suite's extensions want it. */
const grants = async () => {
  const { client_id: clientId, client_secret } = context
  const secret = client_secret === undefined ? undefined : Redacted.make(client_secret)
  switch (scenario) {
    case "auth/client-credentials-basic":
      return { [server]: { _tag: "ClientCredentials", issuer: await issuerOf(), clientId, secret } }
    case "auth/client-credentials-jwt":
      return {
        [server]: {
          _tag: "ClientCredentials",
          issuer: await issuerOf(),
          clientId,
          privateKey: Redacted.make(context.private_key_pem),
          algorithm: context.signing_algorithm
        }
      }
    case "auth/wif-jwt-bearer":
      return {
        [server]: {
          _tag: "JwtBearer",
          issuer: await issuerOf(),
          clientId,
          assertion: Effect.succeed(Redacted.make(context.valid_jwt))
        }
      }
    case "auth/enterprise-managed-authorization":
    case "auth/cross-app-access-complete-flow":
      return {
        [server]: {
          _tag: "EnterpriseManaged",
          issuer: await issuerOf(),
          clientId,
          clientSecret: secret,
          idToken: Effect.succeed(Redacted.make(context.idp_id_token)),
          provider: { tokenEndpoint: context.idp_token_endpoint, clientId: context.idp_client_id }
        }
      }
    default:
      return {}
  }
}

/** What a person would write into the configuration for this server. */
const oauth = async () => {
  if (scenario === "auth/pre-registration") {
    return {
      clientId: context.client_id,
      clientSecret: Redacted.make(context.client_secret),
      issuer: await issuerOf()
    }
  }
  return scenario.startsWith("auth/2025-03-26") ? { legacy: true } : {}
}

/** What an agent might say to a parameter of this kind. */
const valueOf = (schema) => {
  if (schema?.default !== undefined) return schema.default
  if (Array.isArray(schema?.enum)) return schema.enum[0]
  switch (schema?.type) {
    case "number":
    case "integer":
      return 5
    case "boolean":
      return true
    case "array":
      return []
    case "object":
      return {}
    default:
      return "text"
  }
}

const argumentsOf = ({ inputSchema }) =>
  Object.fromEntries(Object.entries(inputSchema.properties ?? {}).map(([key, schema]) => [key, valueOf(schema)]))

const wantsLogin = ({ _tag, reason }) =>
  (_tag === "AuthorizationFailed" && reason === "unauthorized") || (_tag === "HttpError" && reason === "forbidden")

const program = Effect.gen(function*() {
  const runtime = yield* McpRuntime.McpRuntime
  yield* Effect.catchIf(runtime.servers.connect(server), wantsLogin, () => runtime.servers.login(server))
  // a server of the session era may accept the handshake, and require a login for a later request
  const list = runtime.refreshTools(server)
  const { tools } = yield* Effect.catchIf(list, wantsLogin, () => Effect.zipRight(runtime.servers.login(server), list))
  const echo = tools.find(({ tool }) => tool.name === "json_schema_echo")
  const calls = context.toolCalls ?? tools.map(({ tool }) => ({
    name: tool.name,
    // what the suite asks of it is to say the schema of the other tool as it was heard
    arguments: tool === echo?.tool ? { schema: tools.find((other) => other !== echo).tool.inputSchema } : argumentsOf(tool)
  }))
  // listing reads no skill; loading one reads its files, and uses none that is not what was listed
  for (const skill of yield* Skills.list(runtime, server)) {
    if (scenario === "sep-2640-client-no-prefetch") continue
    console.log(skill.name, yield* Skills.load(runtime, skill))
    for (const { uri } of skill.files) yield* Skills.file(runtime, skill, uri)
  }
  for (const call of calls) {
    const answer = yield* runtime.callTool({ server, tool: call.name }, call.arguments)
    console.log(call.name, JSON.stringify(answer.content))
  }
})

const layer = NodeMcpRuntime.layer({
  servers: [ServerConfig.http({ name: server, url, lazy: true, oauth: await oauth() })],
  cacheDirectory: "memory",
  auth: {
    login: "calls",
    grants: await grants(),
    clientMetadataUrl: "https://conformance-test.local/client-metadata.json"
  }
}).pipe(NodeMcpRuntime.using(Layer.merge(person, browser)))

const exit = await Effect.runPromiseExit(Effect.provide(program, layer))
if (exit._tag === "Failure") {
  console.error(scenario, String(exit.cause))
  process.exitCode = 1
}
