import { cancelsSuite } from "../support/drills/CancelsSuite.ts"
import { postgres } from "../support/drills/Stores.ts"

cancelsSuite({ name: "on Postgres with three processes", store: postgres, processes: 3 })
