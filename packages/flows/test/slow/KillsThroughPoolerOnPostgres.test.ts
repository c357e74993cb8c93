import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import { killsSuite } from "../support/drills/KillsSuite.ts"
import { postgres } from "../support/drills/Stores.ts"
import { suitePooler, throughPooler } from "../support/Pooler.ts"

throughPooler("kills", () => {
  const pooler = suitePooler()
  killsSuite({
    name: "on Postgres with three processes",
    store: Effect.map(Effect.all([pooler, postgres]), ([pooler, { schema, url }]) => ({
      url: pooler.url,
      directUrl: url,
      schema
    })),
    processes: 3,
    kills: sized(12, 300)
  })
})
