import { Store } from "../support/Engines.ts"
import { pendingCommands } from "../support/PendingCommandsSuite.ts"

pendingCommands({ name: "on Postgres", store: Store.postgres })
