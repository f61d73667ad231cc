/**
 * Names of tools that models accept: qualified by the server, of few characters, short, and never two for one.
 *
 * @since 0.1.0
 */
import * as internal from "./internal/qualifiedName.ts"

/**
 * `mcp__server__tool` or `mcp_server_tool`.
 *
 * @since 0.1.0
 * @category models
 */
export type Style = "double" | "single"

/**
 * What a tool is, whatever its name looks like to a model.
 *
 * @since 0.1.0
 * @category models
 */
export interface Identity {
  readonly server: string
  readonly tool: string
}

/**
 * The name of a tool for a model: `^[a-zA-Z0-9_-]{1,64}$`, a function of nothing but the identity and the style, and
 * different for different identities.
 *
 * An identity that fits is written as it is. One that does not (other characters, too long, or a server in which the
 * separator could be found) is written as well as it goes and ends in a hash of the identity. In the single style `_`
 * within a server is written `__`. Upper and lower case are told apart.
 *
 * @since 0.1.0
 * @category constructors
 */
export const qualify: (server: string, tool: string, style: Style) => string = internal.qualify

/**
 * What a name of either style seems to say, for a name that a model or a person made up: a guess to look something up
 * with, never an identity to decide on. Reads back what `qualify` wrote as it is, and nothing that ends in a hash.
 *
 * @since 0.1.0
 * @category combinators
 */
export const parse: (name: string) => Identity | undefined = internal.parse
