/**
 * What executions wait for outside, such as a run.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Wait } from "../FlowStore.ts"
import { Database } from "./Database.ts"

export class Waits extends Context.Service<
  Waits,
  {
    /** Keeps a wait; keeping it again changes nothing. */
    readonly insert: (wait: Wait) => Effect.Effect<void>
    /** Of a kind, and of a subject when it is given; those of executions that run. */
    readonly list: (kind: string, subject?: string) => Effect.Effect<ReadonlyArray<Wait>>
    /** Of an execution. */
    readonly of: (execution: string) => Effect.Effect<ReadonlyArray<Wait>>
    readonly remove: (execution: string, path: string) => Effect.Effect<void>
  }
>()("@signalbox/flows/Waits") {
  static readonly layer = Layer.effect(
    Waits,
    Effect.gen(function* () {
      const { persist, sql } = yield* Database
      return Waits.of({
        insert: ({ execution, kind, path, subject }) =>
          persist(
            Effect.asVoid(
              sql`
                INSERT INTO flow_wait ${sql.insert({ execution, path, kind, subject })}
                ON CONFLICT (execution, path) DO NOTHING`
            )
          ),
        list: (kind, subject) => {
          const of = subject === undefined ? [] : [sql`wait.subject = ${subject}`]
          return persist(
            sql<Wait>`
              SELECT wait.execution, wait.path, wait.kind, wait.subject FROM flow_wait AS wait
              JOIN flow_execution ON flow_execution.id = wait.execution
              WHERE ${sql.and([sql`wait.kind = ${kind}`, sql`flow_execution.state = 'running'`, ...of])}
              ORDER BY wait.execution, wait.path`
          )
        },
        of: (execution) =>
          persist(
            sql<Wait>`
              SELECT execution, path, kind, subject FROM flow_wait WHERE execution = ${execution} ORDER BY path`
          ),
        remove: (execution, path) =>
          persist(Effect.asVoid(sql`DELETE FROM flow_wait WHERE execution = ${execution} AND path = ${path}`))
      })
    })
  )
}
