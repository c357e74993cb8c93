import * as Effect from "effect/Effect"
import * as Sealed from "../../src/internal/journal/Sealed.ts"
import { postgresOptions } from "../support/Engines.ts"
import { journalSuite } from "../support/JournalSuite.ts"
import { open } from "../support/journal/OnPostgres.ts"
import { ring } from "../support/Keys.ts"
import { suiteSchema } from "../support/SuiteSchema.ts"

journalSuite({
  name: "on Postgres, encrypted, each process with another first key",
  make: Effect.map(suiteSchema(), (schema) => {
    let processes = 0
    return {
      open: Effect.map(open(postgresOptions(schema)), ({ journal }) =>
        Sealed.make(journal, processes++ % 2 === 0 ? ring("a", "b") : ring("b", "a"))
      )
    }
  })
})
