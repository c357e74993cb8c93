/** The packages whose code is in a bundle, and their licences. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { isAbsolute, join, relative } from "node:path"
import * as Manifests from "./Manifests.ts"

/** A package whose code is in the bundle. */
export interface Bundled {
  readonly name: string
  readonly version: string
  /** Null when its `package.json` states none. */
  readonly license: string | null
  readonly owner: Manifests.Owner
}

const order = (a: Bundled, b: Bundled) => {
  const [first, second] = [`${a.name} ${a.version}`, `${b.name} ${b.version}`]
  return first < second ? -1 : first > second ? 1 : 0
}

/** Whether a file is in a folder, and not in what is installed there. */
const isIn = (folder: string, file: string) => {
  const path = relative(folder, file)
  return !path.startsWith("..") && !isAbsolute(path) && !path.includes("node_modules")
}

/** The packages that modules belong to, ordered by name, without the project at `own`. */
export const packagesOf = Effect.fnUntraced(function* (modules: ReadonlyArray<string>, own: string) {
  const found = new Map<string, Bundled>()
  for (const module of modules.filter((module) => !isIn(own, module))) {
    const owner = yield* Manifests.ownerOf(module)
    if (owner === null) continue
    const { name, version } = owner.manifest
    // Without a version it is another project of the user's.
    if (name === undefined || version === undefined) continue
    const license = Manifests.licenseOf(owner.manifest)
    found.set(owner.folder, { name, version, license, owner })
  }
  // A package that is installed twice has the same text twice.
  const byName = new Map([...found.values()].map((one) => [`${one.name} ${one.version}`, one]))
  return [...byName.values()].toSorted(order)
})

const isLicense = (name: string) => /^(licen[cs]e|copying|notice)([.-].*)?$/i.test(name)

const textsOf = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const names = (yield* fs.readDirectory(folder)).filter(isLicense).toSorted()
  const files = yield* Effect.filter(names, (name) =>
    Effect.map(fs.stat(join(folder, name)), ({ type }) => type === "File")
  )
  return yield* Effect.forEach(files, (name) => fs.readFileString(join(folder, name)))
})

/** The text for people: a list of all packages, then what the licence files of each say. */
export const textOf = Effect.fnUntraced(function* (packages: ReadonlyArray<Bundled>) {
  const list = packages.map(
    ({ license, name, version }) => `${name} ${version}: ${license ?? "no licence in package.json"}`
  )
  const parts = yield* Effect.forEach(packages, ({ name, owner, version }) =>
    Effect.map(textsOf(owner.folder), (texts) =>
      texts.map((text) => `---- ${name} ${version} ----\n\n${text.trim()}\n`)
    )
  )
  return ["The packages whose code is in tasks.mjs:", "", ...list, "", ...parts.flat()].join("\n")
})
