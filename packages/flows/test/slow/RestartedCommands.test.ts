import { Store } from "../support/Engines.ts"
import { restartedCommands } from "../support/PendingCommandsSuite.ts"

restartedCommands({ name: "on SQLite", store: Store.sqlite })
