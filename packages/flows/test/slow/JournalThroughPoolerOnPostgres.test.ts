import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { order } from "../support/journal/Bench.ts"
import { held } from "../support/journal/Held.ts"
import { listen } from "../support/journal/Notifications.ts"
import { open } from "../support/journal/OnPostgres.ts"
import { journalSuite } from "../support/JournalSuite.ts"
import { until } from "../support/Polling.ts"
import { pooledOptions, suitePooler, throughPooler } from "../support/Pooler.ts"
import { suiteSchema } from "../support/SuiteSchema.ts"

throughPooler("the journal on Postgres", () => {
  const pooler = suitePooler()
  const process = Effect.map(Effect.all([pooler, suiteSchema()]), ([pooler, schema]) =>
    open(pooledOptions(pooler, schema))
  )

  journalSuite({
    name: "on Postgres through a pooler",
    make: Effect.map(process, (open) => ({ open: Effect.map(open, ({ journal }) => journal) }))
  })

  const twoProcesses = Effect.flatMap(process, (open) =>
    Effect.map(Effect.all([open, open]), ([one, two]) => ({ one, two }))
  )
  held(twoProcesses)

  describe("notifications", () => {
    it.live("a process is notified of changes by another one", () =>
      Effect.gen(function* () {
        const { one, two } = yield* twoProcesses
        const heard = yield* listen(one.journal)
        yield* two.journal.create(order("b"))
        yield* until(Effect.sync(() => heard.length > 0))
        assert.deepStrictEqual(heard, [[null, "id-b", false]])
      }).pipe(Effect.scoped)
    )
  })
})
