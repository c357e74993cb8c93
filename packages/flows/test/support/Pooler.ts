/** The Postgres of the project at hand behind a connection pooler. */
import { afterAll, describe } from "@effect/vitest"
import { missing, type Options, type Pooler, startPooler } from "@signalbox/testkit/PgBouncer"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { postgresUrl } from "./Engines.ts"

/** Suites that need a pooler; skipped where none is installed. */
export const throughPooler = (name: string, suites: () => void): void => {
  describe.skipIf(missing !== null)(
    `${name} through a connection pooler${missing === null ? "" : `: ${missing}`}`,
    suites
  )
}

/** One pooler for the tests of a suite, started by the first. */
export const suitePooler = (options: Options = {}): Effect.Effect<Pooler> => {
  let started: Promise<Pooler> | undefined
  afterAll(async () => (await started)?.remove())
  return Effect.promise(() => (started ??= startPooler(postgresUrl, options)))
}

/** The options of a schema behind a pooler. */
export const pooledOptions = ({ url }: Pooler, schema: string) => ({
  url: Redacted.make(url),
  directUrl: Redacted.make(postgresUrl),
  schema
})
