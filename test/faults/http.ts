/** Cases over sockets: the misbehaving servers live in this process, so they are asked directly what they saw. */
import { Effect } from "effect"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import { modes } from "../fixtures/faults/httpModes.ts"
import * as HttpServer from "../fixtures/faults/httpServer.ts"
import { modes as sseModes } from "../fixtures/faults/sseModes.ts"
import * as SseServer from "../fixtures/faults/sseServer.ts"
import * as Configs from "../support/configs.ts"
import * as harness from "./harness.ts"
import { defaults } from "./stdio.ts"

export interface Options extends harness.Options {
  readonly config?: Partial<ServerConfig.HttpInput> | undefined
}

const connections = (open: () => number): harness.Remains => ({
  left: () => open() === 0 ? [] : [`${open()} connections at the server`]
})

/** A server in this mode, as what a case begins with. */
export const serverFor = (mode: HttpServer.Mode, options: Options = {}) =>
  Effect.map(HttpServer.serve(mode), (server) => ({
    config: Configs.http({ ...defaults, url: server.url, ...options.config }),
    server,
    remains: connections(server.open)
  }))

/** Declares a test with an HTTP server in this mode. */
export const http = <E>(
  mode: string,
  says: string,
  use: (peer: harness.Peer, server: HttpServer.HttpServer) => Effect.Effect<unknown, E>,
  options: Options & { readonly mode?: keyof typeof modes } = {}
): void => {
  const found: HttpServer.Mode | undefined = new Map(Object.entries(modes)).get(options.mode ?? mode)
  if (found === undefined) throw new Error(`no mode ${mode}`)
  harness.test(mode, says, harness.run(serverFor(found, options), use, options))
}

/** An old HTTP+SSE server in this mode, as what a case begins with. */
export const sseServerFor = (mode: SseServer.Mode, options: Options = {}) =>
  Effect.map(SseServer.serve(mode), (server) => ({
    config: Configs.sse({ ...defaults, url: server.url, ...options.config }),
    server,
    remains: connections(server.open)
  }))

/** Declares a test with an old HTTP+SSE server in this mode. */
export const sse = <E>(
  mode: keyof typeof sseModes,
  says: string,
  use: (peer: harness.Peer, server: SseServer.SseServer) => Effect.Effect<unknown, E>,
  options: Options = {}
): void => harness.test(mode, says, harness.run(sseServerFor(sseModes[mode], options), use, options))
