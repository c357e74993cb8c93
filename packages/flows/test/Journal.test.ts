import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Journal } from "../src/internal/Journal.ts"
import * as Memory from "../src/internal/journal/Memory.ts"
import { journalSuite } from "./support/JournalSuite.ts"

journalSuite({
  name: "in memory",
  make: Effect.map(Layer.build(Layer.fresh(Memory.layer)), (context) => ({
    open: Effect.succeed(Context.get(context, Journal))
  }))
})
