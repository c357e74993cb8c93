/**
 * Schedules: up to when each has been carried out.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "./Database.ts"

export class Schedules extends Context.Service<
  Schedules,
  {
    /** Of a schedule, which begins `now` when it is new. */
    readonly to: (name: string, now: number) => Effect.Effect<number>
    /** False when it is no longer at `from`. */
    readonly advance: (name: string, from: number, to: number) => Effect.Effect<boolean>
  }
>()("@signalbox/flows/Schedules") {
  static readonly layer = Layer.effect(
    Schedules,
    Effect.gen(function* () {
      const { persist, sql } = yield* Database
      return Schedules.of({
        to: (name, now) =>
          persist(
            Effect.gen(function* () {
              yield* sql`
                INSERT INTO flow_schedule ${sql.insert({ name, scheduled_to: now })} ON CONFLICT (name) DO NOTHING`
              const [row] = yield* sql<{ readonly scheduled_to: number | bigint }>`
                SELECT scheduled_to FROM flow_schedule WHERE name = ${name}`
              return Number(row?.scheduled_to ?? now)
            })
          ),
        advance: (name, from, to) =>
          persist(
            Effect.map(
              sql`
                UPDATE flow_schedule SET scheduled_to = ${to} WHERE name = ${name} AND scheduled_to = ${from}
                RETURNING name`,
              (rows) => rows.length > 0
            )
          )
      })
    })
  )
}
