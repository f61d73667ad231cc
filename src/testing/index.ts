/** Servers in memory for tests, with faults: the entry point `effect-mcp-runtime/testing`. */
export * as Faults from "./Faults.ts"
export * as MemoryServer from "./MemoryServer.ts"
export * as MemoryTransport from "./MemoryTransport.ts"
