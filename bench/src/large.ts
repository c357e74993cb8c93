/**
 * A room of any size, in a folder that is kept: `node bench/src/large.ts <folder> --rows 10000000 [--seconds 200] [--calls 200]`.
 *
 * Adds items for at most so many seconds; called again, it goes on. Once all are there, it prints the times of each operation, the bytes on
 * the disk for each item, and the memory of the process.
 */
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { quantile } from "./harness/Statistics.ts"
import * as Grown from "./programs/support/Grown.ts"
import { operations, type Task } from "./programs/support/ItemOperations.ts"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    rows: { type: "string", default: "1000000" },
    seconds: { type: "string", default: "200" },
    calls: { type: "string", default: "200" }
  }
})
const [folder = "."] = positionals
const rows = Number(values.rows)
const calls = Number(values.calls)
const sizeOf = (folder: string) =>
  readdirSync(folder).reduce((bytes, name) => bytes + statSync(join(folder, name)).size, 0)

const began = performance.now()
const room = await Grown.open(folder, null, rows, Number(values.seconds))
const bytes = sizeOf(folder)
console.log(
  `${room.filled.toLocaleString("en")} items after ${((performance.now() - began) / 1000).toFixed(1)} s, ` +
    `${(bytes / 2 ** 30).toFixed(2)} GB on disk, ${(bytes / room.filled).toFixed(0)} bytes for each`
)
if (room.filled >= rows) {
  const all = Object.entries(operations) as ReadonlyArray<[Task["operation"], string]>
  for (const [operation, what] of all) {
    await Grown.timesOf(room.calls[operation], 5)
    const times = await Grown.timesOf(room.calls[operation], calls)
    const shown = [0.5, 0.99, 1].map((part) => quantile(times, part).toFixed(2).padStart(9))
    console.log(`${what.padEnd(60)} p50, p99, longest, ms: ${shown.join("")}`)
  }
  console.log(`${(process.memoryUsage.rss() / 2 ** 20).toFixed(0)} MB resident`)
}
await room.close()
