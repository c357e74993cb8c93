import { deployed } from "./support/DeployedSuite.ts"
import { Store } from "./support/Engines.ts"

deployed({ name: "on Postgres", store: Store.postgres })
