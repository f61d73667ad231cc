/**
 * What was made of texts that come again and again.
 *
 * @internal
 */

/**
 * Makes it once for each text, and keeps what was made of so many: a stranger's texts, of which none comes again, only
 * make it slower. What is made of no text is `null`.
 *
 * @internal
 */
export const remembering = <A extends NonNullable<unknown> | null>(
  most: number,
  make: (text: string) => A
): (text: string) => A => {
  const known = new Map<string, A>()
  return (text) => {
    const before = known.get(text)
    if (before !== undefined) return before
    if (known.size >= most) known.clear()
    const made = make(text)
    known.set(text, made)
    return made
  }
}
