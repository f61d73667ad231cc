/**
 * Why a server on the network is not there: its address, its credentials, its certificate, or the server itself.
 *
 * @internal
 */
import type * as ServerConfig from "../../config/ServerConfig.ts"
import * as ErrorAdvice from "../../errorAdvice.ts"
import type * as McpError from "../../McpError.ts"
import * as UntrustedText from "../../text/UntrustedText.ts"
import type { Cause, Facts } from "./doctorFacts.ts"

const isRemote = (config: ServerConfig.ServerConfig): config is Extract<ServerConfig.ServerConfig, { url: string }> =>
  "url" in config

/** The path of an address, without what may be secret in it. */
const pathOf = (config: ServerConfig.ServerConfig): string => {
  if (!isRemote(config)) return ""
  try {
    return new URL(config.url).pathname
  } catch {
    // a variable stands where its path will be
    return ""
  }
}

/** Nobody answers there: which address is likely to be meant. */
const elsewhere = (status: number, { config }: Facts): Cause => {
  const path = pathOf(config)
  const at = path === "" ? "at this address" : `at ${UntrustedText.quote(path)}`
  const old = config.transport === "sse"
  const usual = old
    ? path.endsWith("/mcp")
      ? `The path looks like Streamable HTTP: set "type" to "http".`
      : `An old HTTP+SSE server is usually at /sse; one of Streamable HTTP is at /mcp, with "type": "http".`
    : path.endsWith("/sse")
    ? `The path looks like the old HTTP+SSE transport: set "type" to "sse", or try /mcp.`
    : path.endsWith("/mcp")
    ? `Look up its address; an old HTTP+SSE server is usually at /sse, with "type": "sse".`
    : `MCP servers are usually at /mcp; old ones of HTTP+SSE are at /sse, with "type": "sse".`
  return {
    cause: status === 404 ? "the path of the URL is wrong" : "nothing at this URL takes messages",
    hint: `There is no MCP server ${at} (${status}). ${usual}`
  }
}

const refused = (status: number, facts: Facts): Cause => {
  if (status === 404 || status === 405 || status === 410) return elsewhere(status, facts)
  if (status >= 500) {
    return {
      cause: `the server fails (${status})`,
      hint: "The fault is at the server, or at what stands before it: look at its log, and try again later."
    }
  }
  return {
    cause: `the server refuses the request (${status})`,
    hint: "Check the address and the headers in its configuration."
  }
}

const hasCredentials = ({ config }: Facts): boolean =>
  isRemote(config) && Array.from(config.headers?.keys() ?? []).some((name) => /^(authorization|x-api-key)$/i.test(name))

const content = (error: McpError.HttpError, { config }: Facts): Cause => ({
  cause: "something else answers there",
  hint: error.got?.startsWith("text/html") === true
    ? `A web page is at ${
      UntrustedText.quote(pathOf(config))
    }, and no MCP server: look up its address, which often ends in /mcp.`
    : ErrorAdvice.forPerson(error)
})

/** @internal */
export const network = ({ code, reason }: McpError.NetworkError): Cause => {
  if (reason === "tls") return tls(code)
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") {
    return { cause: "the host of the URL is not known", hint: "Check how the host is spelt, and the network." }
  }
  return {
    cause: code === "ECONNREFUSED" ? "nobody listens at the URL" : `the network fails (${code})`,
    hint: "Check host and port of the address in its configuration, and whether the server runs."
  }
}

const tls = (code: string): Cause => ({
  cause: `its TLS cannot be used (${code})`,
  hint: code === "CERT_HAS_EXPIRED"
    ? "Its certificate has expired: it has to be renewed there."
    : /SELF_SIGNED|UNABLE_TO|LEAF/.test(code)
    ? "Its certificate is signed by nobody that is known here: name the authority in NODE_EXTRA_CA_CERTS."
    : "Check that the port speaks TLS, or whether the address begins with http://; plain HTTP is never tried instead."
})

const unauthorized = (server: string, facts: Facts): Cause => ({
  cause: "it wants credentials (401)",
  hint: hasCredentials(facts)
    ? "Those in its headers are refused: they may have expired, or be meant for another server."
    : `${
      ErrorAdvice.logIn(server)
    } Or put them into "headers" of its configuration, for example "Authorization": "Bearer \${TOKEN}".`
})

/** @internal */
export const authorization = ({ reason, server }: McpError.AuthorizationFailed, facts: Facts): Cause =>
  reason === "unauthorized"
    ? unauthorized(server, facts)
    : reason === "unreachable"
    ? { cause: "the authorization server does not answer", hint: "Try again later." }
    : { cause: `nobody has logged in (${reason})`, hint: ErrorAdvice.logIn(server) }

const forbidden = (scope: string | undefined): Cause => ({
  cause: "the credentials do not suffice (403)",
  hint: scope === undefined
    ? "Check which rights the credentials in its headers have."
    : `Its credentials need the scope ${UntrustedText.quote(scope)}.`
})

/** @internal */
export const http = (error: McpError.HttpError, facts: Facts): Cause => {
  switch (error.reason) {
    case "status":
      return refused(error.status ?? 0, facts)
    case "content-type":
      return content(error, facts)
    case "forbidden":
      return forbidden(error.scope)
    case "redirect":
      return {
        cause: "the URL leads elsewhere",
        hint: `Write ${UntrustedText.quote(error.to ?? "")} into its configuration, if that is the server you mean.`
      }
    case "origin":
      return { cause: "it sends its clients to another origin", hint: ErrorAdvice.forPerson(error) }
    case "rate-limited":
      return { cause: "it was asked too often (429)", hint: ErrorAdvice.forPerson(error) }
    case "unavailable":
      return { cause: "it is unavailable for a while (503)", hint: ErrorAdvice.forPerson(error) }
  }
}
