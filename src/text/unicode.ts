const ascii = /^[\u0000-\u007f]*$/

/** Folds case. Upper case comes in between because `ẞ` and `ß`, or `Σ`, `σ` and `ς`, are equal only after that. */
export const caseFolded = (text: string): string =>
  ascii.test(text) ? text.toLowerCase() : text.toLowerCase().toUpperCase().toLowerCase().replaceAll("ς", "σ")
