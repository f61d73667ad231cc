import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ConfigFile from "../../src/config/ConfigFile.ts"
import * as Dialect from "../../src/config/Dialect.ts"
import * as Interpolation from "../../src/config/Interpolation.ts"
import * as Merge from "../../src/config/merge.ts"
import * as PolicyWords from "../../src/config/policyWords.ts"
import * as Reader from "../../src/config/reader.ts"
import * as Registry from "../../src/config/Registry.ts"
import type * as Scope from "../../src/config/Scope.ts"
import type * as ServerEntry from "../../src/config/serverEntry.ts"
import * as ServerPolicy from "../../src/config/ServerPolicy.ts"
import * as Access from "../../src/config/variableAccess.ts"
import { documents, json, tableOf } from "../support/documents.ts"
import * as Samples from "../support/samples.ts"

type Json = Samples.Json

const text = (value: unknown): string | undefined => typeof value === "string" ? value : undefined

/** Whose files a case is about: it says so, or its folder does; cases of layers that say nothing are Claude Code's. */
const hostOf = ({ expected, id }: Samples.Sample): string => {
  const group = id.split("/")[0]!
  return text(expected.host) ?? (Dialect.find(group) === undefined ? "claude-code" : group)
}

const read = (sample: Samples.Sample, file: Samples.SampleFile, scope: Scope.Scope) =>
  ConfigFile.decode(file.bytes, {
    host: hostOf(sample),
    scope,
    origin: Samples.usualOrigin[scope],
    path: text(sample.expected.file) ?? file.path,
    ...(Array.isArray(sample.expected.pointer) ? { pointer: sample.expected.pointer } : {}),
    ...(sample.expected.strict === true ? { strict: true } : {})
  })

/** The scope of a file of a case of several: its folder, or what the host has at such a place. */
const scopeOf = (sample: Samples.Sample, file: Samples.SampleFile): Scope.Scope => {
  const folder = file.path.split("/")[0]
  if (Samples.isScope(folder)) return folder
  return Samples.locationOf(Dialect.find(hostOf(sample)), file.path)?.scope ?? "user"
}

const readAll = (sample: Samples.Sample) =>
  Effect.forEach(sample.files, (file) => {
    const scope = scopeOf(sample, file)
    return Effect.map(read(sample, file, scope), (found) => ({ file, found, scope }))
  })

const templateAt = (entry: ServerEntry.Entry, at: string): string => {
  const [field = "", ...rest] = at.split(".")
  const value: unknown = Object.entries(entry).find(([key]) => key === field)?.[1]
  const key = rest.join(".")
  const part = value instanceof Map ? value.get(key) : Array.isArray(value) ? value[Number(key)] : value
  return assertText(part, at)
}

const assertText = (value: unknown, at: string): string => {
  assert.isString(value, at)
  return String(value)
}

const fields: { readonly [field: string]: Access.Field } = {
  command: "command",
  cwd: "cwd",
  url: "url",
  headers: "header"
}

/** What the templates of a case come to, at the places that it speaks of. */
const resolved = (found: ConfigFile.ConfigFile, resolve: Json): Json => {
  const context = resolve.context as Json
  const origin = context.scope === "project" ? "workspace" : context.scope === "plugin" ? "plugin" : "home"
  const grants = (context.grants ?? {}) as { readonly [name: string]: ReadonlyArray<string> }
  const inputs = (context.inputs ?? {}) as { readonly [id: string]: string }
  const result = (entry: ServerEntry.Entry, at: string): Json => {
    const template = templateAt(entry, at)
    const own = Array.from(entry.env ?? []).flatMap(([name, value]) =>
      value === null || Interpolation.parse(value).some((part) => typeof part !== "string")
        ? []
        : [[name, value] as const]
    )
    const value = Access.resolve(
      {
        origin,
        grants: grants[entry.name] ?? [],
        entryVariables: new Map(own),
        environment: (context.env ?? {}) as { readonly [name: string]: string },
        builtins: (context.vars ?? context.places ?? {}) as { readonly [name: string]: string },
        answers: new Map(Object.entries(inputs).map(([id, value]) => [`input:${id}`, value])),
        hidden: new Set()
      },
      fields[at.split(".")[0]!] ?? "argument",
      template
    )
    return Either.match(value, {
      onLeft: ({ kind, reference }): Json => ({ error: kind, variable: Interpolation.nameOf(reference) }),
      onRight: (value): Json => ({ value })
    })
  }
  const servers = Object.entries(resolve.results as { readonly [name: string]: Json })
  return Object.fromEntries(servers.map(([name, places]) => {
    const item = found.items.find((item) => item.name === name)
    assert(item?._tag === "Server", `${name} is no server`)
    return [name, Object.fromEntries(Object.keys(places).map((at) => [at, result(item.entry, at)]))]
  }))
}

const oneFile = (sample: Samples.Sample) =>
  Effect.gen(function*() {
    const { expected } = sample
    const scope = Samples.isScope(expected.scope) ? expected.scope : "user"
    const file = sample.files.find(({ path }) => path === expected.file) ?? sample.files[0]
    assert(file !== undefined)
    const found = yield* read(sample, file, scope)
    assert.deepStrictEqual(Samples.fileOf(found, expected), Samples.wanted(expected))
    for (const { message } of found.issues) assert.match(message, /^\S.{10,}$/s)
    if (typeof expected.resolve === "object" && expected.resolve !== null) {
      const resolve = expected.resolve as Json
      assert.deepStrictEqual(resolved(found, resolve), resolve.results)
    }
    if (typeof expected.exclusive === "boolean") {
      const locations = Dialect.find(hostOf(sample))?.locations.filter((location) => location.scope === scope)
      assert.strictEqual(locations?.some(({ exclusive }) => exclusive === true), expected.exclusive)
    }
  })

const layers = (sample: Samples.Sample) =>
  Effect.gen(function*() {
    const { expected } = sample
    const all = yield* readAll(sample)
    const host = hostOf(sample)
    const merged = Merge.merge(all.map(({ file, found, scope }, rank) => ({
      provider: host,
      scope,
      path: file.path,
      rank,
      distance: 0,
      exclusive: scope === "managed" && (expected.exclusiveManaged === true || expected.exclusive === true),
      items: found.items.map((item) => ({
        ...item,
        provenance: { ...item.provenance, scope, origin: "home", path: file.path }
      }))
    })))
    const ours = merged.map(({ dropped, sameAs, shadows, sources, ...item }): Json => ({
      ...Samples.itemOf(item),
      name: item.name,
      scope: item.provenance.scope,
      shadows: shadows.map(({ scope }) => scope),
      sources: sources.map(({ scope }) => scope),
      dropped,
      ...(sameAs === undefined ? {} : { sameAs, aliasOf: sameAs, alias: sameAs, duplicateOf: sameAs })
    }))
    const theirs = expected.servers as ReadonlyArray<Json>
    assert.deepStrictEqual(ours.map(({ name }) => name), theirs.map(({ name }) => name))
    for (const [at, server] of theirs.entries()) assert.deepStrictEqual(Samples.cut(ours[at]!, server), server)
    const errors = all.flatMap(({ found, scope }) => {
      const kinds = found.issues.filter(({ server, severity }) => server === undefined && severity === "error")
      return kinds.length === 0 ? [] : [[scope, kinds.map(({ kind }) => kind)]]
    })
    assert.deepStrictEqual(Object.fromEntries(errors), expected.fileErrors ?? {})
  })

const decisions = (sample: Samples.Sample) =>
  Effect.map(readAll(sample), (all) => {
    const policies = all.flatMap(({ found }) => found.policy ?? [])
    const entries = all.flatMap(({ found }) => found.items.flatMap((item) => item._tag === "Server" ? item.entry : []))
    const decided = entries.map((entry) => [
      entry.name,
      ServerPolicy.decide(policies, {
        name: entry.name,
        argv: entry.transport === "stdio" ? [entry.command, ...entry.args] : undefined,
        url: entry.transport === "stdio" ? undefined : entry.url,
        fingerprint: undefined
      })
    ])
    assert.deepStrictEqual(Object.fromEntries(decided), sample.expected.decisions)
    const bad = all.flatMap(({ found }) => found.issues.filter(({ kind }) => kind === "invalid-policy"))
    assert.deepStrictEqual(bad.map(({ at }) => at), sample.expected.invalidRules ?? [])
  })

/** The servers that the host rejects are off. Its approvals have no effect, because they are given to names. */
const approvals = (sample: Samples.Sample) =>
  Effect.map(readAll(sample), (all) => {
    const names = all.flatMap(({ found }) => found.items.map(({ name }) => name))
    const off = new Set(all.flatMap(({ found }) => found.switches?.off ?? []))
    const rejected = Object.entries(sample.expected.approvals as Json).filter(([, verdict]) => verdict === "rejected")
    assert.deepStrictEqual(names.filter((name) => off.has(name)), rejected.map(([name]) => name))
    assert.isTrue(all.every(({ found }) => (found.switches?.on ?? []).length === 0))
  })

/** An option as the samples write it: its entry is read like one of a native file. */
const optionOf = ({ entry, inputs, name, source }: Registry.Option): Json => {
  const secrets = inputs.filter(({ secret }) => secret).map(({ id }) => id)
  if (Registry.isFault(entry)) return { name, error: entry.kind, at: entry.at, source, secrets }
  const [item] = Reader.decode(Dialect.find("native")!, new Map([["mcpServers", new Map([[name, entry]])]]), {
    scope: "user",
    origin: "home",
    path: undefined
  }).items
  const { enabled: _, ...read } = Samples.itemOf(item!)
  return { ...read, source, secrets }
}

const options = (sample: Samples.Sample) =>
  Effect.map(readAll(sample), (all) => {
    const ours = all.flatMap(({ found }) => Registry.options(Samples.tableOf(found))).map(optionOf)
    assert.deepStrictEqual(ours, sample.expected.options)
  })

/** What a case is about, by what it expects. */
const check = (sample: Samples.Sample) => {
  const { expected } = sample
  if ("decisions" in expected) return decisions(sample)
  if ("approvals" in expected) return approvals(sample)
  if ("options" in expected) return options(sample)
  return "layers" in expected ? layers(sample) : oneFile(sample)
}

describe("each sample of a host's configuration comes to what is expected of it", () => {
  for (const sample of [...Samples.samples, Samples.huge]) {
    it.effect(`${sample.id}${sample.expected.note === undefined ? "" : `: ${String(sample.expected.note)}`}`, () =>
      check(sample))
  }
})

const from = { provider: "x", scope: "user", origin: "home" } as const

describe("what another program wrote for many configurations or for policy", () => {
  it.prop("is read whatever it is", [documents], ([value]) => {
    const root = tableOf(value)
    for (const { entry } of Registry.options(root)) {
      if (Registry.isFault(entry) || entry.get("type") !== "stdio") continue
      assert.include(["npx", "bunx", "uvx", "pipx", "docker", "podman", "dnx"], entry.get("command"))
    }
    for (const words of ["native", "amp", "claude", "codex", "gemini", "ohMyPi"] as const) {
      PolicyWords.read(words, root, { ...from, path: "/etc/codex/requirements.toml" })
    }
  })

  // what took more than that would not end within the time that a test has
  it("is read in linear time", () => {
    const long = (text: string): string => text.repeat(100_000)
    for (const text of [long("{"), long("{a"), long(":"), long("${"), long("-"), long("@a/"), long("a.")]) {
      const input = { name: text, value: text, variables: { a: {} } }
      Registry.options(tableOf(json({
        name: text,
        packages: ["npm", "pypi", "oci", "nuget"].map((registryType) => ({
          registryType,
          identifier: text,
          version: text,
          registryBaseUrl: text,
          packageArguments: [{ ...input, type: "named" }]
        })),
        remotes: [{ type: "sse", url: text, headers: [input] }]
      })))
    }
  })

  it("leaves out what nobody has to say, and tells that it can be said", () => {
    const [option] = Registry.options(tableOf(json({
      name: "a/b",
      packages: [{
        registryType: "npm",
        identifier: "b",
        version: "1.0.0",
        environmentVariables: [{ name: "LOG_FILE", description: "Where to write" }, { name: "TOKEN", isSecret: true }]
      }]
    })))
    assert.deepStrictEqual(option?.optional, [
      { at: "env.LOG_FILE", description: "Where to write", secret: false },
      { at: "env.TOKEN", description: undefined, secret: true }
    ])
    const { args, env } = optionOf(option!)
    assert.deepStrictEqual([args, env], [["-y", "b@1.0.0"], undefined])
  })

  it("asks what the document asks, with its choices, and knows what is secret by the field it is for", () => {
    const [option] = Registry.options(tableOf(json({
      name: "a/b",
      remotes: [{
        type: "sse",
        url: "https://{region}.example.com",
        variables: { region: { description: "Where", choices: ["us", "eu"], default: "eu" } },
        headers: [{ name: "X-Key", value: "{key}{unknown}", isSecret: true, variables: { key: { default: "a}b" } } }]
      }]
    })))
    assert.deepStrictEqual(option?.inputs, [
      { id: "region", description: "Where", secret: false, default: "eu", choices: ["us", "eu"] },
      { id: "key", description: undefined, secret: true, default: "a}b", choices: undefined }
    ])
    const { headers, transport, url } = optionOf(option!)
    assert.deepStrictEqual([transport, url], ["sse", "https://${input:region:-eu}.example.com"])
    assert.deepStrictEqual(headers, { "X-Key": "${input:key}{unknown}" })
  })

  it("never has the host's trust in a name for a switch, but what it rejects is off", () => {
    const root = tableOf(json({
      enableAllProjectMcpServers: true,
      enabledMcpjsonServers: ["yes"],
      disabledMcpjsonServers: ["no"]
    }))
    const decoded = Reader.decode(Dialect.find("claude-code")!, root, {
      scope: "project",
      origin: "workspace",
      path: undefined
    })
    assert.deepStrictEqual(decoded.switches, { off: ["no"], on: [] })
  })

  it("is about the servers of that host where it allows, and about all of them where it denies", () => {
    const amp = PolicyWords.read(
      "amp",
      tableOf(json({ "amp.mcpPermissions": [{ matches: { command: "*" }, action: "reject" }] })),
      { ...from, provider: "amp" }
    )
    const gemini = PolicyWords.read("gemini", tableOf(json({ mcp: { allowed: ["b"], excluded: ["c"] } })), {
      ...from,
      provider: "gemini-cli"
    })
    const decide = (name: string, provider: string, scope: Scope.Scope = "user") =>
      ServerPolicy.decide(
        [amp, gemini].flatMap(({ policy }) => policy === undefined ? [] : { ...policy, scope, origin: "home" }),
        { name, argv: ["x"], url: undefined, fingerprint: undefined, provider }
      )
    assert.strictEqual(decide("a", "cursor"), "allowed")
    assert.strictEqual(decide("a", "amp"), "denied")
    assert.strictEqual(decide("a", "gemini-cli"), "not-allowed")
    assert.strictEqual(decide("b", "gemini-cli"), "allowed")
    assert.strictEqual(decide("c", "cursor"), "denied")
    assert.strictEqual(decide("a", "cursor", "managed"), "denied")
  })
})
