/**
 * What a program carries and waits for: the bundle of one resource, minified and gzipped, and the time from the start of Node to its imports
 * being done, less that of an empty program.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { build } from "rolldown"
import type { Figure, Suite } from "../harness/Suite.ts"

const programs = [
  {
    name: "signalbox, one resource",
    source: `
      import { ControlRoom } from "@signalbox/api/ControlRoom"
      import * as WorkItems from "@signalbox/api/WorkItems"
      globalThis.used = [ControlRoom.layer, WorkItems.create, WorkItems.stream]`
  },
  {
    name: "stripe-node",
    peer: true,
    source: `
      import Stripe from "stripe"
      globalThis.used = [Stripe]`
  },
  {
    name: "signalbox, promises",
    source: `
      import { connect } from "@signalbox/api/promise"
      globalThis.used = [connect]`
  },
  {
    name: "signalbox, node (undici)",
    source: `
      import { layer } from "@signalbox/api/node"
      import * as WorkItems from "@signalbox/api/WorkItems"
      globalThis.used = [layer, WorkItems.create, WorkItems.stream]`
  },
  {
    name: "openai-node",
    peer: true,
    source: `
      import OpenAI from "openai"
      globalThis.used = [OpenAI]`
  }
]

const startMillis = (file: string): number => {
  const before = performance.now()
  const { status, stderr } = spawnSync(process.execPath, [file], { encoding: "utf8" })
  if (status !== 0) throw new Error(stderr)
  return performance.now() - before
}

const sizes: Readonly<Record<string, Figure>> = {
  gzipped: { what: "minified and gzipped", unit: "KB", better: "less" },
  minified: { what: "minified", unit: "KB", better: "less" }
}
const imports: Readonly<Record<string, Figure>> = {
  bundled: { what: "of the bundle", unit: "ms", better: "less" },
  installed: { what: "of the modules as they are in the repository, or installed", unit: "ms", better: "less" }
}

export const suite: Suite = {
  title: "The bundle",
  about:
    "Bundles for Node by rolldown. The time of the imports is that of a process that does nothing else, less that of an empty program. In the " +
    "repository the modules of this project are TypeScript, whose types Node strips as it loads them; installed ones are JavaScript.",
  peers: ["stripe", "openai", "rolldown"],
  contests: async function* () {
    // Inside the package, so that imports resolve.
    const folder = mkdtempSync(join(import.meta.dirname, "../..", ".bundle-"))
    try {
      const nothing = join(folder, "nothing.mjs")
      writeFileSync(nothing, "")
      const built = await Promise.all(
        programs.map(async ({ source, ...program }, index) => {
          const entry = join(folder, `entry${index}.mjs`)
          const dir = join(folder, `bundle${index}`)
          writeFileSync(entry, source)
          await build({
            input: entry,
            platform: "node",
            logLevel: "silent",
            output: { dir, format: "esm", minify: true }
          })
          const file = join(dir, `entry${index}.js`)
          return { program: { ...program, conditions: "rolldown, platform node, minified" }, entry, file }
        })
      )
      const kilobytes = (bytes: number) => bytes / 1024
      yield {
        what: "A program",
        figures: sizes,
        warm: false,
        rounds: 1,
        contenders: built.map(({ file, program }) => ({
          ...program,
          measure: async () => {
            const bytes = readFileSync(file)
            return { minified: kilobytes(bytes.length), gzipped: kilobytes(gzipSync(bytes).length) }
          }
        }))
      }
      yield {
        what: "Imports",
        figures: imports,
        contenders: built.map(({ entry, file, program }) => ({
          ...program,
          measure: async () => {
            const empty = startMillis(nothing)
            return { bundled: startMillis(file) - empty, installed: startMillis(entry) - startMillis(nothing) }
          }
        }))
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}
