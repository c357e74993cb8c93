/**
 * Bundles each action into the one file that GitHub runs, with all that it needs. Releases build them into their tag, so that the
 * sources have no generated code.
 */
import { statSync } from "node:fs"
import { join } from "node:path"
import { build, type Plugin } from "rolldown"

const here = import.meta.dirname

const actions = { "start-run": "StartRun", "upload-package": "UploadPackage" }

/** Bytes. */
const budget = 1_100_000

/** Rolldown leaves out what `export *` of a CommonJS module exports, which is how `@effect/platform-node` hands undici on. */
const undici: Plugin = {
  name: "undici",
  resolveId(source, importer) {
    return source === "./Undici.js" ? this.resolve("undici", importer) : null
  }
}

for (const [name, module] of Object.entries(actions)) {
  const file = join(here, name, "dist/index.js")
  await build({
    platform: "node",
    logLevel: "warn",
    input: join(here, "src", `${module}.ts`),
    plugins: [undici],
    // Its clients of other services stay out.
    treeshake: { moduleSideEffects: [{ test: /@actions\//, sideEffects: false }] },
    output: { file, format: "esm", minify: true, codeSplitting: false }
  })
  const { size } = statSync(file)
  console.log(`${name}: ${size} bytes`)
  if (size > budget) throw new Error(`${file} has ${size} bytes, the budget is ${budget}`)
}
