/** Steps that keep the event loop of their process, in their long form. */
import { it } from "@effect/vitest"
import { sized } from "@signalbox/testkit/Soak"
import * as Effect from "effect/Effect"
import * as Busy from "../support/drills/BusySuite.ts"

it.live(
  `a step that computes for ${sized(30, 60)} seconds in one of three processes ends once`,
  () => Effect.scoped(Busy.endsOnce(sized(30_000, 60_000))),
  600_000
)

it.live(
  "a step that computes without end is halted within ten minutes",
  () => Effect.scoped(Busy.isHalted(sized(12_000, 120_000))),
  600_000
)
