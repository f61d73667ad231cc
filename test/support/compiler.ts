/** The compiler over programs that use the package's declarations, under strict options. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { entryPoints, run } from "../package/project.ts"
import * as Built from "./built.ts"

/** The errors of the compiler over the programs in this folder. */
export const errorsIn = async (folder: string): Promise<ReadonlyArray<string>> => {
  const types = await Built.modules()
  const paths = Array.from(entryPoints, ([specifier, path]) => [
    specifier,
    [join(types, path.replace(/\.ts$/, ".d.ts"))]
  ])
  const compilerOptions = {
    target: "ES2022",
    lib: ["ES2023"],
    module: "ESNext",
    moduleResolution: "Bundler",
    moduleDetection: "force",
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    noEmit: true,
    types: ["node"],
    paths: Object.fromEntries(paths)
  }
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions }))
  const { stdout } = await run("tsc", ["-p", folder, "--pretty", "false"], { cwd: folder })
  return stdout.split("\n").filter((line) => line.includes("error TS"))
}
