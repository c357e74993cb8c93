/** What the pages say to install: with a strict package manager a program finds only packages that are installed by their names. */
import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "../../..")

const read = (path: string) => readFileSync(join(root, path), "utf8")

/** The programs of a page, and those of the folder that it says to copy. */
const programsOf = (text: string): ReadonlyArray<string> => [
  ...[...text.matchAll(/^( *)```(?:ts|js)(?: title="[^"]+")?\n([^]*?)^\1```$/gm)].map(([, , body = ""]) => body),
  ...[...text.matchAll(/In a copy of the folder \[(examples\/[\w-]+)\]/g)].flatMap(([, folder = ""]) =>
    globSync(`${folder}/*.ts`, { cwd: root }).map(read)
  )
]

const importedBy = (program: string): ReadonlyArray<string> =>
  [...program.matchAll(/(?:\bfrom |^import |\bimport\()"((?:@[^/"]+\/)?[^./"][^/":]*)(?:\/[^"]*)?"/gm)].map(
    ([, name = ""]) => name
  )

const installedBy = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/\bnpm install ((?:--?[\w-]+ |[@\w/-]+ ?)+)/g)].flatMap(([, names = ""]) =>
    names
      .trim()
      .split(" ")
      .filter((name) => !name.startsWith("-"))
  )

const isOurs = (name: string) => /^(?:signalbox$|@signalbox\/)/.test(name)

/** Pages that say how to install packages of ours. */
const pages = globSync(["README.md", "docs/**/*.md", "packages/*/README.md"], {
  cwd: root,
  exclude: ["docs/decisions/**"]
})
  .map((page) => ({ page, text: read(page) }))
  .filter(({ text }) => programsOf(text).length > 0 && installedBy(text).some(isOurs))

describe("the install lines of the documentation", () => {
  it("are found", () => {
    assert.include(
      pages.map(({ page }) => page),
      "README.md"
    )
  })

  for (const { page, text } of pages) {
    it(`${page} names every package that its programs import`, () => {
      const installed = new Set(installedBy(text))
      const missing = [...new Set(programsOf(text).flatMap(importedBy))].filter((name) => !installed.has(name))
      assert.deepStrictEqual(missing, [], `npm install ${missing.join(" ")}`)
    })
  }
})
