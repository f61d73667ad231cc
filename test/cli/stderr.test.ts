/** The cause that a server's stderr names is the same in every view, with the party at fault first. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { own, type Place, place, run } from "./inProcess.ts"

const folder = fileURLToPath(new URL("../fixtures/stderr", import.meta.url))

interface Cause {
  /** The party at fault, if a known program names it. */
  readonly party?: string
  /** The line of its stderr that says why. */
  readonly line: string
  /** The advice in the next line, if there is a party. */
  readonly next?: RegExp
}

const spelling = /Check the name and the version/
const registry = /Check the network, the proxy and the registry/
const upstream = /Start the service that it connects to, or correct the address/
const install = /Install the server's dependencies/

const causes: Readonly<Record<string, Cause>> = {
  "bunx-404": {
    party: "bun cannot find the package \"no-such-package-zzz-123\"",
    line: "error: GET https://registry.npmjs.org/no-such-package-zzz-123 - 404",
    next: spelling
  },
  "bunx-registry-refused": {
    party: "bun cannot reach its registry (ConnectionRefused)",
    line: "error: ConnectionRefused downloading package manifest some-package-x",
    next: registry
  },
  "deno-registry-untrusted": {
    party: "deno cannot reach its registry (https://registry.npmjs.org, UnknownIssuer)",
    line:
      "error: Failed loading https://registry.npmjs.org/no-such-package-zzz-123 for package \"no-such-package-zzz-123\"",
    next: registry
  },
  "docker-down": {
    line: "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?"
  },
  "docker-no-image": {
    party: "docker cannot find the image \"mcp/nope\"",
    line:
      "docker: Error response from daemon: pull access denied for mcp/nope, repository does not exist or may require 'docker login'",
    next: spelling
  },
  "go-panic": { line: "panic: no token" },
  "go-unknown-host": {
    party: "the server cannot reach db.internal (no such host)",
    line: "dial tcp: lookup db.internal on 10.0.0.2:53: no such host",
    next: upstream
  },
  "go-upstream": {
    party: "the server cannot reach 127.0.0.1:5432 (connection refused)",
    line: "2026/01/01 10:00:00 dial tcp 127.0.0.1:5432: connect: connection refused",
    next: upstream
  },
  "java-exception": {
    party: "the server cannot reach its upstream (Connection refused)",
    line: "Caused by: java.net.ConnectException: Connection refused",
    next: upstream
  },
  "json-logs": { line: "DATABASE_URL is required" },
  "node-deprecation": { line: "missing GITHUB_TOKEN" },
  "node-fetch-failed": {
    party: "the server cannot reach 127.0.0.1:5433 (ECONNREFUSED)",
    line: "Error: connect ECONNREFUSED 127.0.0.1:5433",
    next: upstream
  },
  "node-missing-file": {
    party: "the server cannot find the module \"/home/ada/server/nothere.js\"",
    line: "Error: Cannot find module '/home/ada/server/nothere.js'",
    next: install
  },
  "node-missing-package": {
    party: "the server cannot find the module \"no-such-mod\"",
    line: "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'no-such-mod' imported from /home/ada/server/a.mjs",
    next: install
  },
  "node-syntax": { line: "SyntaxError: Unexpected token ';'" },
  "node-throws": { line: "Error: API_KEY is not set" },
  "node-upstream": {
    party: "the server cannot reach 127.0.0.1:5432 (ECONNREFUSED)",
    line: "Failed to connect to database: connect ECONNREFUSED 127.0.0.1:5432",
    next: upstream
  },
  "node-upstream-unhandled": {
    party: "the server cannot reach 127.0.0.1:9 (ECONNREFUSED)",
    line: "Error: connect ECONNREFUSED 127.0.0.1:9",
    next: upstream
  },
  "npx-404": {
    party: "npm cannot find the package \"@no-such-scope-xyz/nope-nope\"",
    line:
      "The requested resource '@no-such-scope-xyz/nope-nope@*' could not be found or you do not have permission to access it.",
    next: spelling
  },
  "npx-404-npm10": {
    party: "npm cannot find the package \"no-such-package-zzz-123\"",
    line: "'no-such-package-zzz-123@*' is not in this registry.",
    next: spelling
  },
  "npx-no-program": { line: "could not determine executable to run" },
  "npx-no-version": {
    party: "npm cannot find the package \"@modelcontextprotocol/server-everything@99.0.0\"",
    line: "No matching version found for @modelcontextprotocol/server-everything@99.0.0.",
    next: spelling
  },
  "npx-registry-refused": {
    party: "npm cannot reach its registry (http://127.0.0.1:9, ECONNREFUSED)",
    line: "FetchError: request to http://127.0.0.1:9/some-package-x failed, reason: connect ECONNREFUSED 127.0.0.1:9",
    next: registry
  },
  "npx-registry-unknown": {
    party: "npm cannot reach its registry (http://no-such-host.invalid, ENOTFOUND)",
    line:
      "request to http://no-such-host.invalid/some-package-x failed, reason: getaddrinfo ENOTFOUND no-such-host.invalid",
    next: registry
  },
  "pnpm-404": {
    party: "pnpm cannot find the package \"no-such-package-zzz-123\"",
    line: "ERR_PNPM_FETCH_404 GET https://registry.npmjs.org/no-such-package-zzz-123: Not Found - 404",
    next: spelling
  },
  "pnpm-registry-refused": {
    party: "pnpm cannot reach its registry (http://127.0.0.1:9, ECONNREFUSED)",
    line:
      "ERR_PNPM_META_FETCH_FAIL GET http://127.0.0.1:9/some-package-x: request to http://127.0.0.1:9/some-package-x failed, reason: connect ECONNREFUSED 127.0.0.1:9",
    next: registry
  },
  "python-arguments": { line: "server: error: the following arguments are required: --token" },
  "python-group": { line: "ValueError: inner bad" },
  "python-log": { line: "2026-01-01 10:00:00,000 - root - ERROR - database is down" },
  "python-missing-module": {
    party: "the server cannot find the module \"no_such_mod_x\"",
    line: "ModuleNotFoundError: No module named 'no_such_mod_x'",
    next: install
  },
  "python-settings": { line: "pydantic_core._pydantic_core.ValidationError: 1 validation error for Settings" },
  "python-traceback": { line: "ValueError: no token" },
  "python-upstream": {
    party: "the server cannot reach its upstream (Connection refused)",
    line: "urllib.error.URLError: <urlopen error [Errno 111] Connection refused>",
    next: upstream
  },
  "rust-panic": { line: "API_KEY must be set" },
  "shell-not-found": { line: "sh: 1: mcp-server-nope: not found" },
  "uvx-404": {
    party: "uv cannot find the package \"mcp-server-nope\"",
    line:
      "╰─▶ Because mcp-server-nope was not found in the package registry and you require mcp-server-nope, we can conclude that your requirements are unsatisfiable.",
    next: spelling
  },
  "uvx-registry-refused": {
    party: "uv cannot reach its registry (http://127.0.0.1:9, tcp connect error)",
    line: "error: Request failed after 3 retries",
    next: registry
  }
}

const names = Object.keys(causes)

const words = "; its stderr: "

/** The message of a server in every view. */
const messageOf = (name: string): string => {
  const { line, party } = causes[name]!
  const happened = "the process ended (exit code 3) in the initialize phase"
  return `${name}: ${party === undefined ? "" : `${party}; `}${happened}${words}${line}`
}

/** Servers that write a collected text to stderr and exit with code 3. */
const ending = (at: Place, which: ReadonlyArray<string>) =>
  at.write(own, {
    mcpServers: Object.fromEntries(
      which.map((name) => [name, {
        command: "sh",
        // reads the first request, because a write to a closed stdin would fail with another error
        args: ["-c", `read -r _; cat '${folder}/${name}.txt' >&2; exit 3`],
        protocol: "session"
      }])
    )
  })

interface Failed {
  readonly tag: string
  readonly message: string
}

describe("the cause that the stderr of a server names", () => {
  it("has an expectation for every file of fixtures/stderr", () => {
    const collected = readdirSync(folder).filter((file) => file.endsWith(".txt")).map((file) => file.slice(0, -4))
    assert.sameMembers(names, collected)
  })

  it.scopedLive(
    "is in the first line of every list, after the party at fault, with the advice in the next line",
    () =>
      Effect.gen(function*() {
        const at = yield* place
        ending(at, names)
        for (const [view, title] of [["list", ""], ["tools", "failed: "], ["status", ""]] as const) {
          const { err } = yield* run(at, [view])
          const lines = err.split("\n")
          for (const name of names) {
            const found = lines.findIndex((line) => line.startsWith(`${title}${name}: `))
            assert.strictEqual(lines[found], `${title}${messageOf(name)}`, view)
            const { next } = causes[name]!
            if (next === undefined) continue
            assert.match(lines[found + 1] ?? "", next, `${view} ${name}`)
            assert.match(lines[found + 1] ?? "", /^ {2}\S/, `${view} ${name}`)
          }
        }
      }),
    120_000
  )

  it.scopedLive("is the same in the documents of --json and in the events", () =>
    Effect.gen(function*() {
      const at = yield* place
      ending(at, names)
      const expectMessage = (name: string, errors: ReadonlyArray<Failed & { readonly name: string }>, view: string) => {
        const found = errors.find((error) => error.name === name)
        assert.deepInclude(found, { tag: "ConnectionLost/exited", message: messageOf(name) }, view)
      }
      const listed: { readonly servers: ReadonlyArray<{ readonly name: string; readonly error: Failed | null }> } = JSON
        .parse((yield* run(at, ["list", "--json"])).out)
      const doctor: {
        readonly servers: ReadonlyArray<{
          readonly name: string
          readonly problems: ReadonlyArray<
            { readonly tag: string; readonly message: string; readonly cause: string; readonly hint: string }
          >
        }>
      } = JSON.parse((yield* run(at, ["doctor", "--json"])).out)
      let events = ""
      const seen = yield* Deferred.make<void>()
      const following = yield* Effect.fork(run(at, ["events"], {
        onWrite: (text) => {
          events += text
          if (names.every((name) => events.includes(` ${name} connect failed: `))) {
            Deferred.unsafeDone(seen, Effect.void)
          }
        }
      }))
      yield* Deferred.await(seen)
      yield* Fiber.interrupt(following)
      for (const name of names) {
        const { next, party } = causes[name]!
        expectMessage(
          name,
          listed.servers.flatMap(({ error, name }) => error === null ? [] : [{ ...error, name }]),
          "list"
        )
        const problem = doctor.servers.find((server) => server.name === name)!.problems[0]!
        expectMessage(name, [{ ...problem, name }], "doctor")
        assert.strictEqual(problem.cause, party ?? "the server exits at startup (code 3)")
        if (next !== undefined) assert.match(problem.hint, next)
        assert.include(events, ` ${name} connect failed: ${messageOf(name).slice(name.length + 2)}`)
      }
    }), 120_000)

  it.scopedLive("is in the error line of a call, which comes before the end of stderr", () =>
    Effect.gen(function*() {
      const at = yield* place
      const some = ["npx-404", "node-upstream-unhandled", "json-logs"]
      ending(at, some)
      for (const name of some) {
        const { code, err } = yield* run(at, ["call", `${name}/echo`])
        assert.strictEqual(code, 4)
        const lines = err.split("\n")
        assert.include(lines, `error: ${messageOf(name)}`)
        const { next } = causes[name]!
        if (next !== undefined) assert.match(err, next)
      }
    }), 60_000)

  it.scopedLive("is in the report of doctor for a server that never answers", () =>
    Effect.gen(function*() {
      const at = yield* place
      const silent = (text: string) => ({
        command: "sh",
        args: ["-c", `echo '${text}' >&2; while read -r _; do :; done`]
      })
      at.write(own, {
        mcpServers: {
          upstream: silent("connect ECONNREFUSED 10.1.2.3:8080, retrying"),
          waiting: silent("waiting for the licence server")
        }
      })
      const { out } = yield* run(at, ["doctor", "--timeout", "2s", "--json"])
      const { servers }: {
        readonly servers: ReadonlyArray<{ readonly problems: ReadonlyArray<Record<string, string>> }>
      } = JSON.parse(out)
      const [upstreamProblem, waitingProblem] = servers.map(({ problems }) => problems[0])
      assert.strictEqual(upstreamProblem?.["cause"], "the server cannot reach 10.1.2.3:8080 (ECONNREFUSED)")
      assert.match(upstreamProblem?.["hint"] ?? "", upstream)
      assert.strictEqual(waitingProblem?.["cause"], "no answer to initialize")
      assert.match(
        waitingProblem?.["hint"] ?? "",
        /^It runs, but did not answer within 2s\. Its stderr: "waiting for the licence server"\./
      )
    }), 60_000)
})
