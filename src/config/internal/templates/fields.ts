/**
 * The texts of a configuration that can be templates, and the configuration with others in their place.
 *
 * @internal
 */
import * as Redacted from "effect/Redacted"
import type * as Interpolation from "../../Interpolation.ts"
import type * as ServerConfig from "../../ServerConfig.ts"

/** @internal */
export interface Text {
  /** `command`, `args.0`, `env.TOKEN`. */
  readonly at: string
  readonly field: Interpolation.Field
  readonly template: string
}

/**
 * What takes the place of a text; `undefined`: the field is left out.
 *
 * @internal
 */
export type Replace = (text: Text) => string | undefined

type Secrets = ReadonlyMap<string, Redacted.Redacted>
type OAuth = NonNullable<ServerConfig.HttpServer["oauth"]>

const loginTemplates = ["clientId", "clientMetadataUrl", "issuer", "resource", "authServerMetadataUrl"] as const

/** @internal */
export const map = (config: ServerConfig.ServerConfig, replace: Replace): object => {
  const one = (at: string, field: Interpolation.Field, template: string | undefined): string | undefined =>
    template === undefined ? undefined : replace({ at, field, template })
  const list = (at: string, texts: ReadonlyArray<string> | undefined, first: Interpolation.Field = "argument") =>
    texts?.map((text, index) => one(`${at}.${index}`, index === 0 ? first : "argument", text))
  const secrets = (at: string, field: Interpolation.Field, texts: Secrets | undefined): Secrets | undefined => {
    if (texts === undefined) return undefined
    const replaced = new Map<string, Redacted.Redacted>()
    for (const [name, text] of texts) {
      const value = one(`${at}.${name}`, field, Redacted.value(text))
      if (value !== undefined) replaced.set(name, Redacted.make(value))
    }
    return replaced
  }
  const login = (oauth: OAuth | undefined): unknown => {
    if (oauth === undefined || oauth === false) return oauth
    const { clientSecret, ...rest } = oauth
    const secret = clientSecret === undefined
      ? undefined
      : one("oauth.clientSecret", "header", Redacted.value(clientSecret))
    const texts = loginTemplates.map((key) => [key, one(`oauth.${key}`, "header", oauth[key])])
    return defined({
      ...rest,
      ...Object.fromEntries(texts),
      clientSecret: secret === undefined ? undefined : Redacted.make(secret)
    })
  }

  switch (config.transport) {
    case "stdio":
      return defined({
        ...config,
        command: one("command", "command", config.command),
        args: list("args", config.args),
        env: secrets("env", "argument", config.env),
        envFile: one("envFile", "argument", config.envFile),
        cwd: one("cwd", "cwd", config.cwd)
      })
    case "docker":
      return defined({
        ...config,
        command: one("command", "command", config.command),
        args: list("args", config.args),
        env: secrets("env", "argument", config.env),
        profile: one("profile", "argument", config.profile),
        servers: list("servers", config.servers)
      })
    default:
      return defined({
        ...config,
        url: one("url", "url", config.url),
        headers: secrets("headers", "header", config.headers),
        headersCommand: list("headersCommand", config.headersCommand, "command"),
        oauth: login(config.oauth)
      })
  }
}

const defined = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

/** @internal */
export const all = (config: ServerConfig.ServerConfig): ReadonlyArray<Text> => {
  const texts: Array<Text> = []
  map(config, (text) => {
    texts.push(text)
    return text.template
  })
  return texts
}
