/**
 * What everybody on the way to a server can read.
 *
 * @internal
 */
import * as Template from "./template.ts"
import * as VariableNames from "./variableNames.ts"

const isLoopback = (host: string): boolean =>
  /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(host.replace(/\.$/, ""))

/**
 * Whether an address is not encrypted, and leads to another machine.
 *
 * @internal
 */
export const isClear = ({ hostname, protocol }: URL): boolean =>
  (protocol === "http:" || protocol === "ws:") && !isLoopback(hostname)

/** What is sent along that may be nobody else's business. */
interface Sent {
  readonly headers: Iterable<readonly [name: string, template: string]>
  readonly headersCommand: ReadonlyArray<string> | undefined
  readonly clientSecret: unknown
}

/**
 * Whether credentials are among what is sent to a server, by what they are called and where they come from.
 *
 * @internal
 */
export const hasCredentials = ({ clientSecret, headers, headersCommand }: Sent): boolean =>
  headersCommand !== undefined || clientSecret !== undefined ||
  Array.from(headers).some(([name, template]) =>
    VariableNames.isCredential(name) || Template.references(template).length > 0
  )
