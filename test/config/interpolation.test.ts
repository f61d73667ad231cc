import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Fingerprint from "../../src/config/Fingerprint.ts"
import * as HostEnvironment from "../../src/config/HostEnvironment.ts"
import * as Interpolation from "../../src/config/Interpolation.ts"
import * as Resolution from "../../src/config/Resolution.ts"
import type * as Scope from "../../src/config/Scope.ts"
import type * as ServerConfig from "../../src/config/ServerConfig.ts"
import * as Access from "../../src/config/variableAccess.ts"
import type * as McpError from "../../src/McpError.ts"
import { isCredential } from "../../src/text/credentialName.ts"
import * as Configs from "../support/configs.ts"
import { samples } from "../support/runs.ts"

const builtins: NonNullable<Interpolation.Syntax["builtins"]> = new Map([["CLAUDE_PLUGIN_ROOT", "pluginRoot"], [
  "/",
  "pathSeparator"
]])

/** Every host's way at once, and each alone. */
const everything: Interpolation.Syntax = {
  bare: true,
  dollar: true,
  env: true,
  input: true,
  braces: true,
  file: true,
  mustache: true,
  handlebars: true,
  powershell: true,
  command: true,
  bang: true,
  pipes: true,
  builtins,
  inputPrefix: "user_config."
}
const syntaxes: ReadonlyArray<Interpolation.Syntax> = [
  {},
  Interpolation.native,
  everything,
  ...Object.entries(everything).map(([key, value]) => ({ [key]: value }))
]

/** Texts that are made of what means something, in any order. */
const texts = FastCheck.array(
  FastCheck.oneof(
    FastCheck.constantFrom(
      ..."$ $$ ${ $${ { } }} ( ) ! | : :- env: input: secret: file: var: cmd: value: user_config. secrets. A __proto__"
        .split(" "),
      " ",
      "${A}",
      "${env:A}",
      "${env:A:-d}",
      "$(x)",
      "{env:A}",
      "{{A}}",
      "${{ secrets.A }}",
      "${op://a}",
      "userHome",
      "\n"
    ),
    FastCheck.string({ maxLength: 3 })
  ),
  { maxLength: 12 }
).map((parts) => parts.join(""))

const canonical = (syntax: Interpolation.Syntax, text: string) => Interpolation.canonical(syntax, text).template

const asking = (more: Partial<Access.Asking> & { readonly origin: Scope.Origin }): Access.Asking => ({
  grants: [],
  entryVariables: new Map(),
  environment: {},
  builtins: {},
  answers: new Map(),
  hidden: new Set(),
  ...more
})

const outcome = (who: Access.Asking, template: string, field: Access.Field = "argument") =>
  Either.match(Access.resolve(who, field, template), {
    onLeft: ({ kind, reference }) => ({ kind, variable: Interpolation.nameOf(reference) }),
    onRight: (value) => value
  })

const workspace = asking({
  origin: "workspace",
  environment: { HOME: "/h", MY_TOKEN: "canary", PLAIN: "canary", B: "canary", GITHUB_TOKEN: "canary", SHELL: "/sh" },
  builtins: { workspaceFolder: "/w", userHome: "/h" }
})

const forbidden = (variable: string) => ({ kind: "variable-forbidden" as const, variable })

describe("a host's variables", () => {
  const turns = (name: string, syntax: Interpolation.Syntax, cases: Readonly<Record<string, string>>) =>
    it(`are turned into canonical ones: ${name}`, () => {
      for (const [text, template] of Object.entries(cases)) assert.strictEqual(canonical(syntax, text), template, text)
    })

  turns("none", {}, { "$HOME %A% ${X} $(id)": "$HOME %A% $${X} $(id)", "$${X}": "$$$${X}", "a$$b": "a$$b" })
  turns("bare", { bare: true }, {
    "${A}/x": "${env:A}/x",
    "${A:-d:-e}": "${env:A:-d:-e}",
    "${A:-}": "${env:A:-}",
    "${ A }": "${env:A}",
    "$${A}": "$$${env:A}",
    "$A": "$A",
    "${env:A}": "$${env:A}",
    "${A": "$${A",
    "${}": "$${}",
    "${${B}}": "$${$${B}}",
    "${A:-${T}}": "${env:A:-${T}}",
    "${__proto__:-d}": "${env:__proto__:-d}"
  })
  turns("dollars", { bare: true, dollar: true }, {
    "$A-${B}$$C $1 $": "${env:A}-${env:B}$$${env:C} $1 $",
    "$A{x}": "${env:A}{x}"
  })
  turns("env and builtins", { env: true, builtins }, {
    "${env:A}": "${env:A}",
    "${A}": "$${A}",
    "${CLAUDE_PLUGIN_ROOT}${/}x": "${var:pluginRoot}${var:pathSeparator}x"
  })
  turns("inputs", { input: true, inputPrefix: "user_config." }, {
    "${input:api-key}": "${input:api-key}",
    "${user_config.key}": "${input:key}"
  })
  turns("braces", { braces: true }, { "Bearer {env:T} {file:~/.c}": "Bearer ${env:T} ${file:~/.c}", "{x}": "{x}" })
  turns("mustaches", { mustache: true }, {
    "${{ secrets.T }}": "${secret:T}",
    "${{inputs.T}}": "${input:T}",
    "${{ github.x }}": "$${{ github.x }}"
  })
  turns("handlebars", { handlebars: true }, { "a {{T}}": "a ${env:T}", "{{ a b }}": "{{ a b }}" })
  turns("whole values", { powershell: true, bang: true }, {
    "$env:T": "${env:T}",
    "x$env:T": "x$env:T",
    "!pass show k": "${cmd:pass show k}",
    "!jq '{a}'": "${unsupported:jq '?a?'}"
  })
  turns("a shell's", { bare: true, dollar: true, command: true }, {
    "Bearer $(gh auth token)": "Bearer ${cmd:gh auth token}",
    "$(a $(b) c)d": "${cmd:a $(b) c}d",
    "$(a": "$(a",
    "${V:+w}${V:?m}": "${V:+w}${V:?m}"
  })
  turns("pipes", { env: true, input: true, pipes: true }, {
    "${env:L | value:info}": "${env:L:-info}",
    "${input:a|value:b}": "${input:a:-b}",
    "${value:x}": "x",
    "${op://v/i}": "${op://v/i}",
    "${env:A | env:B}": "${env:A | env:B}"
  })
  turns("the native ones", Interpolation.native, {
    "${A} ${env:A} ${workspaceFolder} ${cmd:x y} $${A}": "${env:A} ${env:A} ${var:workspaceFolder} ${cmd:x y} $${A}",
    "${a b}": "$${a b}"
  })

  it("warn where a text has only the shape of one, and where it runs a program", () => {
    const warnings = (syntax: Interpolation.Syntax, text: string) => Interpolation.canonical(syntax, text).warnings
    assert.deepStrictEqual(warnings({}, "${NOT} ${NOT}"), ["looks-like-variable"])
    assert.deepStrictEqual(warnings({ command: true }, "$(x)"), ["command-substitution"])
    assert.deepStrictEqual(warnings(Interpolation.native, "${cmd:x}"), ["command-substitution"])
    assert.deepStrictEqual(warnings({ bang: true }, "!x"), ["command-substitution"])
    assert.deepStrictEqual(warnings({ bare: true }, "${A} $B `x` %C%"), [])
  })

  it.prop("are canonical once they are turned", { text: texts }, ({ text }) => {
    for (const syntax of syntaxes) {
      const template = canonical(syntax, text)
      assert.strictEqual(canonical(Interpolation.native, template), template)
    }
  })

  it.prop("of a host that knows none are all literal", { text: texts }, ({ text }) => {
    assert.deepStrictEqual(Interpolation.parse(canonical({}, text)).join(""), text)
    assert.isEmpty(Interpolation.variables(canonical({}, text)))
  })
})

describe("a template", () => {
  it.prop("can stand for every text, even beside others", { text: texts }, ({ text }) => {
    const template = Interpolation.literal(text)
    assert.deepStrictEqual(Interpolation.parse(template), text === "" ? [] : [text])
    assert.strictEqual(Interpolation.literal("no dollar brace") + template, `no dollar brace${template}`)
  })

  it.prop(
    "is read in one pass: what is put in is not looked at again",
    { text: texts, value: texts.filter((_) => _ !== "") },
    ({ text, value }) => {
      const template = canonical(everything, text)
      const expected = Interpolation.parse(template).map((part) => typeof part === "string" ? part : value).join("")
      assert.deepStrictEqual(Interpolation.fill(template, () => Either.right(value)), Either.right(expected))
    }
  )

  it("takes the default for an unset variable, not for an empty one, and fails by name without one", () => {
    const home = asking({ origin: "home", environment: { EMPTY: "", A: "a" } })
    assert.strictEqual(outcome(home, "${env:A:-x}${env:NOPE:-y}${env:EMPTY:-z}${env:NOPE:-}"), "ay")
    assert.strictEqual(outcome(home, "${env:EMPTY}"), "")
    assert.deepStrictEqual(outcome(home, "${env:NOPE}"), { kind: "variable-unset", variable: "NOPE" })
    assert.deepStrictEqual(outcome(home, "${input:pat}"), { kind: "input-required", variable: "input:pat" })
    assert.deepStrictEqual(outcome(home, "${op://a/b}"), { kind: "variable-unset", variable: "op://a/b" })
  })

  it("reads no prototype", () => {
    const home = asking({ origin: "home" })
    for (const name of ["constructor", "__proto__", "toString", "hasOwnProperty"]) {
      assert.deepStrictEqual(outcome(home, `\${env:${name}}`), { kind: "variable-unset", variable: name })
      assert.deepStrictEqual(outcome(home, `\${var:${name}}`), { kind: "variable-unset", variable: `var:${name}` })
      assert.strictEqual(outcome(home, `\${env:${name}:-d}`), "d")
    }
  })

  // what took more than a time in proportion to it would not end within the time that a test has
  it("is read in a time that grows with its length only, whatever it is made of", () => {
    for (
      const unit of samples(["${", "$", "$(", "{{", "{env:", "${env:", "${${A}", "${{", "}", "$${", "${a:-", "| "])
    ) {
      const text = unit.repeat(100_000 / unit.length)
      for (const syntax of [everything, Interpolation.native]) {
        for (const tail of ["", "}}", ")"]) assert.isNotEmpty(Interpolation.parse(canonical(syntax, text + tail)))
      }
    }
  })
})

describe("an entry of a workspace", () => {
  it("reads what is harmless, and where it is", () => {
    assert.strictEqual(
      outcome(workspace, "${env:HOME} ${var:workspaceFolder} ${var:userHome} ${env:LC_ALL:-c}"),
      "/h /w /h c"
    )
    assert.deepStrictEqual(outcome(workspace, "${env:HOME}", "url"), forbidden("HOME"))
    // as other hosts write them, in files that know no other spelling
    assert.deepStrictEqual(
      outcome(workspace, "${env:workspaceFolder} ${env:userHome}", "command"),
      outcome(workspace, "${var:workspaceFolder} ${var:userHome}", "command")
    )
  })

  it("reads no other variable without a grant, and a default does not unlock it", () => {
    for (const field of ["command", "cwd", "argument", "url", "header"] as const) {
      for (const name of ["MY_TOKEN", "PLAIN", "MY_SECRET", "MY_KEY", "PASSWORD", "X_AUTH"]) {
        assert.deepStrictEqual(outcome(workspace, `\${env:${name}:-x}`, field), forbidden(name))
      }
    }
    const granted = { ...workspace, grants: ["MY_TOKEN"] }
    assert.strictEqual(outcome(granted, "Bearer ${env:MY_TOKEN}", "header"), "Bearer canary")
    assert.strictEqual(outcome(granted, "https://a/${env:MY_TOKEN}", "url"), "https://a/canary")
  })

  it("puts no variable into its command, and no credential where it is shown", () => {
    const granted = { ...workspace, grants: ["MY_TOKEN", "PLAIN"], answers: new Map([["secret:s", "canary"]]) }
    assert.deepStrictEqual(outcome(granted, "${env:SHELL}", "command"), forbidden("SHELL"))
    assert.deepStrictEqual(outcome(granted, "${env:PLAIN}", "command"), forbidden("PLAIN"))
    assert.strictEqual(outcome(granted, "${var:workspaceFolder}/x", "command"), "/w/x")
    for (
      const host of ["https://${}.a", "https:/${}", "https:\\\\${}", "${}", "https://u:${}@a", "//${}", "h${}://a"]
    ) {
      const url = host.replace("${}", "${env:MY_TOKEN}")
      assert.deepStrictEqual(outcome(granted, url, "url"), forbidden("MY_TOKEN"), url)
    }
    assert.deepStrictEqual(outcome(granted, "https://${secret:s}.a", "url"), forbidden("secret:s"))
    // an empty host, or a part of the scheme, makes the path the host
    const moving = { ...granted, entryVariables: new Map([["EMPTY", ""], ["PS", "ps"], ["HOST", "a"]]) }
    for (const url of ["https://${env:EMPTY}/${env:MY_TOKEN}/mcp", "htt${env:PS}:/${env:MY_TOKEN}"]) {
      assert.deepStrictEqual(outcome(moving, url, "url"), forbidden("MY_TOKEN"), url)
    }
    const query = "https://${env:HOST}/mcp?key=${env:MY_TOKEN}"
    assert.strictEqual(outcome(moving, query, "url"), "https://a/mcp?key=canary")
    assert.strictEqual(outcome(granted, "https://${env:PLAIN}.a", "url"), "https://canary.a")
  })

  it("runs no program and reads no file", () => {
    assert.deepStrictEqual(outcome(workspace, "${cmd:cat ~/.ssh/id_rsa}"), forbidden("cmd:cat ~/.ssh/id_rsa"))
    assert.deepStrictEqual(outcome(workspace, "${file:~/.ssh/id_rsa}"), forbidden("file:~/.ssh/id_rsa"))
  })

  it("reads its own literal variables before all others", () => {
    const own = { ...workspace, entryVariables: new Map([["GITHUB_TOKEN", "mine"]]) }
    assert.strictEqual(outcome(own, "Bearer ${env:GITHUB_TOKEN}", "header"), "Bearer mine")
    assert.strictEqual(outcome(own, "https://${env:GITHUB_TOKEN}.a", "url"), "https://mine.a")
  })

  it.prop("never gets a variable it was not granted, however it asks", { text: texts }, ({ text }) => {
    const env = { A: "canary", B: "canary", __proto__: "canary" }
    const who = asking({ origin: "workspace", environment: env, builtins: { userHome: "/h" } })
    for (const syntax of syntaxes) {
      const value = outcome(who, canonical(syntax, text))
      assert.notInclude(typeof value === "string" ? value : "", "canary")
    }
  })
})

describe("the name of a variable", () => {
  it("says whether it is a credential", () => {
    const credentials = "MY_TOKEN MY_SECRET MY_KEY PASSWORD X_AUTH apiKey OPENAI_API_KEY githubToken DB_PWD GH_PAT " +
      "SLACK_HOOK AWS_CREDS MONGO_URI REDIS_URL KUBECONFIG POSTGRES_URL DATABASE_URL APP_PW MFA_CODE KEY_PEM"
    for (const name of credentials.split(" ")) assert.isTrue(isCredential(name), name)
    for (const name of "HOME PWD PATH KEYBOARD MONKEYS_DIR BASE_URL REGION TZ API_URL TASK SKIP HOOKS_DIR".split(" ")) {
      assert.isFalse(isCredential(name), name)
    }
  })
})

const expansion = (origin: Scope.Origin, more: Partial<Scope.Expansion> = {}): Scope.Expansion => ({
  origin,
  grants: [],
  builtins: { projectDir: "/w", userHome: "/home/me" },
  directory: "/w",
  root: "/w",
  ...more
})

const variables = { HOME: "/home/me", A: "a", MY_TOKEN: "canary", LINES: "canary\r\nX: y", HUGE: "canary".repeat(2e6) }

const resolve = (
  config: ServerConfig.ServerConfig,
  layer: Layer.Layer<never> = Resolution.layerTest(),
  environment: Readonly<Record<string, string>> = variables
): Effect.Effect<Resolution.Resolved, McpError.ConnectError> =>
  Effect.flatMap(Resolution.Resolution, (_) => _.resolve(config)).pipe(
    Effect.provide(Layer.merge(layer, HostEnvironment.layer(environment)))
  )

/** What is left of it, with its secrets in plain sight. */
const plainly = (config: ServerConfig.ServerConfig) => ({
  ...config,
  ...("env" in config && config.env ? { env: shown(config.env) } : {}),
  ...("headers" in config && config.headers ? { headers: shown(config.headers) } : {})
})
const shown = (secrets: ReadonlyMap<string, Redacted.Redacted>) =>
  Object.fromEntries(Array.from(secrets, ([name, value]) => [name, Redacted.value(value)]))

const local = (more: Partial<ServerConfig.StdioInput>) => Configs.stdio({ name: "s", command: "node", ...more })
const remote = (more: Partial<ServerConfig.HttpInput>) => Configs.http({ name: "s", url: "https://a.test", ...more })

const refused = (config: ServerConfig.ServerConfig, layer?: Layer.Layer<never>) =>
  Effect.map(Effect.flip(Effect.asVoid(resolve(config, layer))), (error) => {
    assert(error._tag === "ConfigurationError", error._tag)
    assert.notInclude(error.message, "canary")
    return { path: error.path, variable: error.variable?.name, why: error.variable?.why }
  })

describe("a configuration", () => {
  it.effect("without templates is returned as it is", () =>
    Effect.gen(function*() {
      const config = local({ args: ["${env:A}", "$${x}"], cwd: "x" })
      assert.strictEqual((yield* resolve(config)).config, config)
    }))

  it.effect("has its variables put in everywhere, and is an ordinary one afterwards", () =>
    Effect.gen(function*() {
      const home = expansion("home", { inputs: [{ id: "i", default: "d" }, { id: "j" }] })
      const answers = Resolution.layerTest({
        inputs: { j: "J" },
        secrets: { s: "S" },
        files: { "/home/me/.f": "F\n", "/w/.env": "A=file\nB=file" },
        programs: { "gh auth token": "P\n" }
      })
      const stdio = local({
        expansion: home,
        command: "./${env:A}",
        args: ["--x=${input:i}${input:j}", "$${A}", "${secret:s}"],
        env: { A: "${file:~/.f}", C: "${cmd:gh auth 'token'}" },
        envFile: "${var:projectDir}/.env",
        cwd: "sub"
      })
      assert.deepStrictEqual(plainly((yield* resolve(stdio, answers)).config), {
        name: "s",
        transport: "stdio",
        command: "/w/a",
        args: ["--x=dJ", "${A}", "S"],
        env: { A: "F", B: "file", C: "P" },
        cwd: "/w/sub"
      } as never)
      const http = remote({
        expansion: home,
        url: "https://${env:A}.test/${env:NOPE:-x}",
        headers: { X: "${env:A}" },
        bearerTokenEnvVar: "MY_TOKEN",
        headersCommand: ["h", "${env:A}"],
        oauth: {
          clientId: "${env:A}",
          clientSecret: Redacted.make("${secret:s}"),
          issuer: "https://${env:A}.test",
          scopes: ["${env:A}"]
        }
      })
      const { oauth, ...rest } = plainly((yield* resolve(http, answers)).config) as ServerConfig.HttpServer
      assert.deepInclude(rest, {
        url: "https://a.test/x",
        headers: { X: "a", authorization: "Bearer canary" } as never,
        headersCommand: ["h", "a"]
      })
      assert(typeof oauth === "object")
      assert.deepStrictEqual({ ...oauth, clientSecret: Redacted.value(oauth.clientSecret!) } as object, {
        clientId: "a",
        clientSecret: "S",
        issuer: "https://a.test",
        scopes: ["${env:A}"]
      })
    }))

  it.effect("is refused for a variable that is not set, in any field", () =>
    Effect.gen(function*() {
      const home = expansion("home")
      const nope = { variable: "NOPE", why: "variable-unset" as const }
      assert.deepInclude(yield* refused(remote({ expansion: home, url: "https://a.test/${env:NOPE}" })), nope)
      const headers = { Authorization: "Bearer ${env:NOPE}" }
      assert.deepStrictEqual(yield* refused(remote({ expansion: home, headers })), {
        path: "headers.Authorization",
        ...nope
      })
      assert.deepInclude(yield* refused(local({ expansion: home, command: "${env:NOPE}" })), nope)
      assert.deepStrictEqual(yield* refused(local({ expansion: home, env: { T: "${env:NOPE}" } })), {
        path: "env.T",
        ...nope
      })
      assert.deepInclude(yield* refused(local({ expansion: home, args: ["${input:pat}"] })), {
        variable: "input:pat",
        why: "input-required"
      })
    }))

  it.effect("has no header that is empty without its variable", () =>
    Effect.gen(function*() {
      const { config } = yield* resolve(remote({
        expansion: expansion("home"),
        headers: { Authorization: "Bearer ${env:NOPE:-}", "X-A": "a-${env:NOPE:-}", "X-B": "${env:NOPE:-}", "X-C": "" }
      }))
      assert.deepStrictEqual(plainly(config).headers, { "X-A": "a-", "X-C": "" } as never)
    }))

  it.effect("is refused without a word of a value that cannot be used", () =>
    Effect.gen(function*() {
      const home = expansion("home", { inputs: [{ id: "i", choices: ["a", "b"] }] })
      for (
        const config of [
          remote({ expansion: home, headers: { X: "${env:LINES}" } }),
          remote({ expansion: home, url: "https://a.test/${env:LINES}" }),
          remote({ expansion: home, url: "${env:MY_TOKEN}://a" }),
          remote({ expansion: home, url: "https://u:${env:MY_TOKEN}@a" }),
          local({ expansion: home, args: ["${env:HUGE}"] }),
          local({ expansion: home, args: ["${input:i}"] })
        ]
      ) yield* refused(config, Resolution.layerTest({ inputs: { i: "canary" } }))
    }))

  it.effect("of a workspace sends no credentials in the clear, wherever a variable leads", () =>
    Effect.gen(function*() {
      const own = new Map([["HOST", Redacted.make("http://a.example")]])
      const to = (origin: Scope.Origin, url: string, headers: ReadonlyMap<string, Redacted.Redacted>) =>
        remote({ url, headers, expansion: expansion(origin, { entryVariables: own }) })
      const token = new Map([["authorization", Redacted.make("Bearer x")]])
      const clear = "${env:HOST}/mcp"
      assert.strictEqual((yield* refused(to("workspace", clear, token))).path, "url")
      yield* resolve(to("workspace", clear, new Map([["x-team", Redacted.make("a")]])))
      yield* resolve(to("home", clear, token))
      yield* resolve(to("workspace", "http://localhost:1/mcp", token))
      yield* resolve(to("workspace", "https://a.example/mcp", token))
    }))

  it.effect("of a workspace asks nobody and runs nothing if it asks for anything that is forbidden", () =>
    Effect.gen(function*() {
      let asked = 0
      const answering = Layer.unwrapEffect(
        Effect.sync(() =>
          Resolution.layer({ input: () => Effect.sync(() => Option.some(Redacted.make(`${++asked}`))) })
        )
      ).pipe(Layer.provide(NodeFileSystem.layer))
      const workspace = expansion("workspace")
      for (
        const [config, variable] of [
          [local({ expansion: workspace, args: ["${input:i}", "${env:MY_TOKEN:-x}"] }), "MY_TOKEN"],
          [local({ expansion: workspace, args: ["${input:i}"], env: { A: "${cmd:touch x}" } }), "cmd:touch x"],
          [local({ expansion: workspace, command: "${env:HOME}/x" }), "HOME"],
          [remote({ expansion: workspace, url: "https://a.test/${env:A}" }), "A"],
          [remote({ expansion: workspace, bearerTokenEnvVar: "MY_TOKEN" }), "MY_TOKEN"],
          [remote({ expansion: workspace, headersCommand: ["${env:A}"] }), "A"]
        ] as const
      ) assert.deepInclude(yield* refused(config, answering), { variable, why: "variable-forbidden" })
      assert.strictEqual(asked, 0)
      yield* resolve(local({ expansion: workspace, args: ["${input:i}${input:i}"] }), answering)
      assert.strictEqual(asked, 1)
    }))

  it.effect("of a workspace reads the literal variables of its own, and inherits only what was granted", () =>
    Effect.gen(function*() {
      const grants = { grants: ["A"], entryVariables: new Map([["GH", Redacted.make("own")]]) }
      const http = remote({ expansion: expansion("workspace", grants), headers: { X: "${env:GH}${env:A}" } })
      assert.deepInclude(plainly((yield* resolve(http)).config), { headers: { X: "owna" } as never })
      const stdio = local({
        expansion: expansion("workspace", grants),
        args: ["${env:B}"],
        env: { B: "own", C: "${env:C:-c}", D: "$${D}" },
        inheritEnv: ["A", "LANG", "MY_TOKEN"]
      })
      assert.deepInclude(yield* refused(stdio), { variable: "C", path: "env.C" })
      const { config, warnings } = yield* resolve({ ...stdio, env: new Map([["B", Redacted.make("own")]]) })
      assert.deepInclude(plainly(config), { args: ["own"], inheritEnv: ["A", "LANG"] })
      assert.deepStrictEqual(warnings.map(({ at }) => at), ["inheritEnv"])
    }))

  it.effect("is held against the policies with its variables put in, whoever wrote it", () =>
    Effect.gen(function*() {
      const policy = {
        provider: "managed",
        scope: "managed" as const,
        origin: "system" as const,
        allow: [],
        deny: [{ _tag: "Url" as const, pattern: "https://*.bad.test/*" }],
        ordered: [],
        managedOnly: false,
        identities: undefined,
        broken: false
      }
      const policies = Resolution.layerTest({ policies: [policy] })
      const denied = { _tag: "PermissionDenied", why: "policy", kind: "server", decision: "denied" }
      const template = remote({ url: "https://${env:A}.bad.test/mcp", expansion: expansion("home") })
      assert.deepInclude(yield* Effect.flip(resolve(template, policies)), denied as never)
      const plain = remote({ url: "https://a.bad.test/mcp" })
      assert.deepInclude(yield* Effect.flip(resolve(plain, policies)), denied as never)
      yield* resolve(remote({ url: "https://good.test/mcp" }), policies)
    }))

  it.effect("that code gives is known to the policies by the fingerprint that it was found by", () =>
    Effect.gen(function*() {
      const config = local({})
      const policy = {
        provider: "native",
        scope: "managed" as const,
        origin: "system" as const,
        allow: [],
        deny: [{ _tag: "Fingerprint" as const, pattern: Fingerprint.of(config) }],
        ordered: [],
        managedOnly: false,
        identities: undefined,
        broken: false
      }
      const error = yield* Effect.flip(resolve(config, Resolution.layerTest({ policies: [policy] })))
      assert.deepInclude(error, { _tag: "PermissionDenied", why: "policy" })
      const listed = { ...policy, allow: policy.deny, deny: [] }
      yield* resolve(config, Resolution.layerTest({ policies: [listed] }))
    }))
})

describe("files and programs", () => {
  const folder = () => realpathSync(mkdtempSync(join(tmpdir(), "resolution-")))
  const real = Layer.provide(Resolution.layer(), NodeFileSystem.layer)
  const within = <A, E>(body: (folder: string) => Effect.Effect<A, E>) =>
    Effect.acquireUseRelease(
      Effect.sync(folder),
      body,
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
    )

  it.live("are read and run anew each time, with no more of the environment than a server gets", () =>
    within((folder) =>
      Effect.gen(function*() {
        const script = join(folder, "print.mjs")
        writeFileSync(script, "console.log(Object.keys(process.env).sort().join())")
        const config = local({
          expansion: expansion("home", { directory: folder }),
          args: ["${file:secret}", `\${cmd:'${process.execPath}' print.mjs}`]
        })
        for (const secret of ["one", "two"]) {
          writeFileSync(join(folder, "secret"), `${secret}\n`)
          assert.deepInclude((yield* resolve(config, real)).config, { args: [secret, "HOME"] })
        }
      })
    ))

  it.live("that are too large, no files, or lie outside of a workspace are not read", () =>
    within((folder) =>
      Effect.gen(function*() {
        const root = join(folder, "root")
        mkdirSync(root)
        writeFileSync(join(folder, "large"), "canary".repeat(20_000))
        writeFileSync(join(folder, "outside.env"), "A=canary")
        writeFileSync(
          join(root, "inside.env"),
          "NODE_OPTIONS=--require ./x\nPATH=./evil\nHome=/evil\nuv_index_url=https://evil.test\nhttps_proxy=evil\nA=in"
        )
        symlinkSync(join(folder, "outside.env"), join(root, "link.env"))
        execFileSync("mkfifo", [join(folder, "pipe")])
        const home = expansion("home", { directory: folder })
        for (const file of ["large", "pipe", "nothing", "root", "/dev/zero"]) {
          assert.deepInclude(yield* refused(local({ expansion: home, args: [`\${file:${file}}`] }), real), {
            path: "args.0"
          })
        }
        for (const endless of ["pipe", "/dev/zero"]) {
          const error = yield* Effect.flip(resolve(local({ expansion: home, args: [`\${file:${endless}}`] }), real))
          assert.include(error.message, "is not a regular file")
        }
        const workspace = expansion("workspace", { directory: root, root })
        for (const envFile of ["../outside.env", "link.env", join(folder, "outside.env")]) {
          assert.deepInclude(yield* refused(local({ expansion: workspace, envFile }), real), { path: "envFile" })
        }
        const { config } = yield* resolve(local({ expansion: workspace, envFile: "inside.env" }), real)
        assert.deepInclude(plainly(config), { env: { A: "in" } as never })
        const code = local({ envFile: join(folder, "outside.env"), env: { B: "b" } })
        assert.deepInclude(plainly((yield* resolve(code, real)).config), { env: { A: "canary", B: "b" } as never })
      })
    ))

  it.effect("are out of reach where nothing provides them", () =>
    Effect.gen(function*() {
      const canary = join(tmpdir(), `resolution-${process.pid}-canary`)
      const config = local({ expansion: expansion("home"), args: [`\${cmd:touch ${canary}}`] })
      const error = yield* Effect.flip(Effect.flatMap(Resolution.Resolution, (_) => _.resolve(config)))
      assert.strictEqual(error._tag, "ConfigurationError")
      assert.isFalse(existsSync(canary))
    }))

  it.effect("of variables are read line by line, and nothing is put in", () =>
    Effect.gen(function*() {
      const text = "\ufeff# c\nexport A=1 # c\r\nB = \"x\\ny#\" # c\nC='$A ${A}'\n\nD='a#b'\nE=\nF=a # c\n1X=1"
      const { config } = yield* resolve(
        local({ envFile: "/w/.env" }),
        Resolution.layerTest({ files: { "/w/.env": text } })
      )
      assert.deepStrictEqual(Object.entries(plainly(config).env as never), [
        ["A", "1"],
        ["B", "x\ny#"],
        ["C", "$A ${A}"],
        ["D", "a#b"],
        ["E", ""],
        ["F", "a"]
      ])
    }))
})

describe("the secrets of a resolved configuration", () => {
  const secretsOf = (config: ServerConfig.ServerConfig, answers: Resolution.Answers = {}) =>
    Effect.map(
      resolve(config, Resolution.layerTest(answers), {
        HOME: "/home/me",
        A: "first",
        REGION_X: "walnut harbour 7",
        LOG_LEVEL: "debug"
      }),
      ({ secrets }) => secrets.map(Redacted.value)
    )

  it.effect("are the values with the name of a credential and those from a source of secrets", () =>
    Effect.gen(function*() {
      const written = local({
        args: ["--mode", "fast", "--token", "abcd1", "--header=X: ${input:key}", "-e", "API_KEY=efgh2", "${env:HOME}"],
        env: { API_TOKEN: "${env:A}-${file:/b}", REGION: "${env:REGION_X}", LEVEL: "${env:LOG_LEVEL}", PLAIN: "plain" },
        envFile: "/e",
        expansion: expansion("home")
      })
      const answers = { inputs: { key: "typed" }, files: { "/b": "second", "/e": "EXTRA='from a file'\nMODE=fast" } }
      assert.sameMembers(Array.from(yield* secretsOf(written, answers)), [
        "abcd1",
        "typed",
        "efgh2",
        "first-second",
        "second",
        "walnut harbour 7",
        "from a file"
      ])
    }))

  it.effect("are in addresses and logins", () =>
    Effect.gen(function*() {
      const oauth = { clientId: "me", clientSecret: Redacted.make("login-secret"), issuer: "https://login.test" }
      const url = "https://h.test/part/mcp?page=2&access_token=query-secret"
      assert.sameMembers(Array.from(yield* secretsOf(remote({ url, oauth }))), ["query-secret", "login-secret"])
      const written = remote({ url: "https://h.test/${secret:path}/mcp", expansion: expansion("home") })
      assert.sameMembers(Array.from(yield* secretsOf(written, { secrets: { path: "part" } })), ["part"])
    }))

  it.effect("are none where everything is plain", () =>
    Effect.map(
      secretsOf(local({ args: ["a", "--verbose"], env: { HOME: "/home/me" } })),
      (secrets) => assert.deepStrictEqual(secrets, [])
    ))
})
