/**
 * What a manifest is once it is packed. In the repository packages export their TypeScript, which Node runs as it is; users get what
 * was built from it. What is the same for all stands in the manifest of the repository.
 */
import { readFileSync } from "node:fs"
import { join, relative } from "node:path"

const root = import.meta.dirname
const { bugs, homepage, license, repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

const built = (target) => {
  if (typeof target !== "string" || !target.endsWith(".ts")) return target
  const file = target.replace("./src/", "./dist/").slice(0, -".ts".length)
  return { types: `${file}.d.ts`, default: `${file}.js` }
}

const beforePacking = ({ devDependencies: _, scripts: __, ...manifest }, folder) => ({
  ...manifest,
  license,
  homepage,
  bugs,
  repository: { ...repository, directory: relative(root, folder) },
  exports: Object.fromEntries(Object.entries(manifest.exports).map(([path, target]) => [path, built(target)]))
})

export const hooks = { beforePacking }
