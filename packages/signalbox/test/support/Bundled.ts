/** Bundles programs for browsers, as their users would. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { build } from "rolldown"

/** Writes files into a folder within the package, so that imports are found; `bundle` bundles one of them. */
export const bundling = (name: string, files: Readonly<Record<string, string>>) => {
  const folder = join(import.meta.dirname, "..", "..", `.bundle-${name}`)
  mkdirSync(folder, { recursive: true })
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
  return {
    bundle: async (input: string, { minify = false } = {}) => {
      const warnings: Array<string> = []
      const { output } = await build({
        input: join(folder, input),
        platform: "browser",
        output: { minify },
        write: false,
        onwarn: ({ message }) => void warnings.push(message)
      })
      const [chunk] = output
      return {
        code: chunk.code,
        /** In bytes. */
        gzipped: gzipSync(chunk.code).length,
        imports: [...chunk.imports, ...chunk.dynamicImports],
        warnings
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true })
  }
}
