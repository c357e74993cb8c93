import { commandsSuite } from "../support/drills/CommandsSuite.ts"
import { sqlite } from "../support/drills/Stores.ts"

commandsSuite({ name: "on SQLite", store: sqlite, processes: 1, executions: 80, each: 5, replaced: 4, seed: 1 })
