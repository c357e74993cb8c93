/** The tables of `docs/architecture.md` are those of `layout.json`. With `--write`, writes them. */
import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

interface Package {
  readonly has: string
  readonly imports: ReadonlyArray<string>
  readonly only?: Readonly<Record<string, ReadonlyArray<string>>>
  readonly folders?: Readonly<Record<string, string>>
}

const root = join(import.meta.dirname, "../..")
const page = join(root, "docs/architecture.md")
const { packages }: { readonly packages: Readonly<Record<string, Package>> } = JSON.parse(
  readFileSync(join(root, "layout.json"), "utf8")
)

const code = (text: string) => `\`${text}\``

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")

const imported = ({ imports, only = {} }: Package) =>
  [
    imports.map(code).join(", ") || "nothing",
    ...Object.entries(only).map(([name, places]) => `${code(name)} in ${places.map(code).join(", ")}`)
  ].join("; ")

const tables: Readonly<Record<string, string>> = {
  packages: table(
    ["package", "imports", "contents"],
    Object.entries(packages).map(([name, one]) => [code(name), imported(one), one.has])
  ),
  ...Object.fromEntries(
    Object.entries(packages).flatMap(([name, { folders }]) =>
      folders === undefined
        ? []
        : [
            [
              name,
              table(
                ["folder", "contents"],
                Object.entries(folders).map(([folder, has]) => [code(`${folder}/`), has])
              )
            ]
          ]
    )
  )
}

const before = readFileSync(page, "utf8")
const after = before.replaceAll(
  /(<!-- layout: ([a-z-]+) -->\n)[^]*?(<!-- end of layout -->)/g,
  (_all, begin: string, name: string, end: string) => `${begin}\n${tables[name]}\n\n${end}`
)
const missing = Object.keys(tables).filter((name) => !after.includes(`<!-- layout: ${name} -->`))

const format = (text: string) =>
  execFileSync(join(root, "tooling/node_modules/.bin/oxfmt"), ["--stdin-filepath", "docs/architecture.md"], {
    cwd: root,
    input: text,
    encoding: "utf8"
  })

const wanted = format(after)
if (missing.length > 0) throw new Error(`docs/architecture.md has no place for the layout of ${missing.join(", ")}`)
if (process.argv.includes("--write")) writeFileSync(page, wanted)
else if (wanted !== before) {
  throw new Error("docs/architecture.md differs from layout.json: run `node tooling/src/layout.ts --write`")
}
