/** Whether the room acts. A restored one is paused until somebody resumes it, or two rooms would do the same work. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { nullable, queryOne, Row, text } from "@signalbox/sql/Table"
import { Database } from "../database/Database.ts"
import { Nodes } from "./Nodes.ts"
import { Notifier } from "../database/Notifier.ts"

/** Tables whose rows backups leave out. */
export const leftOut = ["room_running", "blob_hold", "node"] as const

export interface Resumed {
  /** ISO 8601, UTC. Null: it has never been paused. */
  readonly at: string | null
  /** The id of the key. */
  readonly by: string | null
}

export class RoomState extends Context.Service<
  RoomState,
  {
    /** Whether this node may give out or send anything. Every loop and every lease asks. */
    readonly running: Effect.Effect<boolean>
    /** Null while the room is paused. */
    readonly resumed: Effect.Effect<Resumed | null>
    /** Ends the pause; does nothing in a room that is running. */
    readonly resume: (by: string) => Effect.Effect<void>
    /** Runs the effect unless the room is paused. */
    readonly whenRunning: (effect: Effect.Effect<void>) => Effect.Effect<void>
  }
>()("@signalbox/control-room/store/RoomState") {
  static readonly layer = Layer.effect(
    RoomState,
    Effect.gen(function* () {
      const { now, nullWhenTaken, sql } = yield* Database
      const { notify } = yield* Notifier
      const { outdated } = yield* Nodes
      const resumed = queryOne(
        Row({ resumed_at: nullable(text), resumed_by: nullable(text) }),
        sql`SELECT resumed_at, resumed_by FROM room_running WHERE id = 1`,
        ({ resumed_at: at, resumed_by: by }) => ({ at, by })
      )
      // Only a restore pauses a room, and it wants an empty database: what runs is not read again.
      let known = false
      const running = Effect.suspend(() =>
        known || outdated() !== null
          ? Effect.succeed(outdated() === null)
          : Effect.map(resumed, (row) => {
              if (row === null) return false
              known = true
              return true
            })
      )
      return RoomState.of({
        running,
        resumed,
        resume: Effect.fnUntraced(function* (by) {
          const row = { id: 1, resumed_at: yield* now, resumed_by: by }
          const inserted = yield* nullWhenTaken(Effect.as(sql`INSERT INTO room_running ${sql.insert(row)}`, true))
          if (inserted !== null) yield* notify("work", "resumed")
        }),
        whenRunning: (effect) => Effect.flatMap(running, (runs) => (runs ? effect : Effect.void))
      })
    })
  )
}

/** Pauses the room of a copy, before anything is served from it. */
export const pause = Effect.gen(function* () {
  const { sql } = yield* Database
  for (const table of leftOut) yield* sql`DELETE FROM ${sql(table)}`
})
