import { sized } from "@signalbox/testkit/Soak"
import { killsSuite } from "../support/drills/KillsSuite.ts"
import { sqlite } from "../support/drills/Stores.ts"

killsSuite({ name: "on SQLite", store: sqlite, processes: 1, kills: sized(3, 300) })
killsSuite({ name: "on SQLite, behind limits", store: sqlite, processes: 1, kills: sized(1, 100), limited: true })
