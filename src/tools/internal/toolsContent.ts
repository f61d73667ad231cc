import { sha256 } from "../../json/canonical.ts"
import type * as Tool from "../Tool.ts"

/**
 * What a list of tools says, whatever the order in which it says it.
 *
 * @internal
 */
export interface ToolsContent {
  /** Differs if anything about the tools differs, or about those that cannot be offered. */
  readonly identity: string
  /** The definitions without their annotations, as JSON. */
  readonly json: string
  /** Differs if `json` differs. */
  readonly jsonHash: string
}

/**
 * Nothing if the definitions cannot be written as JSON again: a server may have nested them as deep as it likes.
 *
 * @internal
 */
export const toolsContent = (
  tools: ReadonlyArray<Tool.Tool>,
  rejected: ReadonlyArray<Tool.RejectedTool>
): ToolsContent | undefined => {
  const sorted = tools.toSorted((a, b) => a.name < b.name ? -1 : 1)
  try {
    const json = JSON.stringify(sorted.map(({ raw }) => withoutAnnotations(raw)))
    const jsonHash = sha256(json)
    const rest = JSON.stringify([sorted.map(({ raw }) => raw["annotations"] ?? null), rejected])
    return { identity: sha256(`${jsonHash}${rest}`), json, jsonHash }
  } catch {
    return undefined
  }
}

/** @internal */
export const withoutAnnotations = (raw: Tool.Tool["raw"]): Tool.Tool["raw"] => {
  if (!Object.hasOwn(raw, "annotations")) return raw
  const { annotations: _, ...rest } = raw
  return rest
}
