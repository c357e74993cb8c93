/** The folders of runs are removed, whatever their programs have done to them. */
import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Root may remove everything. */
const nobody = 65534
const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}

describe.skipIf(process.platform === "win32")("a folder of a run", () => {
  it("is removed though its program has taken the right to write away from its folders, as caches of tools do", () => {
    const runs = mkdtempSync(join(tmpdir(), "signalbox-runs-"))
    const folders = ["", "run-1", "run-1/cache", "run-1/cache/module"].map((name) => join(runs, name))
    for (const folder of folders) mkdirSync(folder, { recursive: true })
    writeFileSync(join(runs, "run-1/cache/module/file"), "x")
    for (const folder of folders) if (user.uid !== undefined) chownSync(folder, nobody, nobody)
    for (const folder of folders.slice(2).toReversed()) chmodSync(folder, 0o500)
    const program = join(import.meta.dirname, "support/ClearLeftovers.ts")
    const log = execFileSync(process.execPath, [program, runs], { ...user, encoding: "utf8", env: { HOME: runs } })
    assert.deepStrictEqual(readdirSync(runs), [])
    assert.include(log, "removed folders left by a killed worker")
    rmSync(runs, { recursive: true })
  })
})
