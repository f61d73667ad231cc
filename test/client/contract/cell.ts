/**
 * One cell of the contract's matrix: an adapter, a server, a way to reach it, and one session that the cell's tests
 * share. Tests keep apart by the tokens they use, so sharing is itself a part of what they show.
 */
import { layer, type Vitest } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Connector from "../../../src/client/Connector.ts"
import * as InputHandlers from "../../../src/client/InputHandlers.ts"
import type * as McpClient from "../../../src/client/McpClient.ts"
import type * as McpEvent from "../../../src/McpEvent.ts"
import * as NodeConnector from "../../../src/node/NodeConnector.ts"
import type * as Teardown from "../../../src/resilience/Teardown.ts"
import * as Peers from "../../support/peers.ts"

/** What is held against the contract, and what the server can do over this transport. */
export interface Cell {
  readonly adapter: "client" | "sdk"
  readonly kind: Peers.Kind
  readonly transport: Peers.Transport
}

/** The name of a cell in the report. */
export const name = ({ adapter, kind, transport }: Cell): string => `${adapter} adapter, ${kind} server, ${transport}`

/** The era that the two sides agree on. */
export const era = ({ adapter, kind }: Cell): "session" | "stateless" =>
  adapter === "client" && kind !== "1.x" ? "stateless" : "session"

/**
 * Whether the server remembers its client. A 2.x server over HTTP serves each request of the session era apart: it
 * cannot ask, push or keep a setting.
 */
export const remembers = ({ adapter, kind, transport }: Cell): boolean =>
  !(adapter === "sdk" && kind === "2.x" && transport === "streamable-http")

/** The services of a cell's adapter. */
export const connector = ({ adapter }: Cell, options: NodeConnector.Options = {}): Layer.Layer<
  Connector.Connector | Teardown.Teardown | McpEvent.McpEvents
> => (adapter === "client" ? NodeConnector.layer(options) : NodeConnector.layerSdk(options))

/** Handlers whose answer depends on the question, so that one session can show every answer. */
export const handlers: InputHandlers.Handlers = {
  roots: () => Effect.succeed([{ uri: "file:///workspace", name: "workspace" }]),
  elicit: ({ message }) =>
    Effect.succeed(
      message === "decline"
        ? { action: "decline" }
        : message === "cancel"
        ? { action: "cancel" }
        : { action: "accept", content: { answer: `answer to ${message}` } }
    ),
  sample: ({ params }) =>
    Effect.succeed({
      role: "assistant",
      model: "a model",
      content: { type: "text", text: JSON.stringify(params["messages"]) }
    }),
  capabilities: { experimental: { "test/extra": { on: true } } }
}

/** A peer and a session with it. */
export class Opened extends Context.Tag("test/client/contract/cell/Opened")<Opened, {
  readonly peer: Peers.Peer
  readonly session: McpClient.McpClient
}>() {}

/** What the tests of a cell are written with. */
export type It = Vitest.MethodsNonLive<Opened, true>

/** The tests of a cell, over one session. */
export const shared = (cell: Cell, tests: (it: It) => void): void =>
  layer(
    Layer.scoped(
      Opened,
      Effect.gen(function*() {
        const peer = yield* Peers.start(cell.kind, cell.transport)
        return { peer, session: yield* Connector.open(peer.config) }
      })
    ).pipe(
      Layer.provide(connector(cell)),
      Layer.provide(InputHandlers.layer(handlers))
    ),
    { excludeTestServices: true, timeout: Duration.seconds(20) }
  )(name(cell), tests)

/** The text of a result's first content. */
export const textOf = (
  result: { readonly content: ReadonlyArray<{ readonly _tag: string; readonly text?: string }> }
): string | undefined => result.content[0]?.text

/** The JSON in the text of a result's first content. */
export const jsonOf = (result: Parameters<typeof textOf>[0]): unknown => JSON.parse(textOf(result) ?? "null")
