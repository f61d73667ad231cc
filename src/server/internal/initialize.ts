/** The handshake of the session era, from our side. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Protocol from "../../client/Protocol.ts"
import * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as McpServer from "../McpServer.ts"
import { invalidParams, objectOf } from "./exchange.ts"

/** @internal */
export const read = (
  params: JsonRpc.JsonObject,
  link: McpServer.Caller["link"],
  principal: string | undefined
): Either.Either<McpServer.Caller, McpServer.Refusal> => {
  const { capabilities, clientInfo, protocolVersion } = params
  if (typeof protocolVersion !== "string") {
    return Either.left(invalidParams("Invalid params: protocolVersion must be a text"))
  }
  if (!JsonRpc.isObject(capabilities)) {
    return Either.left(invalidParams("Invalid params: capabilities must be an object"))
  }
  return Either.right({
    era: "session",
    link,
    // what we do not know is answered with the best that we do, and the caller decides
    protocolVersion: Protocol.sessionVersions.includes(protocolVersion)
      ? protocolVersion
      : Protocol.sessionVersions[0]!,
    clientInfo: JsonRpc.isObject(clientInfo) ? objectOf(clientInfo) : undefined,
    capabilities: objectOf(capabilities),
    principal
  })
}

/** @internal */
export const result = (
  offer: McpServer.Offer,
  caller: McpServer.Caller,
  attendance: McpServer.Attendance
): Effect.Effect<JsonRpc.JsonObject> =>
  Effect.map(capabilities(offer, caller, attendance), (capabilities) => ({
    protocolVersion: caller.protocolVersion,
    capabilities,
    serverInfo: infoOf(offer),
    ...(offer.instructions === undefined ? {} : { instructions: offer.instructions })
  }))

/** The capabilities of the offer, with the extensions for this caller. */
export const capabilities = (
  { capabilities }: McpServer.Offer,
  caller: McpServer.Caller,
  { extensions }: McpServer.Attendance
): Effect.Effect<JsonRpc.JsonObject> =>
  extensions === undefined
    ? Effect.succeed(capabilities)
    : Effect.map(extensions(caller), (extensions) =>
      Object.keys(extensions).length === 0 ? capabilities : { ...capabilities, extensions })

/** @internal */
export const infoOf = ({ info: { name, title, version } }: McpServer.Offer): JsonRpc.JsonObject =>
  title === undefined ? { name, version } : { name, title, version }
