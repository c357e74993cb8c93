/**
 * Changes of who may do what. Nodes notify each other of them; since notifications may be lost, each change also raises a counter,
 * which every node reads once a second.
 */
import { integer, queryOne, Row } from "@signalbox/sql/Table"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { steady } from "../../background/BackgroundTask.ts"
import { PollInterval } from "../../background/PollInterval.ts"
import { Database } from "../database/Database.ts"
import { Notifier, type Topic } from "../database/Notifier.ts"

/** A key was revoked or handed over, by its id; sessions of an account or key ended, by its id; or anything else that permissions follow from. */
const topics = ["key revoked", "session closed", "permissions changed"] as const satisfies ReadonlyArray<Topic>

export class AuthorizationChanges extends Context.Service<
  AuthorizationChanges,
  {
    /**
     * Tells every node when the current transaction commits. The counter is locked until then, so this comes last where it can.
     */
    readonly tell: (topic: (typeof topics)[number], about: string) => Effect.Effect<void>
  }
>()("@signalbox/control-room/store/AuthorizationChanges") {
  static readonly layer = Layer.effect(
    AuthorizationChanges,
    Effect.gen(function* () {
      const { sql, transaction } = yield* Database
      const { notify, shared, subscribe, suspect } = yield* Notifier
      const revisionIn = (rows: Effect.Effect<ReadonlyArray<object>>) =>
        Effect.map(queryOne(Row({ revision: integer }), rows), (row) => row?.revision ?? 0)
      const read = revisionIn(sql`SELECT revision FROM authorization_revision WHERE id = 1`)
      /** Of the last change that this node has been told of, without a gap. */
      let known = yield* read

      yield* subscribe("authorization", (text) =>
        Effect.sync(() => {
          if (Number(text) === known + 1) known++
        })
      )
      const poll = Effect.gen(function* () {
        const revision = yield* read
        if (revision <= known) return
        known = revision
        yield* suspect(topics)
      })
      if (shared) {
        yield* poll.pipe(
          steady("reading changes of permissions"),
          Effect.repeat(Schedule.spaced(yield* PollInterval)),
          Effect.forkScoped
        )
      }
      return AuthorizationChanges.of({
        tell: Effect.fnUntraced(function* (topic, about) {
          const revision = yield* revisionIn(
            sql`UPDATE authorization_revision SET revision = revision + 1 WHERE id = 1 RETURNING revision`
          )
          yield* notify("authorization", String(revision))
          yield* notify(topic, about)
        }, transaction)
      })
    })
  )
}
