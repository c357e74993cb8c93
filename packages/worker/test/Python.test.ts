import { assert, describe, it } from "@effect/vitest"
import * as Python from "../src/internal/environments/Python.ts"

describe("a Python", () => {
  const table: ReadonlyArray<readonly [version: string, wanted: string | null, fits: boolean]> = [
    ["3.11.7", null, true],
    ["3.11.7", "3.11", true],
    ["3.11.7", "3.11.2", true],
    ["3.11.7", "3", true],
    ["3.11.7", "3.1", false],
    ["3.9.13", "3.10", false],
    ["3.11.7", ">=3.9,<3.12", true],
    ["3.12.1", ">=3.9,<3.12", false],
    ["3.11.7", ">3.11.2", true],
    ["3.11.7", "<=3.11", true],
    ["3.11.7", "!=3.11.*", false],
    ["3.11.7", "==3.11.*", true],
    ["3.11.7", "==3.11.2", false],
    ["3.11.7", "~=3.9", true],
    ["4.0.0", "~=3.9", false],
    ["3.11.7", "~=3.11.2", true],
    ["3.12.0", "~=3.11.2", false]
  ]
  for (const [version, wanted, fits] of table) {
    it(`${version} ${fits ? "fits" : "does not fit"} ${wanted ?? "whatever is wanted"}`, () => {
      assert.strictEqual(Python.fits(version, wanted), fits)
    })
  }

  it("is looked for under the name of the minor version alone where one is named", () => {
    assert.deepStrictEqual(["3.10.12", "3.9", ">=3.9", null].map(Python.minorOf), ["3.10", "3.9", null, null])
  })
})
