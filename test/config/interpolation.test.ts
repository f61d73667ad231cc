import { assert, describe, it } from "@effect/vitest"
import * as Either from "effect/Either"
import * as FastCheck from "effect/FastCheck"
import * as Interpolation from "../../src/config/Interpolation.ts"
import type * as Scope from "../../src/config/Scope.ts"

const places: NonNullable<Interpolation.Syntax["places"]> = new Map([["CLAUDE_PLUGIN_ROOT", "pluginRoot"], [
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
  places,
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

const asking = (more: Partial<Interpolation.Asking> & { readonly origin: Scope.Origin }): Interpolation.Asking => ({
  grants: [],
  own: new Map(),
  environment: {},
  places: {},
  answers: new Map(),
  hidden: new Set(),
  ...more
})

const outcome = (who: Interpolation.Asking, template: string, field: Interpolation.Field = "argument") =>
  Either.match(Interpolation.resolve(template, Interpolation.lookup(who, field, template)), {
    onLeft: ({ kind, variable }) => ({ kind, variable }),
    onRight: (value) => value
  })

const workspace = asking({
  origin: "workspace",
  environment: { HOME: "/h", MY_TOKEN: "canary", PLAIN: "canary", B: "canary", GITHUB_TOKEN: "canary", SHELL: "/sh" },
  places: { workspaceFolder: "/w", userHome: "/h" }
})

const forbidden = (variable: string) => ({ kind: "variable-forbidden", variable })

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
  turns("env and places", { env: true, places }, {
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
      assert.deepStrictEqual(Interpolation.resolve(template, () => ({ value })), Either.right(expected))
    }
  )

  it("takes the default for what is unset or empty, and fails by name without one", () => {
    const home = asking({ origin: "home", environment: { EMPTY: "", A: "a" } })
    assert.strictEqual(outcome(home, "${env:A:-x}${env:NOPE:-y}${env:EMPTY:-z}${env:NOPE:-}"), "ayz")
    assert.deepStrictEqual(outcome(home, "${env:EMPTY}"), { kind: "variable-unset", variable: "EMPTY" })
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

  it("is read in a time that grows with its length only, whatever it is made of", () => {
    const began = performance.now()
    for (const unit of ["${", "$", "$(", "{{", "{env:", "${env:", "${${A}", "${{", "}", "$${", "${a:-", "| "]) {
      const text = unit.repeat(200_000 / unit.length)
      for (const syntax of [everything, Interpolation.native]) {
        for (const tail of ["", "}}", ")"]) Interpolation.parse(canonical(syntax, text + tail))
      }
    }
    assert.isBelow(performance.now() - began, 5_000)
  })
})

describe("an entry of a workspace", () => {
  it("reads what is harmless, and where it is", () => {
    assert.strictEqual(
      outcome(workspace, "${env:HOME} ${var:workspaceFolder} ${var:userHome} ${env:LC_ALL:-c}"),
      "/h /w /h c"
    )
    assert.deepStrictEqual(outcome(workspace, "${env:HOME}", "url"), forbidden("HOME"))
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
    assert.strictEqual(outcome(granted, "https://${env:PLAIN}.a", "url"), "https://canary.a")
  })

  it("runs no program and reads no file", () => {
    assert.deepStrictEqual(outcome(workspace, "${cmd:cat ~/.ssh/id_rsa}"), forbidden("cmd:cat ~/.ssh/id_rsa"))
    assert.deepStrictEqual(outcome(workspace, "${file:~/.ssh/id_rsa}"), forbidden("file:~/.ssh/id_rsa"))
  })

  it("reads its own literal variables before all others", () => {
    const own = { ...workspace, own: new Map([["GITHUB_TOKEN", "mine"]]) }
    assert.strictEqual(outcome(own, "Bearer ${env:GITHUB_TOKEN}", "header"), "Bearer mine")
    assert.strictEqual(outcome(own, "https://${env:GITHUB_TOKEN}.a", "url"), "https://mine.a")
  })

  it.prop("never gets a variable it was not granted, however it asks", { text: texts }, ({ text }) => {
    const env = { A: "canary", B: "canary", __proto__: "canary" }
    const who = asking({ origin: "workspace", environment: env, places: { userHome: "/h" } })
    for (const syntax of syntaxes) {
      const value = outcome(who, canonical(syntax, text))
      assert.notInclude(typeof value === "string" ? value : "", "canary")
    }
  })
})

describe("the name of a variable", () => {
  it("says whether it is a credential", () => {
    const credentials = "MY_TOKEN MY_SECRET MY_KEY PASSWORD X_AUTH apiKey OPENAI_API_KEY githubToken DB_PWD GH_PAT"
    for (const name of credentials.split(" ")) assert.isTrue(Interpolation.isCredential(name), name)
    for (const name of "HOME PWD PATH KEYBOARD MONKEYS_DIR BASE_URL REGION TZ".split(" ")) {
      assert.isFalse(Interpolation.isCredential(name), name)
    }
  })
})
