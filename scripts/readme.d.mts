export interface Command {
  readonly line: string
  readonly output: string | undefined
}

export interface Block {
  readonly language: string
  readonly code: string
  readonly commands: ReadonlyArray<Command>
}

export const blocks: (markdown: string) => ReadonlyArray<Block>

export const missing: (shown: string, written: string) => string | undefined
