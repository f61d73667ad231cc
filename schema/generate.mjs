// Writes the JSON Schema of the native format, which editors read, from the one that the code has (npm run schema).
import { writeFileSync } from "node:fs"
import { jsonSchema } from "../dist/config/nativeDocument.js"

writeFileSync(new URL("mcp-client.schema.json", import.meta.url), `${JSON.stringify(jsonSchema(), null, 2)}\n`)
