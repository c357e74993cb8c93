import { sized } from "@signalbox/testkit/Soak"
import { saidSuite } from "../support/drills/SaidSuite.ts"
import { sqlite } from "../support/drills/Stores.ts"

saidSuite({ name: "on SQLite", store: sqlite, processes: 1, kills: sized(8, 200) })
