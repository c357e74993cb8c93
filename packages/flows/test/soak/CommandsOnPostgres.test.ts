import { commandsSuite } from "../support/drills/CommandsSuite.ts"
import { postgres } from "../support/drills/Stores.ts"

commandsSuite({ name: "on Postgres", store: postgres, processes: 3, executions: 2_000, each: 5, replaced: 60, seed: 2 })
