/** An editor shows what each function with promises does, and how it is called. */
import { undocumented } from "@signalbox/testkit/Undocumented"
import { join } from "node:path"
import { assert, describe, it } from "vitest"

const { count, examples, sentences } = undocumented(join(import.meta.dirname, "../src/internal/promise"))

describe("a function with promises", () => {
  it("stands in one of the interfaces", () => assert.isAbove(count, 60))

  it("has a sentence that says what it does", () => assert.deepStrictEqual(sentences, []))

  it("that takes more than ids and names has an example, which is compiled with the documentation", () =>
    assert.deepStrictEqual(examples, []))
})
