/** Which folders of the service have SQL. The linter checks which may import which (`layout.json`). */
import { assert, describe, it } from "@effect/vitest"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "..", "src")

const files = globSync("**/*.ts", { cwd: root }).map((file) => file.replaceAll("\\", "/"))
const textOf = (file: string) => readFileSync(join(root, file), "utf8")

describe("the folders of the service", () => {
  it("speak SQL in the stores alone", () => {
    const speaking = files.filter((file) => /\bsql(<[^`]*>)?`|\bsql\.unsafe\b/.test(textOf(file)))
    assert.isAbove(speaking.length, 10)
    assert.deepStrictEqual(
      speaking.filter((file) => !file.startsWith("internal/store/")),
      []
    )
  })
})
