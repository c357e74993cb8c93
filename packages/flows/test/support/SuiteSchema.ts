import { afterAll } from "@effect/vitest"
import { dropSchema, emptySchema } from "@signalbox/testkit/Postgres"
import * as Effect from "effect/Effect"
import { randomUUID } from "node:crypto"
import { postgresUrl } from "./Engines.ts"

/**
 * One schema for the tests of a suite, which follow each other: empty for each, and created by the first. To create and drop
 * one takes longer than most tests.
 */
export const suiteSchema = () => {
  const schema = `flows_${randomUUID().replaceAll("-", "")}`
  afterAll(() => Effect.runPromise(dropSchema(postgresUrl, schema)))
  return Effect.acquireRelease(Effect.succeed(schema), () => emptySchema(postgresUrl, schema))
}
