/**
 * Since which version each export of the clients is there: `since.json` of their packages has the names, by version and module; `next` is
 * the version that comes, which `versions.ts` puts in its place. With `--write`, adds what is new; without it, says what is missing, and
 * what is in the table but exported no more.
 *
 *     node tooling/src/since.ts --write
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { API } from "typescript/unstable/sync"

const root = join(import.meta.dirname, "../..")
const packages = ["api", "graph"]

/** Names by module, in one text, and these by version. */
type Table = Readonly<Record<string, Readonly<Record<string, string>>>>

/** The modules that a package exports by name; patterns are for what the packages use among themselves. */
const modulesOf = (folder: string): ReadonlyArray<readonly [module: string, file: string]> => {
  const { exports }: { readonly exports: Readonly<Record<string, string>> } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8")
  )
  return Object.entries(exports).flatMap(([module, file]) =>
    file.endsWith(".ts") && !module.includes("*") ? [[module, join(folder, file)] as const] : []
  )
}

/** The names that each module exports now. */
const exportsOf = (folder: string): ReadonlyMap<string, ReadonlyArray<string>> => {
  const place = mkdtempSync(join(folder, ".since-"))
  const api = new API()
  try {
    const modules = modulesOf(folder)
    const config = join(place, "tsconfig.json")
    const compilerOptions = { noEmit: true, composite: false, declarationMap: false, sourceMap: false }
    const base = join(root, "tsconfig.base.json")
    writeFileSync(config, JSON.stringify({ extends: base, compilerOptions, files: modules.map(([, file]) => file) }))
    const [project] = api.updateSnapshot({ openProjects: [config] }).getProjects()
    if (project === undefined) throw new Error("the compiler has opened no project")
    return new Map(
      modules.map(([module, path]) => {
        const file = project.program.getSourceFile(path)
        const symbol = file === undefined ? undefined : project.checker.getSymbolAtLocation(file)
        if (symbol === undefined) throw new Error(`${path} is no module`)
        return [
          module,
          project.checker
            .getExportsOfModule(symbol)
            .map(({ name }) => name)
            .toSorted()
        ]
      })
    )
  } finally {
    api.close()
    rmSync(place, { recursive: true, force: true })
  }
}

const tableOf = (folder: string): Table => JSON.parse(readFileSync(join(folder, "since.json"), "utf8"))

const textOf = (names: ReadonlyArray<string>) => names.toSorted().join(" ")

/** What a table says of each name of a module. */
const namesIn = (table: Table, module: string): ReadonlySet<string> =>
  new Set(Object.values(table).flatMap((modules) => modules[module]?.split(" ") ?? []))

/** The table with what is new under `next`. */
const withNew = (table: Table, exported: ReadonlyMap<string, ReadonlyArray<string>>): Table => {
  const added = [...exported].flatMap(([module, names]) => {
    const known = namesIn(table, module)
    const missing = names.filter((name) => !known.has(name))
    return missing.length === 0
      ? []
      : [[module, textOf([...(table.next?.[module]?.split(" ") ?? []), ...missing])] as const]
  })
  return added.length === 0 ? table : { ...table, next: { ...table.next, ...Object.fromEntries(added) } }
}

const problemsOf = (name: string, table: Table, exported: ReadonlyMap<string, ReadonlyArray<string>>) => {
  const missing = [...exported].flatMap(([module, names]) =>
    names
      .filter((one) => !namesIn(table, module).has(one))
      .map((one) => `${name}${module.slice(1)}: ${one} is new: --write adds it`)
  )
  const gone = [...new Set(Object.values(table).flatMap((modules) => Object.keys(modules)))].flatMap((module) =>
    [...namesIn(table, module)]
      .filter((one) => exported.get(module)?.includes(one) !== true)
      .map(
        (one) =>
          `${name}${module.slice(1)}: ${one} is exported no more: say so in a changeset, and take it out of since.json`
      )
  )
  return [...missing, ...gone]
}

const problems = packages.flatMap((name) => {
  const folder = join(root, "packages", name)
  const exported = exportsOf(folder)
  if (process.argv.includes("--write")) {
    writeFileSync(join(folder, "since.json"), `${JSON.stringify(withNew(tableOf(folder), exported), null, 2)}\n`)
  }
  return problemsOf(name, tableOf(folder), exported)
})
for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1
