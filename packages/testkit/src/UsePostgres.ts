/**
 * Tells the tests of a project, and the processes that they start, where its Postgres is. Name this file in `setupFiles`.
 */
import { inject } from "vitest"
import { urlVariable } from "./Postgres.ts"

process.env[urlVariable] = inject("postgresUrl")
