/**
 * Executions of flows, and of workflows that are no flows.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Failure } from "../../FlowEvents.ts"
import { type FlowPayload, payloadOf, workflowName } from "../FlowPayload.ts"
import type { Execution, ExecutionPage, ExecutionState } from "../FlowStore.ts"
import { Database } from "./Database.ts"
import { fromJson, type OutcomeColumns, toJson } from "./Rows.ts"

export type Phase = "active" | "waiting" | "halted"
/** `explicit`: somebody asked for it; else something that it waited for has happened. */
export type WakeMode = "explicit" | "automatic"
export type Interrupted = "no" | "safe" | "unsafe"

interface Row {
  readonly id: string
  readonly workflow: string
  readonly flow: string
  readonly version: number | null
  readonly flow_key: string
  readonly generation: number | bigint
  readonly input: string
  readonly resumes: string | null
  readonly parent: string | null
  readonly state: ExecutionState
  readonly phase: Phase
  readonly wakes: number | bigint
  readonly interrupted: Interrupted
  readonly value: string | null
  readonly cause: string | null
  readonly failure: string | null
  readonly started_at: number | bigint
  readonly ended_at: number | bigint | null
}

/** An execution as the engine needs it. */
export interface Stored extends OutcomeColumns {
  readonly id: string
  readonly workflow: string
  /** The payload of the workflow, as JSON. */
  readonly payload: unknown
  readonly parent: string | null
  readonly state: ExecutionState
  readonly phase: Phase
  readonly wakes: number
  readonly interrupted: Interrupted
}

/** An execution of a flow that has just been made, as the engine needs it. */
export const storedNew = (made: Execution): Stored => ({
  id: made.id,
  workflow: workflowName(made),
  payload: payloadOf(made),
  parent: null,
  state: "running",
  phase: "active",
  wakes: 0,
  interrupted: "no",
  value: null,
  cause: null
})

export interface Ended extends OutcomeColumns {
  readonly state: Exclude<ExecutionState, "running">
  readonly failure: Failure | null
}

/** A workflow that is no flow. */
export interface Plain {
  readonly workflow: string
  readonly payload: unknown
}

const payloadOfRow = (row: Row): FlowPayload => ({
  flow: row.flow,
  version: row.version ?? 0,
  key: row.flow_key,
  generation: Number(row.generation),
  input: fromJson(row.input),
  // Written from a `FlowPayload`, below.
  resumes: row.resumes === null ? null : (JSON.parse(row.resumes) as FlowPayload["resumes"])
})

const stored = (row: Row): Stored => ({
  id: row.id,
  workflow: row.workflow,
  payload: row.version === null ? fromJson(row.input) : payloadOfRow(row),
  parent: row.parent,
  state: row.state,
  phase: row.phase,
  wakes: Number(row.wakes),
  interrupted: row.interrupted,
  value: row.value,
  cause: row.cause
})

const execution = (row: Row): Execution => ({
  id: row.id,
  ...payloadOfRow(row),
  state: row.state,
  result: row.state === "completed" ? fromJson(row.value) : null,
  error: row.state === "failed" ? fromJson(row.value) : null,
  // Written from a `Failure`, below.
  failure: row.failure === null ? null : (JSON.parse(row.failure) as Failure),
  startedAt: Number(row.started_at),
  endedAt: row.ended_at === null ? null : Number(row.ended_at)
})

export class Executions extends Context.Service<
  Executions,
  {
    readonly find: (id: string) => Effect.Effect<Execution | null>
    readonly stored: (id: string) => Effect.Effect<Stored | null>
    /** Of a flow and key, that with the highest generation. */
    readonly latest: (flow: string, key: string) => Effect.Effect<Execution | null>
    /** The newest first. */
    readonly list: (page: ExecutionPage) => Effect.Effect<ReadonlyArray<Execution>>
    /** Makes an active execution; null when there is one of this id, or of this flow, key and generation. */
    readonly insert: (id: string, of: FlowPayload | Plain, parent: string | null) => Effect.Effect<Execution | null>
    /** Those of a workflow that are to be run, by id; at most `limit`, after the id. */
    readonly active: (workflow: string, after: string, limit: number) => Effect.Effect<ReadonlyArray<string>>
    /** Something happened to it. Answers its phase then, null when it has ended or is unknown. */
    readonly wake: (id: string, mode: WakeMode) => Effect.Effect<Phase | null>
    /** Asks for its end, and wakes it. Answers its phase then, null when it has ended or is unknown. */
    readonly interrupt: (id: string, how: "safe" | "unsafe") => Effect.Effect<Phase | null>
    /** Lets it wait unless it was woken more than `wakes` times; false then. */
    readonly suspend: (id: string, wakes: number) => Effect.Effect<boolean>
    /** Lets it wait for somebody to resume it. */
    readonly halt: (id: string, cause: string | null) => Effect.Effect<void>
    /** Keeps how it ended. `leftovers`: it may have timers and waits that are to go. */
    readonly end: (id: string, end: Ended, leftovers: boolean) => Effect.Effect<void>
    /** `end`, and wakes its parent; answers the phase of that. */
    readonly endAndWake: (id: string, end: Ended, leftovers: boolean, parent: string) => Effect.Effect<Phase | null>
  }
>()("@signalbox/flows/Executions") {
  static readonly layer = Layer.effect(
    Executions,
    Effect.gen(function* () {
      const { now, persist, sql, transaction } = yield* Database

      const one = (id: string) =>
        persist(Effect.map(sql<Row>`SELECT * FROM flow_execution WHERE id = ${id}`, ([row]) => row ?? null))

      const woken = (id: string, mode: WakeMode) =>
        Effect.map(
          sql<{ readonly phase: Phase }>`
            UPDATE flow_execution SET
              wakes = wakes + 1,
              phase = CASE WHEN phase = 'halted' AND ${mode} = 'automatic' THEN phase ELSE 'active' END
            WHERE id = ${id} AND state = 'running' RETURNING phase`,
          ([row]) => row?.phase ?? null
        )

      const ended = Effect.fnUntraced(function* (id: string, end: Ended, leftovers: boolean) {
        const at = yield* now
        const failure = end.failure === null ? null : JSON.stringify(end.failure)
        yield* sql`
          UPDATE flow_execution SET
            state = ${end.state}, value = ${end.value}, cause = ${end.cause}, failure = ${failure}, ended_at = ${at}
          WHERE id = ${id} AND state = 'running'`
        if (!leftovers) return
        yield* sql`DELETE FROM flow_deferred WHERE execution = ${id} AND result IS NULL`
        yield* sql`DELETE FROM flow_wait WHERE execution = ${id}`
      })

      return Executions.of({
        find: (id) => Effect.map(one(id), (row) => (row === null ? null : execution(row))),
        stored: (id) => Effect.map(one(id), (row) => (row === null ? null : stored(row))),
        latest: (flow, key) =>
          persist(
            Effect.map(
              sql<Row>`
                SELECT * FROM flow_execution WHERE flow = ${flow} AND flow_key = ${key}
                ORDER BY generation DESC LIMIT 1`,
              ([row]) => (row === undefined ? null : execution(row))
            )
          ),
        list: ({ before, flow, limit, state, version }) => {
          const conditions = [
            ...(flow === undefined ? [] : [sql`flow = ${flow}`]),
            ...(version === undefined ? [] : [sql`version = ${version}`]),
            ...(state === undefined ? [] : [sql`state = ${state}`]),
            ...(before === undefined
              ? []
              : [sql`(started_at < ${before.startedAt} OR (started_at = ${before.startedAt} AND id < ${before.id}))`])
          ]
          return persist(
            Effect.map(
              sql<Row>`
                SELECT * FROM flow_execution WHERE ${sql.and(conditions)}
                ORDER BY started_at DESC, id DESC LIMIT ${limit}`,
              (rows) => rows.map(execution)
            )
          )
        },
        insert: Effect.fnUntraced(function* (id, of, parent) {
          const at = yield* now
          const fields =
            "flow" in of
              ? {
                  workflow: workflowName(of),
                  flow: of.flow,
                  version: of.version,
                  flow_key: of.key,
                  generation: of.generation,
                  input: toJson(of.input),
                  resumes: of.resumes === null ? null : JSON.stringify(of.resumes)
                }
              : {
                  workflow: of.workflow,
                  flow: of.workflow,
                  version: null,
                  flow_key: id,
                  generation: 1,
                  input: toJson(of.payload),
                  resumes: null
                }
          const begun = { state: "running", phase: "active", wakes: 0, interrupted: "no", started_at: at } as const
          const row = { id, ...fields, parent, ...begun }
          const made = yield* persist(
            sql`INSERT INTO flow_execution ${sql.insert(row)} ON CONFLICT DO NOTHING RETURNING id`
          )
          return made.length === 0
            ? null
            : execution({ ...row, value: null, cause: null, failure: null, ended_at: null })
        }),
        active: (workflow, after, limit) =>
          persist(
            Effect.map(
              sql<{ readonly id: string }>`
                SELECT id FROM flow_execution
                WHERE workflow = ${workflow} AND id > ${after} AND state = 'running' AND phase = 'active'
                ORDER BY id LIMIT ${limit}`,
              (rows) => rows.map(({ id }) => id)
            )
          ),
        wake: (id, mode) => persist(woken(id, mode)),
        interrupt: (id, how) =>
          persist(
            Effect.map(
              sql<{ readonly phase: Phase }>`
                UPDATE flow_execution SET
                  wakes = wakes + 1,
                  phase = 'active',
                  interrupted = CASE WHEN interrupted = 'unsafe' THEN interrupted ELSE ${how} END
                WHERE id = ${id} AND state = 'running' RETURNING phase`,
              ([row]) => row?.phase ?? null
            )
          ),
        suspend: (id, wakes) =>
          persist(
            Effect.map(
              sql`
                UPDATE flow_execution SET phase = 'waiting'
                WHERE id = ${id} AND state = 'running' AND wakes = ${wakes} RETURNING id`,
              (rows) => rows.length > 0
            )
          ),
        halt: (id, cause) =>
          persist(
            Effect.asVoid(
              sql`UPDATE flow_execution SET phase = 'halted', cause = ${cause} WHERE id = ${id} AND state = 'running'`
            )
          ),
        end: (id, end, leftovers) => (leftovers ? transaction(ended(id, end, true)) : persist(ended(id, end, false))),
        endAndWake: (id, end, leftovers, parent) =>
          transaction(Effect.andThen(ended(id, end, leftovers), woken(parent, "automatic")))
      })
    })
  )
}
