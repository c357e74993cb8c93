import { commandsSuite } from "../support/drills/CommandsSuite.ts"
import { postgres } from "../support/drills/Stores.ts"

commandsSuite({ name: "on Postgres", store: postgres, processes: 3, executions: 80, each: 5, replaced: 6, seed: 1 })
