/**
 * Where and of what the figures were taken.
 */
import { execFileSync } from "node:child_process"
import { closeSync, fdatasyncSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs"
import { createRequire } from "node:module"
import { arch, availableParallelism, cpus, loadavg, platform, release, tmpdir, totalmem } from "node:os"
import { join } from "node:path"
import { median } from "./Statistics.ts"

export interface Machine {
  readonly node: string
  readonly system: string
  readonly cpu: string
  readonly cores: number
  readonly memoryGigabytes: number
  /** Milliseconds of a write of 4 KB and its `fdatasync` in the folder of temporary files: what a commit waits for. */
  readonly syncMillis: number
  /** Of one minute, before and after. Far above zero before: something else ran. */
  readonly load: readonly [before: number, after: number]
}

const root = join(import.meta.dirname, "../../..")

const git = (...args: ReadonlyArray<string>) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim()

/** With a plus when the packages are not those of the commit. */
export const commit = () => {
  const changed = git("status", "--porcelain", "--", "packages", "bench/src") !== ""
  return `${git("rev-parse", "--short=10", "HEAD")}${changed ? "+" : ""}`
}

export const load = () => Number((loadavg()[0] ?? 0).toFixed(2))

const syncMillis = () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-bench-"))
  const file = openSync(join(folder, "sync"), "w")
  const page = Buffer.alloc(4096, 7)
  const times = Array.from({ length: 200 }, () => {
    const before = performance.now()
    writeSync(file, page)
    fdatasyncSync(file)
    return performance.now() - before
  })
  closeSync(file)
  rmSync(folder, { recursive: true })
  return Number(median(times).toPrecision(3))
}

export const machine = (before: number): Machine => ({
  node: process.version,
  system: `${platform()} ${release()} ${arch()}`,
  cpu: cpus()[0]?.model ?? "unknown",
  cores: availableParallelism(),
  memoryGigabytes: Math.round(totalmem() / 1024 ** 3),
  syncMillis: syncMillis(),
  load: [before, load()]
})

const require = createRequire(import.meta.url)

/** The version that is installed. Not every package exports its package.json. */
const versionOf = (name: string): string => {
  for (const folder of require.resolve.paths(name) ?? []) {
    try {
      const { version }: { readonly version: string } = JSON.parse(
        readFileSync(join(folder, name, "package.json"), "utf8")
      )
      return version
    } catch {
      // Not in that folder.
    }
  }
  return "not installed"
}

export const versions = (names: ReadonlyArray<string>) =>
  Object.fromEntries(names.map((name) => [name, versionOf(name)]))
