/** @internal */

/**
 * Requests that a server may see twice without harm: they read, or their second time changes nothing. A tool call is
 * not among them, and neither is what we do not know.
 */
const methods: ReadonlySet<string> = new Set([
  "completion/complete",
  "initialize",
  "logging/setLevel",
  "ping",
  "prompts/get",
  "prompts/list",
  "resources/list",
  "resources/read",
  "resources/subscribe",
  "resources/templates/list",
  "resources/unsubscribe",
  "server/discover",
  "subscriptions/listen",
  "tasks/cancel",
  "tasks/get",
  "tasks/list",
  "tasks/result",
  "tools/list"
])

/** @internal */
export const is = (method: string): boolean => methods.has(method)
