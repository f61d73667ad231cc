/** What is known of a server that does not work, beside the error. */
import type * as ServerConfig from "../config/ServerConfig.ts"

export type Step =
  | "config"
  | "trust"
  | "variables"
  | "connect"
  | "initialize"
  | "list"
  | "ping"
  | "close"
  | "leaks"
  | "lint"

/** What is known beside the error. */
export interface Facts {
  readonly step: Step
  readonly config: ServerConfig.ServerConfig
  /** Where the server's command is looked for. */
  readonly folders: ReadonlyArray<string>
  /** Whether the folder that it is to be started in is there. */
  readonly hasFolder: boolean
  /** The first thing on its standard output that was no message. */
  readonly noise: string | undefined
  readonly stderr: string | undefined
}

export interface Cause {
  readonly cause: string
  readonly hint: string | undefined
}
