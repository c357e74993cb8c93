import { commandsSuite } from "../support/drills/CommandsSuite.ts"
import { sqlite } from "../support/drills/Stores.ts"

commandsSuite({ name: "on SQLite", store: sqlite, processes: 1, executions: 2_000, each: 5, replaced: 60, seed: 2 })
