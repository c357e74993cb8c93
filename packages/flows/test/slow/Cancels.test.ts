import { cancelsInMemory, cancelsSuite } from "../support/drills/CancelsSuite.ts"
import { sqlite } from "../support/drills/Stores.ts"

cancelsInMemory()
cancelsSuite({ name: "on SQLite", store: sqlite, processes: 1 })
