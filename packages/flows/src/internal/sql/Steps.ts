/**
 * Steps: the ended attempts.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Failure } from "../../FlowEvents.ts"
import type { StepInfo, StepKind } from "../FlowPayload.ts"
import type { RecordedStep } from "../FlowStore.ts"
import { Database } from "./Database.ts"
import { fromJson, type JsonExit, type OutcomeColumns, toExit, toJson } from "./Rows.ts"

/** The ended attempts of an execution, in the order of their end; and how they ended, by `stepKey`. */
export interface Recorded {
  readonly steps: ReadonlyArray<RecordedStep>
  readonly exits: Map<string, JsonExit>
}

interface Row extends OutcomeColumns {
  readonly path: string
  readonly attempt: number | bigint
  readonly name: string
  readonly kind: StepKind
  readonly input: string | null
  readonly state: RecordedStep["state"]
  readonly failure: string | null
  readonly started_at: number | bigint
  readonly ended_at: number | bigint
}

/** An attempt as it is kept. */
export interface NewStep extends StepInfo, OutcomeColumns {
  readonly path: string
  readonly attempt: number
  readonly state: RecordedStep["state"]
  readonly failure: Failure | null
  readonly startedAt: number
  readonly endedAt: number
}

const step = (row: Row): RecordedStep => ({
  path: row.path,
  attempt: Number(row.attempt),
  name: row.name,
  kind: row.kind,
  input: fromJson(row.input),
  state: row.state,
  value: fromJson(row.value),
  // Written from a `Failure`, below.
  failure: row.failure === null ? null : (JSON.parse(row.failure) as Failure),
  startedAt: Number(row.started_at),
  endedAt: Number(row.ended_at)
})

export class Steps extends Context.Service<
  Steps,
  {
    /** Of an execution, in the order of their end. */
    readonly list: (execution: string) => Effect.Effect<ReadonlyArray<RecordedStep>>
    readonly recorded: (execution: string) => Effect.Effect<Recorded>
    /** Keeps an attempt; keeping it again changes nothing. */
    readonly insert: (execution: string, step: NewStep) => Effect.Effect<void>
  }
>()("@signalbox/flows/Steps") {
  static readonly layer = Layer.effect(
    Steps,
    Effect.gen(function* () {
      const { persist, sql } = yield* Database
      const rowsOf = (execution: string) =>
        persist(sql<Row>`SELECT * FROM flow_step WHERE execution = ${execution} ORDER BY seq`)
      return Steps.of({
        list: (execution) => Effect.map(rowsOf(execution), (rows) => rows.map(step)),
        recorded: (execution) =>
          Effect.map(rowsOf(execution), (rows) => ({
            steps: rows.map(step),
            exits: new Map(
              rows.map((row) => [stepKey(row.path, Number(row.attempt)), toExit(row.state === "succeeded", row)])
            )
          })),
        insert: (execution, { attempt, cause, endedAt, failure, input, kind, name, path, startedAt, state, value }) => {
          const row = {
            execution,
            path,
            attempt,
            name,
            kind,
            input: input === null ? null : toJson(input),
            state,
            value,
            cause,
            failure: failure === null ? null : JSON.stringify(failure),
            started_at: startedAt,
            ended_at: endedAt
          }
          return persist(
            Effect.asVoid(
              sql`INSERT INTO flow_step ${sql.insert(row)} ON CONFLICT (execution, path, attempt) DO NOTHING`
            )
          )
        }
      })
    })
  )
}

/** Tells the attempts of an execution apart. */
export const stepKey = (path: string, attempt: number): string => `${path}/${attempt}`
