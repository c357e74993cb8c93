import { sized } from "@signalbox/testkit/Soak"
import { killsSuite } from "../support/drills/KillsSuite.ts"
import { postgres } from "../support/drills/Stores.ts"

killsSuite({ name: "on Postgres with one process", store: postgres, processes: 1, kills: sized(6, 300) })
killsSuite({ name: "on Postgres with three processes", store: postgres, processes: 3, kills: sized(12, 300) })
killsSuite({
  name: "on Postgres with three processes, behind limits",
  store: postgres,
  processes: 3,
  kills: sized(3, 100),
  limited: true
})
