/**
 * One process with exclusive storage: it owns all executions while it lives.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { hostname } from "node:os"
import { NewId } from "../model/Ids.ts"
import { newestProtocol } from "../model/Execution.ts"
import { Journal } from "../journal/Journal.ts"
import { Ownership } from "./Ownership.ts"

export const layer: Layer.Layer<Ownership, never, Journal> = Layer.effect(
  Ownership,
  Effect.gen(function* () {
    const journal = yield* Journal
    const newId = yield* NewId
    const self = newId()
    return Ownership.of({
      self: () => self,
      isShared: false,
      longestPauseMillis: Infinity,
      isNear: () => true,
      announce: (flows) =>
        Effect.asVoid(
          journal.renew({ id: self, host: hostname(), flows, protocol: newestProtocol, leaseMillis: null })
        ),
      claim: (flows, limit) => Effect.flatMap(journal.now, (now) => journal.claim(self, flows, now, limit)),
      nextDue: (flows) => journal.nextDue(flows),
      // Only a process of an earlier version, which has ended, can have left any.
      keep: ({ settle }) => Effect.andThen(settle, Effect.never),
      within: undefined,
      leave: journal.leave(self)
    })
  })
)
