export interface Command {
  readonly line: string
  readonly output: string | undefined
}

export interface Block {
  readonly language: string
  readonly code: string
  /** The name that a reader saves it under, and the output that the page shows below it. */
  readonly file?: string
  readonly output?: string | undefined
  readonly commands: ReadonlyArray<Command>
}

export const blocks: (markdown: string) => ReadonlyArray<Block>

export const missing: (shown: string, written: string) => string | undefined
