/** The declarations of each module: what an editor reads of it is small. */
import { declarationSizes, tooLarge } from "@signalbox/testkit/Declarations"
import { join } from "node:path"
import { assert, it } from "vitest"

it("the declarations of no module of the graph have more than 20 KB", () => {
  const sizes = declarationSizes(join(import.meta.dirname, "../.."))
  assert.isAtLeast(Object.keys(sizes).length, 50)
  assert.deepStrictEqual(tooLarge(sizes), {})
})
