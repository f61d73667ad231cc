/**
 * The notifications that an SDK client which shares a connection with us needs to hear; the rest are for our own readers.
 *
 * @internal
 */
export const hears: ReadonlySet<string> = new Set([
  "notifications/cancelled",
  "notifications/progress",
  "notifications/tasks/status",
  "notifications/elicitation/complete"
])
