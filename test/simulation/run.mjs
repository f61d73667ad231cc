/** Runs histories from the command line: `npm run simulate -- --seeds 1000`, `npm run simulate -- --seed 123`. */
import { compile } from "./compile.mjs"

const { remove, url } = compile()
process.on("exit", remove)
await import(url("main"))
