/** The tables of which export of a client is there since which version have all of them, and nothing else. */
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { assert, it } from "vitest"

const tool = join(import.meta.dirname, "../../tooling/src/since.ts")

it("each export of the clients is in since.json of its package", () => {
  // What is missing is printed, and how it is added.
  const output = execFileSync(process.execPath, [tool], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] })
  assert.strictEqual(output, "")
})
