/**
 * What importing a module through the index of its package costs: a bundler keeps what is used, as with the leaf.
 */
import { soak } from "@signalbox/testkit/Soak"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { build } from "rolldown"
import { afterAll, assert, describe, it } from "vitest"

// Inside the folder, so that imports resolve as in a program.
const folder = mkdtempSync(join(import.meta.dirname, ".imports-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Imported {
  readonly from: string
  readonly name: string
  readonly leaf: string
  readonly used: string
}

const imports: ReadonlyArray<Imported> = [
  { from: "@signalbox/api", name: "WorkItems", leaf: "@signalbox/api/WorkItems", used: "WorkItems.create" },
  { from: "@signalbox/api", name: "Ids", leaf: "@signalbox/api/contract/Ids", used: "Ids.ProcessId" },
  { from: "@signalbox/api", name: "Webhooks", leaf: "@signalbox/api/Webhooks", used: "Webhooks.verify" },
  { from: "@signalbox/flows", name: "Flow", leaf: "@signalbox/flows/Flow", used: "Flow.make" },
  { from: "@signalbox/flows", name: "Steps", leaf: "@signalbox/flows/ControlRoomSteps", used: "Steps.startRun" },
  { from: "@signalbox/worker", name: "Task", leaf: "@signalbox/worker/Task", used: "Task.make" },
  { from: "@signalbox/graph", name: "Drives", leaf: "@signalbox/graph/Drives", used: "Drives.children" },
  { from: "signalbox", name: "Task", leaf: "@signalbox/worker/Task", used: "Task.make" },
  { from: "signalbox", name: "Processes", leaf: "@signalbox/api/Processes", used: "Processes.put" }
]

/** The minified bytes of a program. */
const sizeOf = async (name: string, source: string) => {
  const input = join(folder, `${name}.mjs`)
  writeFileSync(input, source)
  const { output } = await build({
    input,
    platform: "node",
    logLevel: "silent",
    write: false,
    output: { format: "esm", minify: true }
  })
  return output.reduce((sum, part) => sum + (part.type === "chunk" ? Buffer.byteLength(part.code) : 0), 0)
}

/** In the short form one of each package. */
const measured = imports.filter(
  ({ from }, index) => soak || imports.findIndex((other) => other.from === from) === index
)

describe("importing a module through the index of its package", () => {
  for (const [index, { from, leaf, name, used }] of measured.entries()) {
    it(`costs for ${name} of ${from} no more than its leaf and one part in a hundred`, async () => {
      const use = `globalThis.used = [${used}]`
      const leafSize = await sizeOf(`leaf${index}`, `import * as ${name} from "${leaf}"\n${use}`)
      const indexSize = await sizeOf(`index${index}`, `import { ${name} } from "${from}"\n${use}`)
      assert.isAbove(leafSize, 1_000)
      assert.isAtMost(indexSize, leafSize * 1.01)
    })
  }
})

it("the first program of the README has at most four lines of imports", () => {
  const program = readFileSync(join(import.meta.dirname, "..", "..", "hello.ts"), "utf8")
  assert.isAtMost(program.split("\n").filter((line) => line.startsWith("import ")).length, 4)
})
