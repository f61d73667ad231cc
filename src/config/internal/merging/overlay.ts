/**
 * @internal
 */
import type * as ConfigDocument from "../../ConfigDocument.ts"
import type * as ConfigEntry from "../../ConfigEntry.ts"

/**
 * Whether the file says it, where decoding has filled in what it did not say.
 *
 * @internal
 */
export const saysEnabled = (raw: ConfigDocument.Value): boolean =>
  raw instanceof Map && ["enabled", "disabled", "isDisabled"].some((key) => raw.has(key))

const map = <Value>(
  weak: ReadonlyMap<string, Value> | undefined,
  strong: ReadonlyMap<string, Value> | undefined
): ReadonlyMap<string, Value> | undefined =>
  weak === undefined ? strong : strong === undefined ? weak : new Map([...weak, ...strong])

const fields = <Fields extends object>(weak: Fields | undefined, strong: Fields | undefined): Fields | undefined => {
  if (weak === undefined || strong === undefined) return strong ?? weak
  return { ...weak, ...present(strong) }
}

/** Without the fields that are there and say nothing, which would hide those of the weaker entry. It stays what it was. */
const present = <Fields extends object>(entry: Fields): Fields =>
  Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined)) as Fields

const login = (
  weak: false | ConfigEntry.OAuth | undefined,
  strong: false | ConfigEntry.OAuth | undefined
): false | ConfigEntry.OAuth | undefined => strong === false || weak === false ? strong ?? weak : fields(weak, strong)

/** Where a login leads, and what it is shown to. */
const endpoints = ["issuer", "authServerMetadataUrl", "redirectUri", "clientMetadataUrl", "resource"] as const

/** Whether whoever logs in goes to where the weaker entry says. */
const sameLogin = (weak: ConfigEntry.RemoteEntry["oauth"], strong: ConfigEntry.RemoteEntry["oauth"]): boolean =>
  !weak || !strong || endpoints.every((field) => strong[field] === undefined || strong[field] === weak[field])

/** Whether both start the same program with the same words in the same folder, or reach and log in at the same address. */
const sameTarget = (weak: ConfigEntry.ConfigEntry, strong: ConfigEntry.ConfigEntry): boolean => {
  if (weak.transport === "stdio" || strong.transport === "stdio") {
    return weak.transport === "stdio" && strong.transport === "stdio" && weak.command === strong.command &&
      weak.args.length === strong.args.length && weak.args.every((arg, at) => arg === strong.args[at]) &&
      // the same words in another folder are another program
      (strong.cwd === undefined || strong.cwd === weak.cwd)
  }
  return weak.url === strong.url && sameLogin(weak.oauth, strong.oauth)
}

/** What is given to a target, and what a target may do: none of it follows to another one. */
const credentials = [
  "headers",
  "oauth",
  "env",
  "headersCommand",
  "envFile",
  "inheritEnv",
  "autoApprove"
] as const

type Credential = typeof credentials[number]

const credential = (entry: ConfigEntry.ConfigEntry, field: Credential): unknown => {
  if (field === "autoApprove") return entry.tools?.autoApprove
  return new Map<string, unknown>(Object.entries(entry)).get(field)
}

/** Whether the weaker entry has something there that the stronger one does not say for itself. */
const lost = (weak: unknown, strong: unknown): boolean => {
  if (weak === undefined || weak === false) return false
  if (weak instanceof Map) {
    return Array.from(weak.keys()).some((key) => !(strong instanceof Map && strong.has(key)))
  }
  return strong === undefined
}

/** What is said about a server, and not to it. */
const use = (weak: ConfigEntry.ConfigEntry, strong: ConfigEntry.ConfigEntry, strongRaw: ConfigDocument.Value) => ({
  enabled: saysEnabled(strongRaw) ? strong.enabled : weak.enabled,
  required: strong.required ?? weak.required,
  lazy: strong.lazy ?? weak.lazy,
  title: strong.title ?? weak.title,
  description: strong.description ?? weak.description,
  protocol: strong.protocol ?? weak.protocol,
  timeouts: fields(weak.timeouts, strong.timeouts),
  extra: map(weak.extra, strong.extra)
})

/** Which tools there are is said about a server; which of them need no approval was said of this very one. */
const tools = (
  weak: ConfigEntry.Tools | undefined,
  strong: ConfigEntry.Tools | undefined,
  same: boolean
): ConfigEntry.Tools | undefined => {
  if (same || weak === undefined) return fields(weak, strong)
  const { approval: _, autoApprove: __, ...visible } = weak
  return fields(Object.keys(visible).length === 0 ? undefined : visible, strong)
}

/** @internal */
export interface Overlaid {
  readonly entry: ConfigEntry.ConfigEntry
  readonly dropped: ReadonlyArray<string>
}

/**
 * An entry laid over a weaker one, field by field. Where it leads elsewhere, what was meant for the old target stays
 * behind: a project must not get a person's token by changing an address.
 *
 * @internal
 */
export const overlay = (
  weak: ConfigEntry.ConfigEntry,
  strong: ConfigEntry.ConfigEntry,
  strongRaw: ConfigDocument.Value
): Overlaid => {
  const same = sameTarget(weak, strong)
  const entry = same ? over(weak, strong) : strong
  return {
    entry: present({
      ...entry,
      ...use(weak, strong, strongRaw),
      tools: tools(weak.tools, strong.tools, same)
    }),
    dropped: same
      ? []
      : credentials.filter((field) => lost(credential(weak, field), credential(strong, field)))
  }
}

const over = (weak: ConfigEntry.ConfigEntry, strong: ConfigEntry.ConfigEntry): ConfigEntry.ConfigEntry => {
  if (strong.transport === "stdio") {
    if (weak.transport !== "stdio") return strong
    return {
      ...strong,
      env: map(weak.env, strong.env),
      envFile: strong.envFile ?? weak.envFile,
      inheritEnv: strong.inheritEnv ?? weak.inheritEnv,
      cwd: strong.cwd ?? weak.cwd
    }
  }
  if (weak.transport === "stdio") return strong
  return {
    ...strong,
    headers: map(weak.headers, strong.headers),
    headersCommand: strong.headersCommand ?? weak.headersCommand,
    env: map(weak.env, strong.env),
    oauth: login(weak.oauth, strong.oauth)
  }
}
