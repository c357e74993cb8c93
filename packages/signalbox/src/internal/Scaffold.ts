/** What `signalbox init` writes: a folder of `templates`, with the files of another over it, and `package.json`. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { join } from "node:path"
import { templatesFolder } from "./PackageFiles.ts"

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

/** The folders of each form; a file of a later one replaces that of an earlier one. */
const forms = { typescript: ["project"], python: ["project", "python"] } as const

export type Form = keyof typeof forms

/** The versions that this release was made with. */
const versions = { effect: "~4.1.0", vitest: "^5.1.1", typescript: "~7.0.2", node: "^24.0.0" }

const manifest = (name: string, version: string) =>
  json({
    name,
    private: true,
    type: "module",
    scripts: {
      dev: "signalbox dev",
      start: "signalbox up --tasks tasks.ts",
      flow: "node main.ts",
      deploy: "signalbox apply workspace.ts --yes",
      test: "vitest run",
      types: "tsc"
    },
    dependencies: {
      "@signalbox/api": `^${version}`,
      "@signalbox/flows": `^${version}`,
      "@signalbox/worker": `^${version}`,
      effect: versions.effect,
      signalbox: `^${version}`
    },
    devDependencies: { "@types/node": versions.node, typescript: versions.typescript, vitest: versions.vitest },
    engines: { node: ">=22.19" }
  })

/** The files of a template by their paths. npm packs no `.gitignore`, so it has another name here. */
const template = Effect.fnUntraced(function* (name: string, project: string) {
  const fs = yield* FileSystem.FileSystem
  const folder = join(templatesFolder, name)
  const paths = yield* fs.readDirectory(folder, { recursive: true })
  const files = yield* Effect.filter(paths, (path) =>
    Effect.map(fs.stat(join(folder, path)), ({ type }) => type === "File")
  )
  return yield* Effect.forEach(files, (path) =>
    Effect.map(
      fs.readFileString(join(folder, path)),
      (text) =>
        [
          path === "_gitignore" ? ".gitignore" : path,
          path === "README.md" ? text.replace("NAME", project) : text
        ] as const
    )
  )
})

/** The files of a new folder, by their paths in it. */
export const files = Effect.fn("Scaffold.files")(function* (form: Form, name: string, version: string) {
  const templates = yield* Effect.forEach(forms[form], (folder) => template(folder, name))
  return new Map([["package.json", manifest(name, version)], ...templates.flat()])
})
