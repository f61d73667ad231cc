import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import { chmodSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Connector from "../../src/client/Connector.ts"
import * as HostEnvironment from "../../src/config/HostEnvironment.ts"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import type * as McpError from "../../src/McpError.ts"
import * as NodeConnector from "../../src/node/NodeConnector.ts"
import * as Teardown from "../../src/resilience/Teardown.ts"
import * as DockerGateway from "../../src/transport/DockerGateway.ts"
import * as StdioTransport from "../../src/transport/StdioTransport.ts"
import * as Configs from "../support/configs.ts"
import { assertNoLeak, eventually, gone, isAlive } from "../support/leaks.ts"
import * as RecordingSink from "../support/recordingSink.ts"
import * as StandInDocker from "../support/standInDocker.ts"
import { folder, request, resultOf, send } from "../support/stdioServer.ts"

const graces = { stdinGrace: "400 millis", termGrace: "400 millis" } as const

/** Docker starts slowly on a busy machine: only a test of slowness has a short limit. */
const live = (answerTimeout: Duration.DurationInput = "10 seconds", teardown = Teardown.layer(graces)) =>
  DockerGateway.layer({ answerTimeout }).pipe(
    Layer.provide(StdioTransport.layer),
    Layer.provideMerge(teardown)
  )

const docker = (command: string, more: Partial<ServerConfig.DockerInput> = {}) =>
  Configs.docker({ name: "gateway", command, ...more })

const open = (config: ServerConfig.DockerServer) =>
  Effect.flatMap(DockerGateway.DockerGateway, ({ open }) => open(config))

const refusal = Effect.fnUntraced(function*(config: ServerConfig.DockerServer) {
  const error: McpError.ConnectError = yield* Effect.flip(Effect.scoped(open(config)))
  if (error._tag !== "SpawnFailed" || error.reason === "command") return assert.fail(`${error._tag}: ${error.message}`)
  return error
})

const answerSoon = Duration.millis(300)

describe("DockerGateway", () => {
  it.live("speaks MCP with the servers of a profile, and leaves nothing behind", () =>
    assertNoLeak(
      Effect.gen(function*() {
        const standIn = StandInDocker.make()
        const config = Configs.docker({
          name: "gateway",
          env: { PATH: standIn.path },
          profile: "work",
          servers: ["time", "fetch"],
          args: ["--verbose"],
          discoverPatience: "20 seconds"
        })
        yield* Effect.scoped(Effect.gen(function*() {
          const session = yield* Connector.open(config)
          const { tools } = yield* session.tools
          assert.include(tools.map(({ name }) => name), "echo")
          const { content } = yield* session.callTool("echo", { value: "hello" })
          assert.deepInclude(content[0], { _tag: "Text", text: "hello" })
        }))
        const asked = standIn.asked().map(({ args }) => args)
        assert.sameMembers(asked.slice(0, 2), ["mcp --help", "info --format {{.ServerVersion}}"])
        assert.deepStrictEqual(asked.slice(2), ["mcp gateway run --profile work --servers time,fetch --verbose"])
      }).pipe(Effect.provide(NodeConnector.layer()))
    ))

  describe("before the gateway is started", () => {
    it.live("asks both questions at the same time, and returns the version", () =>
      Effect.gen(function*() {
        const { command } = StandInDocker.make({ help: "together", info: "together" })
        const { detect } = yield* DockerGateway.DockerGateway
        assert.strictEqual(yield* detect(docker(command)), "28.2.2")
      }).pipe(Effect.provide(live())))

    it.live("fails with docker-not-installed without Docker", () =>
      Effect.gen(function*() {
        const error = yield* refusal(docker("docker", { env: { PATH: folder() } }))
        assert.deepInclude(error, { reason: "docker-not-installed", isRetryable: false, outcome: "not-sent" })
        assert.include(error.message, "install Docker")
      }).pipe(Effect.provide(live())))

    it.live("fails with docker-not-installed when its file is not executable", () =>
      Effect.gen(function*() {
        const file = join(folder(), "docker")
        writeFileSync(file, "")
        chmodSync(file, 0o644)
        const error = yield* refusal(docker(file))
        assert.strictEqual(error.reason, "docker-not-installed")
        assert.include(error.detail, file)
      }).pipe(Effect.provide(live())))

    it.live("does not blame Docker for a fault of the configuration", () =>
      Effect.gen(function*() {
        const { command } = StandInDocker.make()
        const error = yield* Effect.flip(Effect.scoped(open(docker(command, { env: { "A=B": "" } }))))
        assert.strictEqual(error._tag, "ConfigurationError")
        const tooLong = yield* Effect.flip(
          Effect.scoped(open(docker(command, { env: { A: "x".repeat(4 * 1024 * 1024) } })))
        )
        assert.deepInclude(tooLong, { _tag: "SpawnFailed", errno: "E2BIG" })
      }).pipe(Effect.provide(live())))

    for (const help of ["no plugin", "old and no plugin"] as const) {
      it.live(`fails with docker-no-mcp-plugin: ${help}`, () =>
        Effect.gen(function*() {
          const standIn = StandInDocker.make({ help, info: "down" })
          const error = yield* refusal(docker(standIn.command))
          assert.deepInclude(error, { reason: "docker-no-mcp-plugin", isRetryable: false })
          assert.include(error.message, "docker-mcp")
          assert.notInclude(standIn.asked().map(({ args }) => args).join(), "gateway")
        }).pipe(Effect.provide(live())))
    }

    for (const info of ["down", "down, says 0"] as const) {
      it.live(`fails with docker-daemon-down: ${info}`, () =>
        Effect.gen(function*() {
          const standIn = StandInDocker.make({ info })
          const error = yield* refusal(docker(standIn.command))
          assert.deepInclude(error, { reason: "docker-daemon-down", isRetryable: true })
          assert.include(error.detail, "Is the docker daemon running?")
          assert.include(error.message, "start Docker")
          assert.notInclude(standIn.asked().map(({ args }) => args).join(), "gateway")
        }).pipe(Effect.provide(live())))
    }

    it.live("reports a failure that no retry mends first, and an answer before a silence", () =>
      assertNoLeak(
        Effect.gen(function*() {
          const reasonOf = (help: StandInDocker.Answers["help"], info: StandInDocker.Answers["info"]) =>
            Effect.map(refusal(docker(StandInDocker.make({ help, info }).command)), ({ reason }) => reason)
          const cases = [
            ["no plugin", "up", "docker-no-mcp-plugin"],
            ["no plugin", "hangs", "docker-no-mcp-plugin"],
            ["no plugin", "killed", "docker-no-mcp-plugin"],
            ["hangs", "down", "docker-daemon-down"],
            ["killed", "down", "docker-daemon-down"],
            ["plugin", "hangs", "docker-timeout"],
            ["plugin", "killed", "docker-timeout"],
            ["hangs", "hangs", "docker-timeout"],
            ["hangs", "up", "docker-timeout"],
            ["killed", "up", "docker-timeout"]
          ] as const
          const reasons = yield* Effect.forEach(cases, ([help, info]) => reasonOf(help, info), { concurrency: 5 })
          assert.deepStrictEqual<ReadonlyArray<string>>(reasons, cases.map(([, , reason]) => reason))
        }).pipe(Effect.provide(live("2 seconds")))
      ))

    it.live("recognizes the help of the plugin under any program name and layout", () =>
      Effect.gen(function*() {
        const { detect } = yield* DockerGateway.DockerGateway
        for (const help of ["of another program", "in capitals"] as const) {
          assert.strictEqual(yield* detect(docker(StandInDocker.make({ help }).command)), "28.2.2")
        }
      }).pipe(Effect.provide(live())))

    it.live("asks again each time, and starts the gateway once Docker is there", () =>
      assertNoLeak(
        Effect.gen(function*() {
          const standIn = StandInDocker.make({ info: "down", gateway: "driven by hand" })
          const config = docker(standIn.command)
          assert.strictEqual((yield* refusal(config)).reason, "docker-daemon-down")
          standIn.answer({ info: "up" })
          yield* Effect.scoped(open(config))
          standIn.answer({ info: "down" })
          assert.strictEqual((yield* refusal(config)).reason, "docker-daemon-down")
        }).pipe(Effect.provide(live()))
      ))

    it.live("does not wait for a Docker that does not answer, and ends all of its processes", () =>
      assertNoLeak(
        Effect.gen(function*() {
          const standIn = StandInDocker.make({ info: "stubborn" })
          const [took, error] = yield* Effect.timed(refusal(docker(standIn.command)))
          assert.deepInclude(error, { reason: "docker-timeout", isRetryable: true })
          assert.include(error.detail, "docker info")
          assert.isBelow(Duration.toMillis(took), 5_000)
          yield* Effect.forEach(standIn.asked(), ({ pid }) => gone(pid))
        }).pipe(Effect.provide(live(answerSoon)))
      ))

    it.live("drains the output of Docker and keeps the beginning", () =>
      assertNoLeak(
        Effect.gen(function*() {
          const { command } = StandInDocker.make({ info: "floods" })
          const { detect } = yield* DockerGateway.DockerGateway
          const version = yield* detect(docker(command))
          assert.isBelow(version.length, 200)
          assert.include(version, `(${64 * 1024 - 64} more characters)`)
        }).pipe(Effect.provide(live()))
      ))

    it.live("does not wait for a descendant that holds the output of a command that has exited", () =>
      assertNoLeak(
        Effect.gen(function*() {
          const standIn = StandInDocker.make({ info: "up, with a child" })
          const { detect } = yield* DockerGateway.DockerGateway
          assert.strictEqual(yield* detect(docker(standIn.command)), "28.2.2")
          yield* Effect.forEach(standIn.asked(), ({ pid }) => gone(pid))
        }).pipe(Effect.provide(live()))
      ))

    it.live("does not count the time in which this process itself was blocked", () =>
      assertNoLeak(
        Effect.gen(function*() {
          const standIn = StandInDocker.make()
          const { detect } = yield* DockerGateway.DockerGateway
          const fiber = yield* Effect.fork(detect(docker(standIn.command)))
          for (let i = 0; i < 10; i++) yield* Effect.yieldNow()
          yield* Effect.sync(() => {
            const until = performance.now() + 10_000
            const isUnderWay = () => standIn.asked().length < 2 || standIn.asked().some(({ pid }) => isAlive(pid))
            while (isUnderWay() && performance.now() < until) {
              Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
            }
          })
          assert.strictEqual(yield* Fiber.join(fiber), "28.2.2")
        }).pipe(Effect.provide(live("1 millis")))
      ))

    it.live("ends the questions when it is interrupted", () =>
      assertNoLeak(
        Effect.gen(function*() {
          const standIn = StandInDocker.make({ help: "stubborn", info: "hangs" })
          const fiber = yield* Effect.fork(Effect.scoped(open(docker(standIn.command))))
          yield* eventually(() => standIn.asked().length === 3)
          yield* Fiber.interrupt(fiber)
          yield* Effect.forEach(standIn.asked(), ({ pid }) => gone(pid))
        }).pipe(Effect.provide(live()))
      ))

    it.live("ends the questions at once when the host ends first", () =>
      assertNoLeak(
        Effect.gen(function*() {
          const guards: Array<() => void> = []
          const watched = Layer.effect(
            Teardown.Teardown,
            Effect.map(Teardown.make(graces), (teardown) => ({
              ...teardown,
              lastResort: (kill: () => void) => Effect.sync(() => void guards.push(kill))
            }))
          )
          const standIn = StandInDocker.make({ help: "stubborn", info: "hangs" })
          const fiber = yield* refusal(docker(standIn.command)).pipe(
            Effect.provide(live("10 seconds", watched)),
            Effect.fork
          )
          yield* eventually(() => standIn.asked().length === 3)
          for (const guard of guards) guard()
          yield* Effect.forEach(standIn.asked(), ({ pid }) => gone(pid))
          assert.include((yield* Fiber.join(fiber)).detail, "was ended by SIGKILL")
        })
      ))
  })

  describe("environment of the gateway", () => {
    const variables = (host: Readonly<Record<string, string>>, config: Partial<ServerConfig.DockerInput>) =>
      Effect.scoped(Effect.gen(function*() {
        const transport = yield* open(docker("docker", config)).pipe(
          Effect.provide(Layer.provide(live(), HostEnvironment.layer(host)))
        )
        const { message, sink } = yield* RecordingSink.make
        transport.start(sink)
        yield* send(transport, request(1, "environment"))
        // The shell of the stand-in adds the others.
        const { MCP_RUNTIME_CONNECTION: _, OLDPWD: __, PWD: ___, SHLVL: ____, _: _____, ...env } = Object(
          resultOf(yield* message)["env"]
        )
        return env
      }))

    const host = () => ({
      PATH: StandInDocker.make({ gateway: "driven by hand" }).path,
      HOME: "/home/me",
      DOCKER_HOST: "tcp://127.0.0.1:1",
      DOCKER_CONTEXT: "remote",
      DOCKER_CONFIG: "/home/me/.docker",
      DOCKER_PASSWORD: "leak",
      WANTED: "yes",
      OTHER: "no"
    })

    it.live("has the variables that locate the daemon, and no secrets of the host", () =>
      Effect.gen(function*() {
        const { DOCKER_PASSWORD: _, OTHER: __, ...expected } = host()
        const all = { ...expected, DOCKER_PASSWORD: "leak", OTHER: "no" }
        const env = yield* variables(all, { inheritEnv: ["WANTED"], env: { TOKEN: "t0k3n" } })
        assert.deepStrictEqual(env, { ...expected, TOKEN: "t0k3n" })
      }))

    it.live("has every variable of the host with `inheritEnv: true`", () =>
      Effect.gen(function*() {
        const all = host()
        const env = yield* variables(all, { inheritEnv: true, env: { TOKEN: "t0k3n" } })
        assert.deepStrictEqual(env, { ...all, TOKEN: "t0k3n" })
      }))
  })

  it.live("holds the gateway to the limits of its configuration", () =>
    assertNoLeak(
      Effect.scoped(Effect.gen(function*() {
        const { command } = StandInDocker.make({ gateway: "driven by hand" })
        const transport = yield* open(docker(command, { maxMessageBytes: 2_000 }))
        const { failed, sink } = yield* RecordingSink.make
        transport.start(sink)
        const tooLong = transport.send(request(1, "echo", { text: "x".repeat(2_000) }))
        assert.deepInclude(tooLong, { _tag: "MessageTooLarge", direction: "sent", limit: 2_000 })
        yield* send(transport, request(2, "big", { bytes: 3_000, chunk: 512 }))
        const { error, id } = yield* failed
        assert.strictEqual(id, 2)
        assert.deepInclude(error, { _tag: "MessageTooLarge", direction: "received", limit: 2_000 })
      })).pipe(Effect.provide(live()))
    ))

  it.live("reports the stderr of a gateway that exits", () =>
    assertNoLeak(
      Effect.scoped(Effect.gen(function*() {
        const { command } = StandInDocker.make({ gateway: "dies" })
        const transport = yield* open(docker(command))
        const { ended, sink } = yield* RecordingSink.make
        transport.start(sink)
        assert.deepInclude((yield* ended).error("unknown"), {
          _tag: "ConnectionLost",
          reason: "exited",
          code: 3,
          stderrTail: "error: pulling the images failed\n"
        })
      })).pipe(Effect.provide(live()))
    ))
})
