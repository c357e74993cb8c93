/** What the compiler says of the commonest mistakes: a line or three that name what is wrong. */
import { mistakesIn } from "@signalbox/testkit/Mistakes"
import { join } from "node:path"
import { assert, describe, it } from "vitest"

const { mistakes, others } = mistakesIn(join(import.meta.dirname, "mistakes"))

/** On one line, and without the words that the compiler puts before what is wrong. */
const flat = (text: string) => text.replace(/\s+/g, " ")

describe("the compiler says of", () => {
  for (const { expected, place, said } of mistakes) {
    it(`${place}: ${flat(expected)}`, () => assert.include(flat(said ?? "nothing"), flat(expected)))
  }

  it("what is no mistake: nothing", () => assert.deepStrictEqual(others, []))
})
