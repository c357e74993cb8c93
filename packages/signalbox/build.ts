/**
 * Assembles what is published from what `tsc` has built: the public modules with what they import, and the bundled command.
 */
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { cp } from "node:fs/promises"
import { basename, dirname, join, relative } from "node:path"
import { parseSync } from "rolldown/utils"
import { bundleCommand } from "./bundle.ts"

const here = import.meta.dirname
const built = join(here, ".tsbuildinfo/out")
const dist = join(here, "dist")

const { exports }: { readonly exports: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(join(here, "package.json"), "utf8")
)

const copied = new Set<string>()

/** A module without its JSDoc, which its types have. */
const withoutDocumentation = (path: string) => {
  const code = readFileSync(path, "utf8")
  const documentation = parseSync(path, code).comments.filter(({ type, value }) => type === "Block" && value[0] === "*")
  return documentation.reduceRight((text, { end, start }) => text.slice(0, start) + text.slice(end).trimStart(), code)
}

/** Copies a module, its types, and what it imports from this package. */
const copy = (module: string) => {
  if (copied.has(module)) return
  copied.add(module)
  for (const file of [`${module}.js`, `${module}.d.ts`]) {
    const target = join(dist, relative(built, file))
    mkdirSync(dirname(target), { recursive: true })
    if (file.endsWith(".js")) writeFileSync(target, withoutDocumentation(file))
    else copyFileSync(file, target)
    for (const [, path = ""] of readFileSync(file, "utf8").matchAll(/(?:from |import\()"(\.[^"]+)\.[jt]s"/g)) {
      copy(join(dirname(file), path))
    }
  }
}

rmSync(dist, { recursive: true, force: true })
for (const source of Object.values(exports)) {
  if (source.endsWith(".ts")) copy(join(built, source.replace("./src/", "").replace(/\.ts$/, "")))
}
for (const file of ["bin.js", "bin.d.ts"]) copyFileSync(join(built, file), join(dist, file))

copy(join(built, "internal/process/CompileCache"))
// The dashboard of Grafana is half of all of them.
cpSync(join(here, "../../deploy"), join(dist, "deploy"), {
  recursive: true,
  filter: (path) => basename(path) !== "grafana"
})
// Without links, which a package cannot have: a file that a template has from elsewhere is copied. `cpSync` leaves links as they are.
await cp(join(here, "templates"), join(dist, "templates"), { recursive: true, dereference: true })
await bundleCommand(dist, "js")
