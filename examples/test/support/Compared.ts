/** Programs beside those with other clients: docs/compare-clients.md says how long they are, and ours are not longer. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

export interface Compared {
  /** The folder of ours, with each program as `.promise.ts` and `.effect.ts`. */
  readonly own: string
  /** Where those of other clients are, in the order of the page. */
  readonly others: ReadonlyArray<{ readonly folder: string; readonly ending: string }>
  /** How many programs are compared. */
  readonly programs: number
}

const root = join(import.meta.dirname, "..", "..", "..")

/** Those that are neither empty nor comments. */
const linesOf = (path: string) =>
  readFileSync(join(root, path), "utf8")
    .split("\n")
    .filter((line) => !/^\s*(\/[/*]|\*|$)/.test(line)).length

const programsIn = (folder: string, ending: string) =>
  readdirSync(join(root, folder))
    .filter((file) => file.endsWith(ending))
    .map((file) => file.slice(0, -ending.length))

export const compare = ({ others, own, programs }: Compared) =>
  describe("beside other clients", () => {
    const compared = [...new Set(others.flatMap(({ ending, folder }) => programsIn(folder, ending)))]
    const page = readFileSync(join(root, "docs/compare-clients.md"), "utf8").split("\n")

    it(`${programs} programs are compared`, () => assert.lengthOf(compared, programs))

    for (const program of compared) {
      it(`${program} is no longer than theirs, and the page says how long they are`, () => {
        const ours = ["promise", "effect"].map((style) => linesOf(`${own}/${program}.${style}.ts`))
        const theirs = others
          .map(({ ending, folder }) => `${folder}/${program}${ending}`)
          .filter((path) => existsSync(join(root, path)))
          .map(linesOf)
        const row = page.find((line) => line.startsWith(`| \`${program}\``)) ?? ""
        assert.deepStrictEqual(row.match(/\d+/g)?.map(Number), [...ours, ...theirs])
        assert.isAtMost(Math.max(...ours), Math.min(...theirs))
      })
    }

    it("the folder's page names every program", () => {
      const readme = readFileSync(join(root, own, "README.md"), "utf8")
      for (const program of programsIn(own, ".promise.ts")) assert.include(readme, `| \`${program}\``)
    })
  })
