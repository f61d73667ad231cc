/** Addresses without encryption, and the credentials that must not be sent to them. */
import { isCredential } from "../text/credentialName.ts"
import * as Interpolation from "./Interpolation.ts"

const isLoopback = (host: string): boolean =>
  /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(host.replace(/\.$/, ""))

/** Whether an address is not encrypted, and leads to another machine. */
export const isClear = ({ hostname, protocol }: URL): boolean =>
  (protocol === "http:" || protocol === "ws:") && !isLoopback(hostname)

/** The parts of a request that may be credentials. */
interface Sent {
  readonly headers: Iterable<readonly [name: string, template: string]>
  readonly headersCommand: ReadonlyArray<string> | undefined
  readonly clientSecret: unknown
}

/** Whether a request has credentials, by their names and sources. */
export const hasCredentials = ({ clientSecret, headers, headersCommand }: Sent): boolean =>
  headersCommand !== undefined || clientSecret !== undefined ||
  Array.from(headers).some(([name, template]) => isCredential(name) || Interpolation.references(template).length > 0)
