/** Passes the URL of the Postgres of a project to its tests and their processes. Name this file in `setupFiles`. */
import { inject } from "vitest"
import { poolerVariable, urlVariable } from "./Postgres.ts"

process.env[urlVariable] = inject("postgresUrl")

const pooler = inject("poolerUrl")
if (pooler !== null) process.env[poolerVariable] = pooler
