import { Store } from "./support/Engines.ts"
import { pendingCommands } from "./support/PendingCommandsSuite.ts"

pendingCommands({ name: "on SQLite", store: Store.sqlite })
