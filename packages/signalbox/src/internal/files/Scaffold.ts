/** What `signalbox init` writes: a folder of `templates`, with the files of others over it, `package.json`, and for a backend `.env`. */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { templatesFolder } from "./PackageFiles.ts"

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

type Texts = Readonly<Record<string, string>>

interface Contents {
  /** Folders of `templates`; a file of a later one replaces that of an earlier one. */
  readonly folders: ReadonlyArray<string>
  readonly scripts: Texts
  /** Besides those of all forms. */
  readonly dependencies: Texts
  readonly devDependencies: Texts
}

const program: Contents = {
  folders: ["project"],
  scripts: { start: "signalbox up --tasks tasks.ts", flow: "node main.ts" },
  dependencies: {},
  devDependencies: {}
}

/** A backend on a server: the folder `durable` has what is the same on all, and the folder of the server how it routes. */
const backend = (server: string, dependencies: Texts, devDependencies: Texts = {}): Contents => ({
  folders: ["project", "durable", server],
  scripts: {
    customers: "node --env-file-if-exists=.env customersStandIn.ts",
    start: "node --env-file-if-exists=.env main.ts",
    flows: "node --env-file-if-exists=.env node_modules/signalbox/dist/bin.js flows"
  },
  dependencies,
  devDependencies
})

/** The servers that a backend may have. */
export const servers = ["fastify", "express", "hono"] as const

const forms = {
  typescript: program,
  python: { ...program, folders: ["project", "python"] },
  fastify: backend("fastify", { fastify: "^5.12.8" }),
  express: backend("express", { express: "^5.3.0" }, { "@types/express": "^5.0.6" }),
  hono: backend("hono", { "@hono/node-server": "^2.1.8", hono: "^4.13.19" })
} satisfies Readonly<Record<string, Contents>>

export type Form = keyof typeof forms

/** The versions that this release was made with. */
const versions = { effect: "~4.1.0", vitest: "^5.1.1", typescript: "~7.0.2", node: "^24.0.0" }

const sorted = (texts: Texts): Texts =>
  Object.fromEntries(Object.entries(texts).toSorted(([one], [other]) => (one < other ? -1 : 1)))

const manifest = (form: Form, name: string, version: string) => {
  const { dependencies, devDependencies, scripts }: Contents = forms[form]
  return json({
    name,
    private: true,
    type: "module",
    scripts: {
      dev: "signalbox dev",
      ...scripts,
      deploy: "signalbox apply workspace.ts --yes",
      test: "vitest run",
      types: "tsc"
    },
    dependencies: sorted({
      "@signalbox/api": `^${version}`,
      "@signalbox/flows": `^${version}`,
      "@signalbox/worker": `^${version}`,
      effect: versions.effect,
      signalbox: `^${version}`,
      ...dependencies
    }),
    devDependencies: sorted({
      "@types/node": versions.node,
      typescript: versions.typescript,
      vitest: versions.vitest,
      ...devDependencies
    }),
    engines: { node: ">=22.19" }
  })
}

/** What `_env` has in place of each secret. */
const secrets = /RANDOM/g

/** Files that npm or git would leave out have another name among the templates. */
const packedNames: Texts = { _gitignore: ".gitignore", _env: ".env" }

/** The files of a template by their paths. */
const template = Effect.fnUntraced(function* (name: string, project: string) {
  const fs = yield* FileSystem.FileSystem
  const folder = join(templatesFolder, name)
  const paths = yield* fs.readDirectory(folder, { recursive: true })
  const files = yield* Effect.filter(paths, (path) =>
    Effect.map(fs.stat(join(folder, path)), ({ type }) => type === "File")
  )
  const filled: Readonly<Record<string, (text: string) => string>> = {
    "README.md": (text) => text.replace("NAME", project),
    _env: (text) => text.replace(secrets, () => randomBytes(24).toString("base64url"))
  }
  return yield* Effect.forEach(files, (path) =>
    Effect.map(
      fs.readFileString(join(folder, path)),
      (text) => [packedNames[path] ?? path, filled[path]?.(text) ?? text] as const
    )
  )
})

/** The files of a new folder, by their paths in it. */
export const files = Effect.fn("Scaffold.files")(function* (form: Form, name: string, version: string) {
  const templates = yield* Effect.forEach(forms[form].folders, (folder) => template(folder, name))
  return new Map([["package.json", manifest(form, name, version)], ...templates.flat()])
})
