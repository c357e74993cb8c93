/** Both programs, and what they have to return wherever they run. */
import { effects } from "./effects.ts"
import { type Given, type Outcome } from "./given.ts"
import { promises } from "./promises.ts"

const expected: Outcome = {
  greetings: ["Ada", "Grace", "Edsger"].map((name) => JSON.stringify({ greeting: `Hello, ${name}` })),
  pages: [2, 1],
  files: { "blob.bin": true, "scan.bin": true },
  retries: ["429 2"],
  isAborted: true,
  missing: "NOT_FOUND",
  webhooks: ["completed", "mismatch"]
}

/** Workers take items in any order. */
const textOf = ({ files, greetings, ...rest }: Outcome) =>
  JSON.stringify({ ...rest, greetings: greetings.toSorted(), files: Object.entries(files).sort() })

/** Rejects when one of the programs has another outcome than expected. */
export const everything = async (given: Given): Promise<void> => {
  for (const program of [promises, effects]) {
    const actual = textOf(await program(given))
    if (actual !== textOf(expected)) throw new Error(`${actual}, expected ${textOf(expected)}`)
  }
}
