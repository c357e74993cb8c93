/**
 * Assembles what is published from what `tsc` has built: the public modules with what they import, and the bundled command.
 */
import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { bundleCommand } from "./bundle.ts"

const here = import.meta.dirname
const built = join(here, ".tsbuildinfo/out")
const dist = join(here, "dist")

const { exports }: { readonly exports: Readonly<Record<string, string>> } = JSON.parse(
  readFileSync(join(here, "package.json"), "utf8")
)

const copied = new Set<string>()

/** Copies a module, its types, and what it imports from this package. */
const copy = (module: string) => {
  if (copied.has(module)) return
  copied.add(module)
  for (const file of [`${module}.js`, `${module}.d.ts`]) {
    const target = join(dist, relative(built, file))
    mkdirSync(dirname(target), { recursive: true })
    copyFileSync(file, target)
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

copy(join(built, "internal/Compiled"))
cpSync(join(here, "../../deploy"), join(dist, "deploy"), { recursive: true })
// Half as large without its spaces; nobody edits it by hand.
const dashboard = join(dist, "deploy/grafana/signalbox.json")
writeFileSync(dashboard, JSON.stringify(JSON.parse(readFileSync(dashboard, "utf8"))))
// Without links: a file that a template has from elsewhere is copied.
cpSync(join(here, "templates"), join(dist, "templates"), { recursive: true, dereference: true })
await bundleCommand(dist, "js")
