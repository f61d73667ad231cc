const special = /[\s"'`$&|;<>()*?[\]{}!#~\\^]/

/**
 * A text as one word of a shell, in quotes only where it needs them.
 *
 * @internal
 */
export const shellWord = (text: string): string =>
  text === "" || special.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : text
