/**
 * The end of a program that has written to a database.
 */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "signalbox-sql-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

it.live("a program with nothing else to do ends once its database is closed", () =>
  Effect.gen(function* () {
    const file = join(yield* folder, "closing.db")
    const { status, stdout } = spawnSync(process.execPath, [join(import.meta.dirname, "support/closing.ts"), file], {
      encoding: "utf8"
    })
    assert.strictEqual(stdout, "closed\n")
    assert.strictEqual(status, 0)
  })
)
