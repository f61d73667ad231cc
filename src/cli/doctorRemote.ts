/** The causes of a failed server on the network: its address, its credentials, its certificate, or the server itself. */
import type * as ServerConfig from "../config/ServerConfig.ts"
import * as McpError from "../McpError.ts"
import * as UntrustedText from "../text/UntrustedText.ts"
import type { Cause, Facts } from "./doctorFacts.ts"

const isRemote = (config: ServerConfig.ServerConfig): config is Extract<ServerConfig.ServerConfig, { url: string }> =>
  "url" in config

/** The path of an address, without its query, because that can contain secrets. */
const pathOf = (config: ServerConfig.ServerConfig): string => {
  if (!isRemote(config)) return ""
  try {
    return new URL(config.url).pathname
  } catch {
    // the path is an unexpanded variable
    return ""
  }
}

/** No MCP endpoint is at the address: suggests the usual one. */
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
    : McpError.forPerson(error)
})

export const network = ({ code, reason }: McpError.NetworkError): Cause => {
  if (reason === "tls") return tls(code)
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") {
    return { cause: "the host of the URL is not known", hint: "Check how the host is spelt, and the network." }
  }
  return {
    cause: code === "ECONNREFUSED" ? "no server listens at the URL" : `the network fails (${code})`,
    hint: "Check host and port of the address in its configuration, and whether the server runs."
  }
}

const tls = (code: string): Cause => ({
  cause: `its TLS cannot be used (${code})`,
  hint: code === "CERT_HAS_EXPIRED"
    ? "Its certificate has expired: the operator of the server has to renew it."
    : /SELF_SIGNED|UNABLE_TO|LEAF/.test(code)
    ? "Its certificate has an unknown authority: name the file of the authority in NODE_EXTRA_CA_CERTS."
    : "Check that the port speaks TLS, or whether the address begins with http://; plain HTTP is never tried instead."
})

const unauthorized = (server: string, facts: Facts): Cause => ({
  cause: "it wants credentials (401)",
  hint: hasCredentials(facts)
    ? "Those in its headers are refused: they may have expired, or be meant for another server."
    : `${
      McpError.logIn(server)
    } Or put them into "headers" of its configuration, for example "Authorization": "Bearer \${TOKEN}".`
})

export const authorization = (error: McpError.AuthorizationFailed, facts: Facts): Cause =>
  error.reason === "unauthorized"
    ? unauthorized(error.server, facts)
    : error.reason === "unreachable"
    ? { cause: "the authorization server does not answer", hint: McpError.forPerson(error) }
    : { cause: `it needs a login (${error.reason})`, hint: McpError.forPerson(error) }

const forbidden = (scope: string | undefined): Cause => ({
  cause: "the credentials do not suffice (403)",
  hint: scope === undefined
    ? "Check which rights the credentials in its headers have."
    : `Its credentials need the scope ${UntrustedText.quote(scope)}.`
})

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
      return { cause: "it sends its clients to another origin", hint: McpError.forPerson(error) }
    case "rate-limited":
      return { cause: "it was asked too often (429)", hint: McpError.forPerson(error) }
    case "unavailable":
      return { cause: "it is unavailable for a while (503)", hint: McpError.forPerson(error) }
  }
}
