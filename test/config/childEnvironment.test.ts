import { assert, describe, it } from "@effect/vitest"
import * as Redacted from "effect/Redacted"
import * as Program from "../../src/config/program.ts"

describe("the environment of a server", () => {
  const variables = { PATH: "/bin", Home: "x", TOKEN: "t", LC_TIME: "C", BASH_FUNC_x: "() { :; }", TERM: "() { :; }" }
  const of = (
    config: Parameters<typeof Program.environment>[0],
    platform = "linux",
    host: Record<string, string> = variables
  ) => Object.fromEntries(Program.environment(config, { platform, variables: () => host }))

  it("has what is safe", () => {
    assert.deepStrictEqual(of({}), { PATH: "/bin", LC_TIME: "C" })
  })

  it("has what is asked for by name", () => {
    assert.deepStrictEqual(of({ inheritEnv: ["TOKEN", "MISSING"] }), { PATH: "/bin", LC_TIME: "C", TOKEN: "t" })
  })

  it("has everything if that is asked for, except exported functions", () => {
    assert.deepStrictEqual(of({ inheritEnv: true }), { PATH: "/bin", Home: "x", TOKEN: "t", LC_TIME: "C" })
  })

  it("looks for programs in absolute folders only, because the others could be in a workspace", () => {
    const make = (platform: string, PATH: string) =>
      Program.environment({}, { platform, variables: () => ({ PATH }) }).get("PATH")
    assert.strictEqual(make("linux", ".:/usr/bin::bin:/opt/a b"), "/usr/bin:/opt/a b")
    assert.strictEqual(
      make("win32", ".;C:\\Windows;;bin;\\\\server\\share;%SystemRoot%"),
      "C:\\Windows;\\\\server\\share;%SystemRoot%"
    )
  })

  it("has what is declared, whatever its name", () => {
    const env = new Map([["PATH", Redacted.make("/mine")], ["__proto__", Redacted.make("p")]])
    const made = Program.environment({ env }, { platform: "linux", variables: () => variables })
    assert.strictEqual(made.get("PATH"), "/mine")
    assert.strictEqual(made.get("__proto__"), "p")
  })

  it("takes names on Windows as the same whatever their case, and keeps one of each", () => {
    const host = { Path: "C:\\bin", SystemRoot: "C:\\Windows", HOME: "x", Secret: "s" }
    const env = new Map([["PATH", Redacted.make("C:\\mine")]])
    assert.deepStrictEqual(of({ env }, "win32", host), { PATH: "C:\\mine", SystemRoot: "C:\\Windows" })
    assert.deepStrictEqual(of({ inheritEnv: ["SECRET"] }, "win32", host), {
      Path: "C:\\bin",
      SystemRoot: "C:\\Windows",
      Secret: "s"
    })
  })
})
