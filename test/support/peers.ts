/**
 * Real servers over both official SDKs, started and ended with a scope.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as Http from "../fixtures/peers/http.mjs"
import * as Built from "./built.ts"
import * as Configs from "./configs.ts"

/** Which SDK serves: 1.x, 2.x as it comes (both eras), or 2.x for the stateless era only. */
export type Kind = "1.x" | "2.x" | "2.x-stateless"

/** A way to reach a peer. */
export type Transport = "stdio" | "streamable-http" | "sse"

/** What a stdio peer has written down about its process. */
export interface ProcessEvent {
  readonly event: "start" | "stdin-end" | "exit"
  readonly pid: number
}

/** A server to connect to, and what it has seen. */
export interface Peer {
  readonly config: ServerConfig.ServerConfig
  /** The processes of a stdio peer: one `start` for each time it was spawned. */
  readonly processEvents: Effect.Effect<ReadonlyArray<ProcessEvent>>
  /** The HTTP server, for a peer that is one. */
  readonly http: Http.HttpPeer | undefined
  /** Waits until the server can send what belongs to no request. */
  readonly canPush: Effect.Effect<void>
}

/** Settings of the client that a test may change. */
export type Settings = Pick<ServerConfig.StdioInput, "protocol" | "startupTimeout" | "requestTimeout">

const script = await Built.bundled(fileURLToPath(new URL("../fixtures/peers/stdio.mjs", import.meta.url)))

const startStdio = (kind: Kind, settings: Settings): Effect.Effect<Peer, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "mcp-peer-"))),
      (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
    ),
    (folder): Peer => {
      const journal = join(folder, "journal.jsonl")
      return {
        config: Configs.stdio({
          name: `peer ${kind}`,
          command: process.execPath,
          args: [script, kind],
          env: { PEER_JOURNAL: journal },
          // A process that starts slowly on a busy machine would be asked the older question too.
          discoverPatience: "20 seconds",
          ...settings
        }),
        processEvents: Effect.promise(async () => {
          const lines = await readFile(journal, "utf8").catch(() => "")
          return lines.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line))
        }),
        http: undefined,
        canPush: Effect.void
      }
    }
  )

const startHttp = (
  kind: Kind,
  transport: "streamable-http" | "sse",
  settings: Settings
): Effect.Effect<Peer, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(() => Http.start({ kind, transport })),
      (http) => Effect.promise(() => http.close())
    ),
    (http): Peer => ({
      config: (transport === "sse" ? Configs.sse : Configs.http)({
        name: `peer ${kind}`,
        url: http.url,
        ...settings
      }),
      processEvents: Effect.succeed([]),
      http,
      canPush: kind === "1.x"
        ? Effect.promise(() => http.when(({ event, method }) => event === "answered" && method === "GET"))
        : Effect.void
    })
  )

/** Starts a peer; a stdio peer is only described, since connecting starts it. */
export const start = (
  kind: Kind,
  transport: Transport,
  settings: Settings = {}
): Effect.Effect<Peer, never, Scope.Scope> =>
  transport === "stdio" ? startStdio(kind, settings) : startHttp(kind, transport, settings)
