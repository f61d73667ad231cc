/**
 * @internal
 */
import * as Scope from "../../Scope.ts"
import type * as ServerConfig from "../../ServerConfig.ts"
import type * as ServerPolicy from "../../ServerPolicy.ts"
import { matches, see, type Seen, type Side } from "./matcher.ts"

/** What a rule is about, if it is about how a server is started or reached. */
const kind = ({ _tag }: ServerPolicy.Matcher): "argv" | "url" | undefined => {
  switch (_tag) {
    case "Command":
    case "CommandLine":
    case "Program":
      return "argv"
    case "Url":
      return "url"
    case "Name":
    case "Fingerprint":
      return undefined
  }
}

/** Whether a rule has a say: one that allows by a name alone has none where an identity is required. */
const counts = ({ requireIdentity }: ServerPolicy.Policy, side: Side, { _tag }: ServerPolicy.Matcher): boolean =>
  requireIdentity !== true || side === "deny" || _tag !== "Name"

/** A name is no protection, so it counts only where a list says nothing better about servers of this kind, if at all. */
const admitted = (policy: ServerPolicy.Policy, seen: Seen): boolean => {
  const { allow } = policy
  if (allow.length === 0) return true
  const byName = !allow.some((matcher) => {
    const about = kind(matcher)
    return about !== undefined && seen[about] !== undefined
  })
  return allow.some((matcher) =>
    (byName || matcher._tag !== "Name") && counts(policy, "allow", matcher) && matches(matcher, "allow", seen)
  )
}

const identified = (policy: ServerPolicy.Policy, seen: Seen): boolean => {
  if (policy.identities === undefined) return true
  const identity = policy.identities.get(seen.name)
  return identity !== undefined && counts(policy, "allow", identity) && matches(identity, "allow", seen)
}

/**
 * Whether what it allows is the whole for this server too: a host's own lists are about the servers of that host, and
 * only an administrator and our own files speak of all of them. What anybody denies is denied.
 */
const concerns = (policy: ServerPolicy.Policy, { provider }: Seen): boolean =>
  policy.scope === "managed" || policy.origin === "code" || policy.provider === "native" || provider === undefined ||
  policy.provider === provider

const denies = (policy: ServerPolicy.Policy, seen: Seen): boolean =>
  policy.deny.some((matcher) => matches(matcher, "deny", seen)) ||
  (concerns(policy, seen) &&
    policy.ordered.find(({ action, matcher }) => counts(policy, action, matcher) && matches(matcher, action, seen))
        ?.action === "deny")

const isManaged = ({ origin, scope }: ServerPolicy.Policy): boolean => scope === "managed" && Scope.rights(origin).allow

/** @internal */
export const decide = (
  policies: ReadonlyArray<ServerPolicy.Policy>,
  subject: ServerPolicy.Subject
): ServerPolicy.Decision => {
  if (policies.length === 0) return "allowed"
  const seen = see(subject)
  if (policies.some((policy) => policy.broken || denies(policy, seen))) return "denied"
  const managedOnly = policies.some((policy) => policy.managedOnly && isManaged(policy))
  return policies.every((policy) =>
      !concerns(policy, seen) || (managedOnly && !isManaged(policy)) ||
      (admitted(policy, seen) && identified(policy, seen))
    )
    ? "allowed"
    : "not-allowed"
}

/**
 * Whether it would be allowed if a name were an identity.
 *
 * @internal
 */
export const byNameAlone = (
  policies: ReadonlyArray<ServerPolicy.Policy>,
  subject: ServerPolicy.Subject
): boolean =>
  policies.some(({ requireIdentity }) => requireIdentity === true) && decide(policies, subject) !== "allowed" &&
  decide(policies.map((policy) => ({ ...policy, requireIdentity: false })), subject) === "allowed"

const gateway = ({ args = [], command, profile, servers }: ServerConfig.DockerServer): ReadonlyArray<string> => [
  command,
  "mcp",
  "gateway",
  "run",
  ...(profile === undefined ? [] : ["--profile", profile]),
  ...(servers === undefined ? [] : ["--servers", servers.join(",")]),
  ...args
]

const argv = (config: ServerConfig.ServerConfig): ReadonlyArray<string> | undefined => {
  switch (config.transport) {
    case "stdio":
      return [config.command, ...(config.args ?? [])]
    case "docker":
      return gateway(config)
    case "streamable-http":
    case "sse":
    case "ws":
      return undefined
  }
}

/** @internal */
export const subject = (config: ServerConfig.ServerConfig, fingerprint?: string): ServerPolicy.Subject => ({
  name: config.name,
  argv: argv(config),
  url: "url" in config ? config.url : undefined,
  fingerprint,
  provider: config.provenance?.provider
})
