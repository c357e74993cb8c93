import { sized } from "@signalbox/testkit/Soak"
import { saidSuite } from "../support/drills/SaidSuite.ts"
import { postgres } from "../support/drills/Stores.ts"

saidSuite({ name: "on Postgres with three processes", store: postgres, processes: 3, kills: sized(8, 200) })
