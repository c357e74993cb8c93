/**
 * What executions wait for: deferreds, and timers, which are deferreds that are done by a time.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "./Database.ts"
import type { Phase } from "./Executions.ts"
import { type JsonExit, toWhole, wholeColumn } from "./Rows.ts"

export interface Timer {
  readonly execution: string
  readonly name: string
}

export interface Loaded {
  readonly done: Map<string, JsonExit>
  /** The names of the timers that are set. */
  readonly timers: Set<string>
}

export class Deferreds extends Context.Service<
  Deferreds,
  {
    readonly load: (execution: string) => Effect.Effect<Loaded>
    /**
     * Keeps the result of a deferred, unless it has one, and wakes its execution, whether that is there already or not.
     * Answers whether this one was kept, and the phase of the execution, null when that is not running.
     */
    readonly finish: (
      execution: string,
      name: string,
      exit: JsonExit
    ) => Effect.Effect<{ readonly kept: boolean; readonly phase: Phase | null }>
    /** Sets a timer, unless there is one or it is done. */
    readonly schedule: (execution: string, name: string, due: number) => Effect.Effect<void>
    /** Timers that are due, the oldest first. */
    readonly due: (now: number, limit: number) => Effect.Effect<ReadonlyArray<Timer>>
    /** The timers of an execution that are set, by their names. */
    readonly set: (execution: string) => Effect.Effect<ReadonlyArray<{ readonly name: string; readonly due: number }>>
    /** When the next timer is due, null when none is set. */
    readonly next: Effect.Effect<number | null>
  }
>()("@signalbox/flows/Deferreds") {
  static readonly layer = Layer.effect(
    Deferreds,
    Effect.gen(function* () {
      const { persist, sql, transaction } = yield* Database
      return Deferreds.of({
        load: (execution) =>
          persist(
            Effect.map(
              sql<{ readonly name: string; readonly result: string | null }>`
                SELECT name, result FROM flow_deferred WHERE execution = ${execution}`,
              (rows) => {
                const loaded: Loaded = { done: new Map(), timers: new Set() }
                for (const { name, result } of rows) {
                  if (result === null) loaded.timers.add(name)
                  else loaded.done.set(name, toWhole(result))
                }
                return loaded
              }
            )
          ),
        finish: (execution, name, exit) =>
          transaction(
            Effect.gen(function* () {
              const kept = yield* sql`
                INSERT INTO flow_deferred (execution, name, result) VALUES (${execution}, ${name}, ${wholeColumn(exit)})
                ON CONFLICT (execution, name) DO UPDATE SET result = excluded.result
                WHERE flow_deferred.result IS NULL RETURNING name`
              if (kept.length === 0) {
                const [there] = yield* sql<{ readonly phase: Phase }>`
                  SELECT phase FROM flow_execution WHERE id = ${execution} AND state = 'running'`
                return { kept: false, phase: there?.phase ?? null }
              }
              const [row] = yield* sql<{ readonly phase: Phase }>`
                UPDATE flow_execution SET
                  wakes = wakes + 1,
                  phase = CASE WHEN phase = 'waiting' THEN 'active' ELSE phase END
                WHERE id = ${execution} AND state = 'running' RETURNING phase`
              return { kept: true, phase: row?.phase ?? null }
            })
          ),
        schedule: (execution, name, due) =>
          persist(
            Effect.asVoid(
              sql`
                INSERT INTO flow_deferred (execution, name, due) VALUES (${execution}, ${name}, ${due})
                ON CONFLICT (execution, name) DO NOTHING`
            )
          ),
        due: (now, limit) =>
          persist(
            sql<Timer>`
              SELECT execution, name FROM flow_deferred
              WHERE result IS NULL AND due IS NOT NULL AND due <= ${now} ORDER BY due LIMIT ${limit}`
          ),
        set: (execution) =>
          persist(
            Effect.map(
              sql<{ readonly name: string; readonly due: number | bigint }>`
                SELECT name, due FROM flow_deferred
                WHERE execution = ${execution} AND result IS NULL AND due IS NOT NULL ORDER BY due`,
              (rows) => rows.map(({ due, name }) => ({ name, due: Number(due) }))
            )
          ),
        next: persist(
          Effect.map(
            sql<{ readonly due: number | bigint }>`
              SELECT due FROM flow_deferred WHERE result IS NULL AND due IS NOT NULL ORDER BY due LIMIT 1`,
            ([row]) => (row === undefined ? null : Number(row.due))
          )
        )
      })
    })
  )
}
