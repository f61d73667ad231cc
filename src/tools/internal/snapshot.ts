/**
 * The text of a snapshot: versioned JSON with a checksum.
 *
 * The checksum finds what broke by accident, and what was written for another server. It does not stop somebody who may
 * write to the store, since anybody can compute it: therefore annotations are neither written nor read, everything is
 * decoded as if it came from a server, and no permission depends on it.
 *
 * @internal
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { sha256 } from "../../json/canonical.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as Transport from "../../transport/Transport.ts"
import * as Tool from "../Tool.ts"
import { withoutAnnotations } from "./toolsContent.ts"

const version = 1

/** @internal */
export interface Snapshot<Tools> {
  /** Whose tools they are. */
  readonly fingerprint: string
  readonly era: Transport.Era
  /** Milliseconds since 1970. */
  readonly fetchedAt: number
  readonly tools: Tools
}

/** @internal */
export interface DecodeOptions {
  readonly fingerprint: string
  /** Characters of the whole text. */
  readonly maxLength: number
  readonly maxTools: number
  readonly maxSchemaBytes: number
  /** Whether calls would mirror parameters into headers, were the server of this era. */
  readonly paramHeaders: (era: Transport.Era) => boolean
}

const Envelope = Schema.Struct({
  fingerprint: Schema.String,
  era: Schema.Literal("session", "stateless"),
  fetchedAt: Schema.NonNegative.pipe(Schema.finite()),
  /** JSON in JSON, so that the checksum is of a text, and not of what some parser made of it. */
  tools: Schema.String,
  checksum: Schema.String
})

const decodeJson = Schema.decodeUnknownEither(Schema.parseJson())
const decodeEnvelope = Schema.decodeUnknownEither(Envelope)
const decodeTools = Schema.decodeUnknownEither(Schema.parseJson(Schema.Array(Schema.Unknown)))

// Only the last of these can hold a space: a fingerprint is compared before its checksum is.
const checksum = ({ era, fetchedAt, fingerprint, tools }: Snapshot<string>): string =>
  sha256([version, fingerprint, era, fetchedAt, tools].join(" "))

/** @internal */
export const encode = (snapshot: Snapshot<string>): string =>
  JSON.stringify({ version, ...snapshot, checksum: checksum(snapshot) })

/** @internal */
export interface Decoded extends Snapshot<Pick<Tool.ToolList, "tools" | "rejected">> {
  /** Of the definitions as they are written. */
  readonly jsonHash: string
}

/**
 * The snapshot, or what is wrong with the text.
 *
 * @internal
 */
export const decode = (text: string, options: DecodeOptions): Either.Either<Decoded, string> => {
  if (text.length > options.maxLength) return Either.left("it is too large")
  const json = decodeJson(text)
  if (Either.isLeft(json) || !JsonRpc.isObject(json.right)) return Either.left("it is not JSON")
  if (json.right["version"] !== version) return Either.left("it is of another version")
  const envelope = decodeEnvelope(json.right)
  if (Either.isLeft(envelope)) return Either.left("it is malformed")
  const { era, fetchedAt, fingerprint } = envelope.right
  if (fingerprint !== options.fingerprint) return Either.left("it is of another server")
  if (envelope.right.checksum !== checksum(envelope.right)) return Either.left("its checksum is wrong")
  const items = decodeTools(envelope.right.tools)
  if (Either.isLeft(items)) return Either.left("its tools are malformed")
  if (items.right.length > options.maxTools) return Either.left("it has too many tools")
  const tools = Tool.decodeAll(items.right.map(stripped), {
    maxSchemaBytes: options.maxSchemaBytes,
    paramHeaders: options.paramHeaders(era)
  })
  return Either.right({ fingerprint, era, fetchedAt, tools, jsonHash: sha256(envelope.right.tools) })
}

const stripped = (item: unknown): unknown =>
  JsonRpc.isObject(item) ? withoutAnnotations(item as JsonRpc.JsonObject) : item // parsed from JSON
