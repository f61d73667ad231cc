/**
 * Names of tools that models accept: qualified by the server, of few characters, short, and never two for one.
 *
 * @since 0.1.0
 */

/**
 * `mcp__server__tool` or `mcp_server_tool`.
 *
 * @since 0.1.0
 * @category models
 */
export type Style = "double" | "single"
