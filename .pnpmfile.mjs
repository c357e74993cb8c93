/**
 * What a manifest is once it is packed. In the repository packages export their TypeScript, which Node runs as it is; users get what
 * was built from it. What is the same for all stands in the manifest of the repository.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"

const root = import.meta.dirname
const { bugs, homepage, license, repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

const built = (target) => {
  if (typeof target !== "string" || !target.endsWith(".ts")) return target
  const file = target.replace("./src/", "./dist/").slice(0, -".ts".length)
  return { types: `${file}.d.ts`, default: `${file}.js` }
}

/** Declarations of internal modules that no public one mentions, which were a third of all files. */
const unmentioned = (exports, folder) => {
  // Without `globSync`, which the Node that starts pnpm need not have.
  const dist = join(folder, "dist")
  const names = existsSync(dist) ? readdirSync(dist, { recursive: true }) : []
  const all = names.filter((name) => name.endsWith(".d.ts")).map((name) => join("dist", name))
  const rest = new Set(all)
  const keep = (file) => {
    if (!rest.delete(file)) return
    const text = readFileSync(join(folder, file), "utf8")
    for (const [, path] of text.matchAll(/["'](\.{1,2}\/[^"'\n]+)\.[jt]s["']/g))
      keep(`${join(dirname(file), path)}.d.ts`)
  }
  for (const target of Object.values(exports)) {
    if (target?.types === undefined) continue
    const [before, after] = target.types.slice("./".length).split("*")
    if (after === undefined) keep(before)
    else {
      const fits = (file) => file.startsWith(before) && !file.slice(before.length, -after.length).includes("/")
      all.filter((file) => fits(file) && file.endsWith(after)).forEach(keep)
    }
  }
  return [...rest]
}

const beforePacking = ({ devDependencies: _, scripts: __, ...manifest }, folder) => {
  const exports = Object.fromEntries(Object.entries(manifest.exports).map(([path, target]) => [path, built(target)]))
  return {
    ...manifest,
    license,
    homepage,
    bugs,
    repository: { ...repository, directory: relative(root, folder) },
    exports,
    files: [...manifest.files, ...unmentioned(exports, folder).map((file) => `!${file}`)]
  }
}

export const hooks = { beforePacking }
