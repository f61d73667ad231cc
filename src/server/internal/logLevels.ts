/** How much a caller wants to be told. */
import type * as JsonRpc from "../../transport/JsonRpc.ts"
import type * as McpServer from "../McpServer.ts"

const levels: ReadonlyArray<McpServer.LogLevel> = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency"
]

/** @internal */
export const read = (value: unknown): McpServer.LogLevel | undefined => levels.find((level) => level === value)

/** @internal */
export const isWanted = (level: McpServer.LogLevel, least: McpServer.LogLevel | undefined): boolean =>
  least !== undefined && levels.indexOf(level) >= levels.indexOf(least)

/** @internal */
export const params = ({ data, level, logger }: McpServer.LogMessage): JsonRpc.JsonObject =>
  logger === undefined ? { level, data } : { level, logger, data }
