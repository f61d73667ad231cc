import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as FileSystem from "@effect/platform/FileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Logger, Option } from "effect"
import * as HostEnvironment from "../../src/config/HostEnvironment.ts"
import * as NodeSpill from "../../src/node/NodeSpill.ts"
import * as Spill from "../../src/safety/Spill.ts"

const source = { server: "github", tool: "list_issues" }

const spillOf = (layer: Layer.Layer<Spill.Spill>) =>
  Effect.map(Layer.build(layer), (context) => Context.get(context, Spill.Spill))

const temporary = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

describe("long results of a program on Node", () => {
  it.scopedLive("are kept in the user's folder for caches", () =>
    Effect.gen(function*() {
      const root = yield* temporary
      const fs = yield* FileSystem.FileSystem
      const host: HostEnvironment.Host = {
        platform: "linux",
        variables: () => ({ XDG_CACHE_HOME: root }),
        uid: process.getuid?.()
      }
      const spill = yield* Effect.provideService(spillOf(NodeSpill.layer()), HostEnvironment.HostEnvironment, host)
      const handle = Option.getOrThrow(yield* spill.write("x", source))
      assert.lengthOf(yield* fs.readDirectory(`${root}/effect-mcp-runtime/results`), 1)
      assert.strictEqual((yield* spill.read(handle)).text, "x")
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.scopedLive("are kept where the application says, within its limits", () =>
    Effect.gen(function*() {
      const root = yield* temporary
      const fs = yield* FileSystem.FileSystem
      const spill = yield* spillOf(NodeSpill.layer({ directory: `${root}/here`, maxBytesEach: 1_000 }))
      const handle = Option.getOrThrow(yield* spill.write("x", source))
      assert.strictEqual((yield* spill.read(handle)).text, "x")
      assert.deepStrictEqual(yield* spill.write("x".repeat(2_000), source), Option.none())
      assert.lengthOf(yield* fs.readDirectory(`${root}/here`), 1)
    }).pipe(Effect.provide(Layer.merge(NodeFileSystem.layer, Logger.remove(Logger.defaultLogger)))))

  it.scopedLive("are kept in memory where the environment names no folder", () =>
    Effect.gen(function*() {
      const host: HostEnvironment.Host = { platform: "linux", variables: () => ({}), uid: undefined }
      const spill = yield* Effect.provideService(spillOf(NodeSpill.layer()), HostEnvironment.HostEnvironment, host)
      const handle = Option.getOrThrow(yield* spill.write("x", source))
      assert.strictEqual((yield* spill.read(handle)).text, "x")
    }))
})
