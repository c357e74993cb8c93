/** Links entries of the audit, a second after what they are about at the latest; also in a room that is paused, which can be changed. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { steady } from "../background/BackgroundTask.ts"
import { PollInterval } from "../background/PollInterval.ts"
import { AuditChain } from "../store/audit/AuditChain.ts"
import { RefusedSignIns } from "../store/audit/RefusedSignIns.ts"

export const layerTicking = Layer.effectDiscard(
  Effect.gen(function* () {
    const { link, noteRestore } = yield* AuditChain
    const { enter } = yield* RefusedSignIns
    yield* noteRestore
    yield* enter.pipe(
      steady("entries of refused sign-ins"),
      Effect.repeat(Schedule.spaced("1 minute")),
      Effect.forkScoped
    )
    yield* link.pipe(
      steady("linking entries of the audit"),
      Effect.repeat(Schedule.spaced(yield* PollInterval)),
      Effect.forkScoped
    )
  })
)
