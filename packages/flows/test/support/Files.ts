import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A file in a new folder. */
export const temporaryFile = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "signalbox-flows-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  ),
  (folder) => join(folder, "flows.db")
)
