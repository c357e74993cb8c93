/**
 * The stores that the drills go over.
 */
import { dropSchema, urlVariable } from "@signalbox/testkit/Postgres"
import * as Effect from "effect/Effect"
import { randomUUID } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export const temporaryFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "signalbox-drills-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

export const sqlite = Effect.map(temporaryFolder, (folder) => ({ file: join(folder, "flows.db") }))

/** A schema in the Postgres of the project at hand. */
export const postgres = Effect.suspend(() => {
  const url = process.env[urlVariable] ?? ""
  return Effect.acquireRelease(
    Effect.sync(() => ({ url, schema: `drill_${randomUUID().replaceAll("-", "")}` })),
    ({ schema }) => dropSchema(url, schema)
  )
})
