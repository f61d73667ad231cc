/**
 * What is said where something was left out.
 *
 * @internal
 */
export interface LeftOut {
  readonly chars: number
  readonly tokens: number
  readonly offset: number
  readonly spilled: string | undefined
}

const readingWith = (tool: string | undefined): string => tool === undefined ? "" : `, to be read with ${tool}`

/** @internal */
export const middle = ({ chars, offset, spilled, tokens }: LeftOut, tool: string | undefined): string => {
  const where = spilled === undefined
    ? "It was not kept."
    : `All of it is kept as ${spilled}${readingWith(tool)}; what is left out begins at offset ${offset}.`
  return `[... ${chars} characters, about ${tokens} tokens, are left out here. ${where} ...]`
}

/** @internal */
export const end = (handle: string, next: number, tool: string | undefined): string =>
  `[... ${handle} goes on at offset ${next}${readingWith(tool)}. ...]`
