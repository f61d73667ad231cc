/**
 * @internal
 */
import type * as ConfigIssue from "../ConfigIssue.ts"
import type * as Dialect from "../Dialect.ts"

/** @internal */
export const all: ReadonlyArray<Dialect.Dialect> = []
/** @internal */
export const explain = (kind: ConfigIssue.Kind, _: { readonly host: string }): string => kind
