import { Store } from "../support/Engines.ts"
import { forks } from "../support/ForkSuite.ts"

forks({ name: "on Postgres", store: Store.postgres })
