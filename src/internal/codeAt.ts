/**
 * The characters of a text by their places.
 *
 * @internal
 */

const { charCodeAt } = String.prototype

/**
 * What `text.charCodeAt(at)` is, for loops over texts from anywhere. V8 looks methods of texts up by how each text lies
 * in memory: after five ways, which come soon, each call of the method takes five times as long. This is not looked up.
 *
 * @internal
 */
export const codeAt = (text: string, at: number): number => charCodeAt.call(text, at)
