/**
 * What a program carries and waits for: the bundle of one resource over fetch, minified and gzipped, and the time from the
 * start of Node to the imports being done, from the sources and from the bundle, less an empty program.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { build } from "rolldown"
import { row } from "./Table.ts"

const programs: Readonly<Record<string, string>> = {
  "signalbox, one resource": `
    import { ControlRoom } from "@signalbox/api/ControlRoom"
    import * as WorkItems from "@signalbox/api/WorkItems"
    globalThis.used = [ControlRoom.layer, WorkItems.create, WorkItems.stream]`,
  "signalbox, promise facade": `
    import { connect } from "@signalbox/api/promise"
    globalThis.used = [connect]`,
  "signalbox, node (undici)": `
    import { layer } from "@signalbox/api/node"
    import * as WorkItems from "@signalbox/api/WorkItems"
    globalThis.used = [layer, WorkItems.create, WorkItems.stream]`,
  "stripe-node": `
    import Stripe from "stripe"
    globalThis.used = [Stripe]`,
  "openai-node": `
    import OpenAI from "openai"
    globalThis.used = [OpenAI]`,
  nothing: ""
}

// Inside the package, so that imports resolve.
const folder = mkdtempSync(join(import.meta.dirname, "..", ".bundle-"))

const startMillis = (file: string): number => {
  const times: Array<number> = []
  for (let round = 0; round < 11; round++) {
    const before = performance.now()
    const { status, stderr } = spawnSync(process.execPath, [file], { encoding: "utf8" })
    if (status !== 0) throw new Error(stderr)
    times.push(performance.now() - before)
  }
  return times.toSorted((a, b) => a - b)[5] ?? 0
}

const measure = async (source: string, index: number) => {
  const entry = join(folder, `entry${index}.mjs`)
  const bundle = join(folder, `bundle${index}`)
  writeFileSync(entry, source)
  await build({
    input: entry,
    platform: "node",
    logLevel: "silent",
    output: { dir: bundle, format: "esm", minify: true }
  })
  const file = join(bundle, `entry${index}.js`)
  const bytes = readFileSync(file)
  return {
    size: bytes.length,
    gzipped: gzipSync(bytes).length,
    sources: startMillis(entry),
    bundled: startMillis(file)
  }
}

const results = new Map<string, Awaited<ReturnType<typeof measure>>>()
for (const [index, [name, source]] of Object.entries(programs).entries())
  results.set(name, await measure(source, index))
rmSync(folder, { recursive: true, force: true })

const empty = results.get("nothing")
console.log("program                     minified   gzipped   import from sources   from the bundle")
for (const [name, { bundled, gzipped, size, sources }] of results) {
  if (name === "nothing" || empty === undefined) continue
  const kilobytes = (bytes: number) => `${(bytes / 1024).toFixed(1)} KB`.padStart(9)
  const millis = (value: number, base: number) => `${Math.max(0, value - base).toFixed(0)} ms`.padStart(16)
  row(
    `${name}: gzipped, import from the bundle`,
    `${kilobytes(gzipped)}, ${millis(bundled, empty.bundled).trim()}`.trim()
  )
  console.log(
    `${name.padEnd(27)} ${kilobytes(size)} ${kilobytes(gzipped)} ${millis(sources, empty.sources)} ${millis(bundled, empty.bundled)}`
  )
}
