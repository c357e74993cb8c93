import { Store } from "../support/Engines.ts"
import { restartedCommands } from "../support/PendingCommandsSuite.ts"

restartedCommands({ name: "on Postgres", store: Store.postgres })
