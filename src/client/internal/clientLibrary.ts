/**
 * What is used of `@modelcontextprotocol/client`, so that a bundle has nothing else of it.
 *
 * @internal
 */
export { Client } from "@modelcontextprotocol/client"
