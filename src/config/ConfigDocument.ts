/** The old path of `document.ts`, until the readers are rewritten. */
export * from "./document.ts"
export type { Document as ConfigDocument } from "./document.ts"
