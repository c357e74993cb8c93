import { deployed } from "./support/DeployedSuite.ts"
import { Store } from "./support/Engines.ts"

deployed({ name: "on SQLite", store: Store.sqlite })
